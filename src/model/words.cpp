// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/words.hpp"

#include "model/tables.hpp"

namespace hmn {
namespace {

#define HMN_WORD(name, number, word, ...) {number, word},
#define HMN_WORDS(list, rows) constexpr NumberedWord list[] = {rows(HMN_WORD)};
HMN_WORDS(engines, HMN_ENGINES)
HMN_WORDS(sensors, HMN_SENSORS)
HMN_WORDS(power_readings, HMN_POWER_READINGS)
HMN_WORDS(power_limits, HMN_POWER_LIMITS)
HMN_WORDS(clocks, HMN_CLOCKS)
HMN_WORDS(rails, HMN_RAILS)
HMN_WORDS(eras, HMN_ERAS)
HMN_WORDS(remappings, HMN_REMAPPINGS)
HMN_WORDS(throttles, HMN_THROTTLES)
#undef HMN_WORDS
constexpr WordList numbered;
constexpr WordList none;

#define HMN_METRIC_ROW(name, number, unit, kind, instances)                               \
  {MetricId::name, #name, unit, NumberKind::kind, std::string_view(#instances) != "none", \
   instances},
constexpr MetricWords metrics[] = {HMN_METRICS(HMN_METRIC_ROW)};
#undef HMN_METRIC_ROW

}  // namespace

namespace words {
#define HMN_WORDS(list, rows)                                    \
  WordList list() noexcept {                                     \
    static constexpr NumberedWord in_order[] = {rows(HMN_WORD)}; \
    return in_order;                                             \
  }
HMN_WORDS(statuses, HMN_STATUSES)
HMN_WORDS(sources, HMN_SOURCES)
HMN_WORDS(native_domains, HMN_NATIVE_DOMAINS)
HMN_WORDS(notes, HMN_NOTES)
HMN_WORDS(subjects, HMN_SUBJECTS)
HMN_WORDS(reasons, HMN_REASONS)
HMN_WORDS(accountings, HMN_ACCOUNTINGS)
HMN_WORDS(device_classes, HMN_DEVICE_CLASSES)
HMN_WORDS(device_forms, HMN_DEVICE_FORMS)
HMN_WORDS(memory_kinds, HMN_MEMORY_KINDS)
HMN_WORDS(states, HMN_STATES)
HMN_WORDS(vendors, HMN_VENDORS)
HMN_WORDS(pool_kinds, HMN_POOL_KINDS)
HMN_WORDS(pressures, HMN_PRESSURES)
HMN_WORDS(usage_kinds, HMN_USAGE_KINDS)
HMN_WORDS(name_states, HMN_NAME_STATES)
#undef HMN_WORDS
#undef HMN_WORD
}  // namespace words

const char* word_of(WordList list, std::int64_t number) noexcept {
  for (const NumberedWord& w : list) {
    if (w.number == number) return w.word;
  }
  return nullptr;
}

const char* word_or_unknown(WordList list, std::int64_t number) noexcept {
  const char* const word = word_of(list, number);
  return word != nullptr ? word : "unknown";
}

std::optional<std::int32_t> number_of(WordList list, std::string_view word) noexcept {
  if (word.empty()) return std::nullopt;
  for (const NumberedWord& w : list) {
    if (w.word == word) return w.number;
  }
  return std::nullopt;
}

const char* status_name(std::int32_t status) noexcept {
#define HMN_STATUS_NAME(name, number, word) #number,
  static constexpr const char* by_number[] = {HMN_STATUSES(HMN_STATUS_NAME)};
#undef HMN_STATUS_NAME
  const auto position = static_cast<std::size_t>(-static_cast<std::int64_t>(status));
  return position < std::size(by_number) ? by_number[position] : "HMN_E_?";
}

const char* vendor_name(std::uint32_t vendor) noexcept {
#define HMN_VENDOR_NAME(name, number, word, display) {number, display},
  static constexpr NumberedWord by_number[] = {HMN_VENDORS(HMN_VENDOR_NAME)};
#undef HMN_VENDOR_NAME
  const char* const name = word_of(by_number, vendor);
  return name != nullptr ? name : "";
}

std::span<const NamedField> named_fields(std::uint32_t subject_bit) noexcept {
#define HMN_NAMED(member, c_member, bit, type, unit, words) {bit, words},
  static constexpr NamedField devices[] = {HMN_DEVICE_FIELDS(HMN_NAMED)};
  static constexpr NamedField pools[] = {HMN_POOL_FIELDS(HMN_NAMED)};
  static constexpr NamedField telemetry[] = {HMN_TELEMETRY_FIELDS(HMN_NAMED)};
#undef HMN_NAMED
  switch (subject_bit) {
    case HMN_COLLECT_DEVICES:
      return devices;
    case HMN_COLLECT_POOLS:
      return pools;
    case HMN_COLLECT_TELEMETRY:
      return telemetry;
    default:
      return {};
  }
}

const MetricWords* words_of_metric(std::uint32_t id) noexcept {
  for (const MetricWords& w : metrics) {
    if (static_cast<std::uint32_t>(w.id) == id) return &w;
  }
  return nullptr;
}

const MetricWords* words_of_metric(std::string_view name) noexcept {
  for (const MetricWords& w : metrics) {
    if (w.name == name) return &w;
  }
  return nullptr;
}

const MetricWords* next_metric(std::uint32_t id) noexcept {
  for (const MetricWords& w : metrics) {
    if (static_cast<std::uint32_t>(w.id) > id) return &w;
  }
  return nullptr;
}

const char* instance_name(std::uint32_t metric, std::uint32_t instance) noexcept {
  const MetricWords* const w = words_of_metric(metric);
  const char* const word = w != nullptr ? word_of(w->instances, instance) : nullptr;
  return word != nullptr ? word : "";
}

}  // namespace hmn
