// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Generic operations on the fields of records, from the tables that model/fields.def makes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "model/device.hpp"
#include "model/words.hpp"

namespace hmn {

// Unit of a number, or the enumeration of its words.
enum class Unit : std::uint8_t {
  none,
  unlisted,
  bytes,
  percent,
  celsius,
  watts,
  joules,
  megahertz,
  rpm,
  volts,
  nanoseconds,
  source,
  device_class,
  device_form,
  memory_kind,
  state,
  vendor,
  pool_kind,
  accounting,
  pressure,
  name_state,
  notes,
  throttles,
  usage_kinds,
  sources,
};

enum class FieldType : std::uint8_t {
  boolean,
  u32,
  u64,
  real,
  text,
  instance,  // two numbers with one bit
};

// Value of a field, whatever its type; std::monostate where it is not known.
using RecordValue =
    std::variant<std::monostate, bool, std::uint64_t, double, std::string_view, MigInstance>;

// Field of a record, so that code can go through all fields. The functions take records, and a C
// struct, of its type.
struct Field {
  std::string_view key;
  FieldType type;
  hmn::Unit unit;
  FieldSet bit;  // of `present`; 0: always known
  RecordValue (*get)(const void* record);
  void (*set)(void* record, const RecordValue& value);  // of optional numbers only
  void (*assign)(void* target, const void* source);
  // Copies a known value to the C struct; returns whether it is a text that was cut. Null: not in
  // that struct.
  bool (*copy_to_c)(const void* record, void* c_struct);
};
using FieldList = std::span<const Field>;

struct ProcessMemory;
struct SystemMemory;
struct Pool;
struct Telemetry;
struct Metric;
struct Usage;
struct Group;

// Fields of a record, in the order of the JSON document.
template <class Record>
FieldList record_fields() noexcept;
template <>
FieldList record_fields<ProcessMemory>() noexcept;
template <>
FieldList record_fields<SystemMemory>() noexcept;
template <>
FieldList record_fields<Device>() noexcept;
template <>
FieldList record_fields<Pool>() noexcept;
template <>
FieldList record_fields<Telemetry>() noexcept;
template <>
FieldList record_fields<Metric>() noexcept;
template <>
FieldList record_fields<Usage>() noexcept;
template <>
FieldList record_fields<Group>() noexcept;

const Field& find_field(FieldList fields, FieldSet bit) noexcept;

// Returns the words of an enumerated field; empty for numbers and texts.
WordList unit_words(Unit unit) noexcept;
// Returns whether the number is a bit mask with a word for each bit.
bool is_bitmask(Unit unit) noexcept;

bool is_known(const Field& field, const void* record) noexcept;
// Returns 0 where the field has no number.
std::uint64_t get_number(const Field& field, const void* record) noexcept;

// Returns the presence bits of those fields of `mask` that are known.
FieldSet present_bits(FieldList fields, FieldSet mask, const void* record) noexcept;

bool is_same_record(FieldList fields, const void* a, const void* b) noexcept;

// Fills the fields of `bits` that `target` lacks and `source` has; returns their bits.
FieldSet fill_missing(FieldList fields, FieldSet bits, void* target, const void* source) noexcept;

// Clears the fields of `bits`, which are optional numbers.
void clear_fields(FieldList fields, FieldSet bits, void* record) noexcept;

struct CopyResult {
  FieldSet present = 0;
  bool was_cut = false;  // a text
};
CopyResult copy_fields(FieldList fields, const void* record, void* c_struct) noexcept;

// Fills a zeroed C struct, except its struct_size; sets HMN_NOTE_PARTIAL if a field of `requested`
// is unknown.
template <class Record, class C>
void copy_to_c(const Record& record, C& c_struct, FieldSet requested = 0) noexcept {
  const CopyResult result = copy_fields(record_fields<Record>(), &record, &c_struct);
  c_struct.present = result.present;
  if (result.was_cut) c_struct.notes |= HMN_NOTE_TRUNCATED;
  if ((requested & ~result.present) != 0) c_struct.notes |= HMN_NOTE_PARTIAL;
}

template <class Record>
bool is_same_record(const Record& a, const Record& b) noexcept {
  return is_same_record(record_fields<Record>(), &a, &b);
}

template <class Record>
FieldSet present_bits(const Record& record, FieldSet mask = ~FieldSet{0}) noexcept {
  return present_bits(record_fields<Record>(), mask, &record);
}

template <class Record>
FieldSet missing_bits(const Record& record, FieldSet requested) noexcept {
  return requested & ~present_bits(record, requested);
}

template <class Record>
void clear_fields(FieldSet bits, Record& record) noexcept {
  clear_fields(record_fields<Record>(), bits, &record);
}

template <class Record>
FieldSet fill_missing(FieldSet bits, Record& target, const Record& source) noexcept {
  return fill_missing(record_fields<Record>(), bits, &target, &source);
}

}  // namespace hmn
