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
constexpr MetricInfo metrics[] = {HMN_METRICS(HMN_METRIC_ROW)};
#undef HMN_METRIC_ROW

}  // namespace

namespace words {
#define HMN_WORDS(list, rows)                                 \
  WordList list() noexcept {                                  \
    static constexpr NumberedWord table[] = {rows(HMN_WORD)}; \
    return table;                                             \
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

const char* lookup_word(WordList list, std::int64_t number) noexcept {
  for (const NumberedWord& entry : list) {
    if (entry.number == number) return entry.word;
  }
  return nullptr;
}

const char* word_or_unknown(WordList list, std::int64_t number) noexcept {
  const char* const word = lookup_word(list, number);
  return word != nullptr ? word : "unknown";
}

std::optional<std::int32_t> lookup_number(WordList list, std::string_view word) noexcept {
  if (word.empty()) return std::nullopt;
  for (const NumberedWord& entry : list) {
    if (entry.word == word) return entry.number;
  }
  return std::nullopt;
}

const char* status_name(std::int32_t status) noexcept {
#define HMN_STATUS_NAME(name, number, word) #number,
  static constexpr const char* status_names[] = {HMN_STATUSES(HMN_STATUS_NAME)};
#undef HMN_STATUS_NAME
  const auto index = static_cast<std::size_t>(-static_cast<std::int64_t>(status));
  return index < std::size(status_names) ? status_names[index] : "HMN_E_?";
}

const char* vendor_name(std::uint32_t vendor) noexcept {
#define HMN_VENDOR_NAME(name, number, word, display) {number, display},
  static constexpr NumberedWord vendor_names[] = {HMN_VENDORS(HMN_VENDOR_NAME)};
#undef HMN_VENDOR_NAME
  const char* const name = lookup_word(vendor_names, vendor);
  return name != nullptr ? name : "";
}

std::span<const FieldLabel> field_labels(std::uint32_t subject_bit) noexcept {
#define HMN_NAMED(member, c_member, bit, type, unit, words) {bit, words},
  static constexpr FieldLabel devices[] = {HMN_DEVICE_FIELDS(HMN_NAMED)};
  static constexpr FieldLabel pools[] = {HMN_POOL_FIELDS(HMN_NAMED)};
  static constexpr FieldLabel telemetry[] = {HMN_TELEMETRY_FIELDS(HMN_NAMED)};
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

const MetricInfo* find_metric_info(std::uint32_t id) noexcept {
  for (const MetricInfo& info : metrics) {
    if (static_cast<std::uint32_t>(info.id) == id) return &info;
  }
  return nullptr;
}

const MetricInfo* find_metric_info(std::string_view name) noexcept {
  for (const MetricInfo& info : metrics) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const MetricInfo* next_metric(std::uint32_t id) noexcept {
  for (const MetricInfo& info : metrics) {
    if (static_cast<std::uint32_t>(info.id) > id) return &info;
  }
  return nullptr;
}

const char* instance_name(std::uint32_t metric, std::uint32_t instance) noexcept {
  const MetricInfo* const info = find_metric_info(metric);
  const char* const word = info != nullptr ? lookup_word(info->instances, instance) : nullptr;
  return word != nullptr ? word : "";
}

}  // namespace hmn
