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
  truth,
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
  void (*set)(void* record, const RecordValue& to);  // of optional numbers only
  void (*take)(void* into, const void* from);
  // Copies a known value, and returns whether it is a text that was cut. Null: not in the C struct.
  bool (*copy)(const void* record, void* c_struct);
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
FieldList fields_of() noexcept;
template <>
FieldList fields_of<ProcessMemory>() noexcept;
template <>
FieldList fields_of<SystemMemory>() noexcept;
template <>
FieldList fields_of<Device>() noexcept;
template <>
FieldList fields_of<Pool>() noexcept;
template <>
FieldList fields_of<Telemetry>() noexcept;
template <>
FieldList fields_of<Metric>() noexcept;
template <>
FieldList fields_of<Usage>() noexcept;
template <>
FieldList fields_of<Group>() noexcept;

const Field& field_of(FieldList fields, FieldSet bit) noexcept;

// Returns the words of an enumerated field; empty for numbers and texts.
WordList words_for(Unit u) noexcept;
// Returns whether the number is a set of bits, each with its word.
bool is_set_of_bits(Unit u) noexcept;

bool is_known(const Field& f, const void* record) noexcept;
// Returns 0 where the field has no number.
std::uint64_t number_in(const Field& f, const void* record) noexcept;

// Returns the presence bits of the known fields of `among`.
FieldSet present_bits(FieldList fields, FieldSet among, const void* record) noexcept;

bool is_same_record(FieldList fields, const void* a, const void* b) noexcept;

// Fills the fields of `bits` that `into` lacks and `from` has; returns their bits.
FieldSet take_missing(FieldList fields, FieldSet bits, void* into, const void* from) noexcept;

// Clears the fields of `bits`, which are optional numbers.
void forget(FieldList fields, FieldSet bits, void* record) noexcept;

struct Copied {
  FieldSet present = 0;
  bool was_cut = false;  // a text
};
Copied copy_fields(FieldList fields, const void* record, void* c_struct) noexcept;

// Fills a zeroed C struct, except its struct_size, and notes if some of `wanted` are not known.
template <class Record, class C>
void copy_out(const Record& r, C& c_struct, FieldSet wanted = 0) noexcept {
  const Copied done = copy_fields(fields_of<Record>(), &r, &c_struct);
  c_struct.present = done.present;
  if (done.was_cut) c_struct.notes |= HMN_NOTE_TRUNCATED;
  if ((wanted & ~done.present) != 0) c_struct.notes |= HMN_NOTE_PARTIAL;
}

template <class Record>
bool is_same_record(const Record& a, const Record& b) noexcept {
  return is_same_record(fields_of<Record>(), &a, &b);
}

template <class Record>
FieldSet present_bits(const Record& r, FieldSet among = ~FieldSet{0}) noexcept {
  return present_bits(fields_of<Record>(), among, &r);
}

template <class Record>
FieldSet missing_bits(const Record& r, FieldSet wanted) noexcept {
  return wanted & ~present_bits(r, wanted);
}

template <class Record>
void forget(FieldSet bits, Record& r) noexcept {
  forget(fields_of<Record>(), bits, &r);
}

template <class Record>
FieldSet take_missing(FieldSet bits, Record& into, const Record& from) noexcept {
  return take_missing(fields_of<Record>(), bits, &into, &from);
}

}  // namespace hmn
