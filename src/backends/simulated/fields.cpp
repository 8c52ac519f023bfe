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

Range unit_range(Unit unit) noexcept {
  constexpr double largest = 1e15;
  switch (unit) {
    case Unit::percent:
      return {0, 100};
    case Unit::celsius:
      return {-273, 1e4};
    default:
      return {0, largest};
  }
}

std::string_view field_key(const RecordSchema& schema, const Field& field) noexcept {
  constexpr std::string_view suffix = "_bytes";
  const std::string_view key = field.key;
  return schema.has_short_keys && field.unit == Unit::bytes && key.ends_with(suffix)
             ? key.substr(0, key.size() - suffix.size())
             : key;
}

std::span<const Word> find_words(Unit unit) noexcept {
  switch (unit) {
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

std::optional<std::uint64_t> read_number(ObjectReader& reader, const RecordSchema& schema,
                                         const Field& field) {
  const std::string_view key = field_key(schema, field);
  const std::span<const Word> words = find_words(field.unit);
  if (is_bitmask(field.unit)) return reader.flags(key, words);
  if (!words.empty()) return reader.choice(key, words);
  if (field.type == FieldType::u32) return reader.integer32(key);
  if (schema.has_short_keys && field.unit == Unit::bytes) return reader.bytes(key);
  return reader.integer(key, 0, std::numeric_limits<std::uint64_t>::max());
}

template <class Use>
void for_each_field(const RecordSchema& schema, Use visit) {
  for (const Field& field : schema.fields) {
    if ((field.bit & schema.bits) != 0) visit(field);
  }
}

constexpr FieldSet all_bits = ~FieldSet{0};
// These are stored under other keys; a row's window is stored with its load.
constexpr std::uint32_t excluded_usage_bits = usage_field::uid | usage_field::start_unix_ns |
                                              usage_field::instance | usage_field::busy_percent;

}  // namespace

RecordSchema pool_schema() noexcept {
  return {record_fields<Pool>(), ~pool_field::unattributed, true};
}

RecordSchema telemetry_schema() noexcept {
  return {record_fields<Telemetry>(), all_bits, false};
}

RecordSchema usage_schema() noexcept {
  return {record_fields<Usage>(), ~excluded_usage_bits, true};
}

RecordSchema process_memory_schema() noexcept {
  return {record_fields<ProcessMemory>(), all_bits, true};
}

RecordSchema system_memory_schema() noexcept {
  return {record_fields<SystemMemory>(), ~system_memory_field::usable, true};
}

void read_fields(ObjectReader& reader, const RecordSchema& schema, void* record) {
  for_each_field(schema, [&](const Field& field) {
    if (field.type == FieldType::real) {
      const Range range = unit_range(field.unit);
      if (const auto value = reader.real(field_key(schema, field), range.low, range.high))
        field.set(record, *value);
    } else if (const auto value = read_number(reader, schema, field)) {
      field.set(record, *value);
    }
  });
}

void write_word(json::Writer& writer, std::string_view key, std::span<const Word> words,
                std::uint32_t value) {
  for (const Word& word : words) {
    if (word.value == value) return writer.word_member(key, word.name);
  }
}

void write_words(json::Writer& writer, std::string_view key, std::span<const Word> words,
                 FieldSet bits) {
  if (bits == 0) return;
  writer.key(key);
  writer.open('[');
  for (const Word& word : words) {
    if ((bits & word.value) != 0) writer.word(word.name);
  }
  writer.close(']');
}

void write_fields(json::Writer& writer, const RecordSchema& schema, const void* record) {
  for_each_field(schema, [&](const Field& field) {
    const RecordValue value = field.get(record);
    if (std::holds_alternative<std::monostate>(value)) return;
    const std::string_view key = field_key(schema, field);
    const std::span<const Word> words = find_words(field.unit);
    const std::uint64_t number = get_number(field, record);
    if (const double* const real = std::get_if<double>(&value)) {
      if (std::isfinite(*real)) writer.member(key, std::optional(*real));
    } else if (is_bitmask(field.unit)) {
      write_words(writer, key, words, static_cast<std::uint32_t>(number));
    } else if (!words.empty()) {
      write_word(writer, key, words, static_cast<std::uint32_t>(number));
    } else {
      writer.member(key, number);
    }
  });
}

std::vector<Word> field_words(const RecordSchema& schema) {
  std::vector<Word> all;
  for_each_field(schema, [&](const Field& f) { all.push_back({field_key(schema, f), f.bit}); });
  return all;
}

}  // namespace hmn::simulated
