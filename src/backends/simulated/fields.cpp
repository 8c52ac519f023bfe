// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/fields.hpp"

#include <cmath>
#include <limits>

namespace hmn::simulated {
namespace {

struct Range {
  double low;
  double high;
};

Range range_of(Unit u) noexcept {
  constexpr double largest = 1e15;
  switch (u) {
    case Unit::percent:
      return {0, 100};
    case Unit::celsius:
      return {-273, 1e4};
    default:
      return {0, largest};
  }
}

std::string_view key_of(const DescribedFields& of, const Field& f) noexcept {
  constexpr std::string_view suffix = "_bytes";
  const std::string_view key = f.key;
  return of.has_short_keys && f.unit == Unit::bytes && key.ends_with(suffix)
             ? key.substr(0, key.size() - suffix.size())
             : key;
}

std::span<const Word> words_of(Unit u) noexcept {
  switch (u) {
    case Unit::throttles:
      return throttle_words;
    case Unit::usage_kinds:
      return usage_kind_words;
    case Unit::pressure:
      return pressure_words;
    default:
      return {};
  }
}

std::optional<std::uint64_t> read_number(ObjectReader& o, const DescribedFields& of,
                                         const Field& f) {
  const std::string_view key = key_of(of, f);
  const std::span<const Word> words = words_of(f.unit);
  if (is_set_of_bits(f.unit)) return o.any_words(key, words);
  if (!words.empty()) return o.one_word(key, words);
  if (f.type == FieldType::u32) return o.whole32(key);
  if (of.has_short_keys && f.unit == Unit::bytes) return o.bytes(key);
  return o.whole(key, 0, std::numeric_limits<std::uint64_t>::max());
}

template <class Use>
void each(const DescribedFields& of, Use use) {
  for (const Field& f : of.fields) {
    if ((f.bit & of.bits) != 0) use(f);
  }
}

constexpr FieldSet all_bits = ~FieldSet{0};
// These are stored under other keys; a row's window is stored with its load.
constexpr std::uint32_t not_of_usage = usage_field::uid | usage_field::start_unix_ns |
                                       usage_field::instance | usage_field::busy_percent;

}  // namespace

DescribedFields described_pool() noexcept {
  return {fields_of<Pool>(), ~pool_field::unattributed, true};
}

DescribedFields described_telemetry() noexcept {
  return {fields_of<Telemetry>(), all_bits, false};
}

DescribedFields described_usage() noexcept {
  return {fields_of<Usage>(), ~not_of_usage, true};
}

DescribedFields described_process_memory() noexcept {
  return {fields_of<ProcessMemory>(), all_bits, true};
}

DescribedFields described_system_memory() noexcept {
  return {fields_of<SystemMemory>(), ~system_memory_field::usable, true};
}

void read_fields(ObjectReader& o, const DescribedFields& of, void* record) {
  each(of, [&](const Field& f) {
    if (f.type == FieldType::real) {
      const Range fits = range_of(f.unit);
      if (const auto value = o.real(key_of(of, f), fits.low, fits.high)) f.set(record, *value);
    } else if (const auto value = read_number(o, of, f)) {
      f.set(record, *value);
    }
  });
}

void write_word(json::Writer& to, std::string_view key, std::span<const Word> words,
                std::uint32_t value) {
  for (const Word& w : words) {
    if (w.value == value) return to.word_member(key, w.name);
  }
}

void write_words(json::Writer& to, std::string_view key, std::span<const Word> words,
                 FieldSet bits) {
  if (bits == 0) return;
  to.key(key);
  to.open('[');
  for (const Word& w : words) {
    if ((bits & w.value) != 0) to.word(w.name);
  }
  to.close(']');
}

void write_fields(json::Writer& to, const DescribedFields& of, const void* record) {
  each(of, [&](const Field& f) {
    const RecordValue value = f.get(record);
    if (std::holds_alternative<std::monostate>(value)) return;
    const std::string_view key = key_of(of, f);
    const std::span<const Word> words = words_of(f.unit);
    const std::uint64_t number = number_in(f, record);
    if (const double* const real = std::get_if<double>(&value)) {
      if (std::isfinite(*real)) to.member(key, std::optional(*real));
    } else if (is_set_of_bits(f.unit)) {
      write_words(to, key, words, static_cast<std::uint32_t>(number));
    } else if (!words.empty()) {
      write_word(to, key, words, static_cast<std::uint32_t>(number));
    } else {
      to.member(key, number);
    }
  });
}

std::vector<Word> words_of(const DescribedFields& of) {
  std::vector<Word> all;
  each(of, [&](const Field& f) { all.push_back({key_of(of, f), f.bit}); });
  return all;
}

}  // namespace hmn::simulated
