// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Generic operations on the fields of records, from the tables that model/fields.def makes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/device.hpp"
#include "model/words.hpp"

namespace hmn {

// Unit of a number, or the enumeration of its words.
enum class unit : std::uint8_t {
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
  device_kind,
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

// Storage type of a member.
enum class field_type : std::uint8_t {
  string,
  bounded_text,
  truth,
  u32,
  optional_u32,
  u64,  // from here on 8 bytes
  optional_u64,
  optional_real,
  instance,  // two numbers with one bit
};

struct field {
  std::string_view key;
  field_type type;
  hmn::unit unit;
  std::uint16_t offset;    // of the member in the record
  std::uint16_t known_at;  // offset of a byte that is not zero if the value is known; 0: none
  std::uint16_t c_offset;  // in the C struct; 0: not part of it
  std::uint32_t bit;       // of `present`; 0: always known
};
using field_list = std::span<const field>;

struct process_memory;
struct system_memory;
struct pool;
struct telemetry;
struct metric;
struct usage;
struct group;

// Fields of a record, in the order of the JSON document.
template <class Record>
field_list fields_of() noexcept;
template <>
field_list fields_of<process_memory>() noexcept;
template <>
field_list fields_of<system_memory>() noexcept;
template <>
field_list fields_of<device>() noexcept;
template <>
field_list fields_of<pool>() noexcept;
template <>
field_list fields_of<telemetry>() noexcept;
template <>
field_list fields_of<metric>() noexcept;
template <>
field_list fields_of<usage>() noexcept;
template <>
field_list fields_of<group>() noexcept;

// Returns the field with a presence bit.
const field& field_of(field_list fields, std::uint32_t bit) noexcept;

// Returns the words of an enumerated field; empty for numbers and texts.
word_list words_for(unit u) noexcept;
// Returns whether the number is a set of bits, each with its word.
bool is_set_of_bits(unit u) noexcept;

// Returns whether the field has a value.
bool is_known(const field& f, const void* record) noexcept;
// Returns 0 where it has none or is of another type.
std::uint64_t number_in(const field& f, const void* record) noexcept;
double real_in(const field& f, const void* record) noexcept;
std::string_view text_in(const field& f, const void* record) noexcept;
std::optional<mig_instance> instance_in(const field& f, const void* record) noexcept;

// Set a field of an optional number.
void set_number(const field& f, void* record, std::uint64_t value) noexcept;
void set_real(const field& f, void* record, double value) noexcept;

// Returns the presence bits of the known fields of `among`.
std::uint32_t present_bits(field_list fields, std::uint32_t among, const void* record) noexcept;

// Returns whether both have the same fields, with the same values.
bool is_same_record(field_list fields, const void* a, const void* b) noexcept;

// Fills the fields of `bits` that `into` lacks and `from` has; returns their bits.
std::uint32_t take_missing(field_list fields, std::uint32_t bits, void* into,
                           const void* from) noexcept;

// Clears the fields of `bits`, which are optional numbers.
void forget(field_list fields, std::uint32_t bits, void* record) noexcept;

// Fills a zeroed C struct, except its struct_size, and notes if some of `wanted` are not known.
void copy_out(field_list fields, const void* record, void* c_struct, std::uint32_t wanted) noexcept;

template <class Record, class C>
void copy_out(const Record& r, C& c_struct, std::uint32_t wanted = 0) noexcept {
  copy_out(fields_of<Record>(), &r, &c_struct, wanted);
}

template <class Record>
bool is_same_record(const Record& a, const Record& b) noexcept {
  return is_same_record(fields_of<Record>(), &a, &b);
}

template <class Record>
std::uint32_t present_bits(const Record& r, std::uint32_t among = ~0U) noexcept {
  return present_bits(fields_of<Record>(), among, &r);
}

// Returns those of `wanted` that are not known.
template <class Record>
std::uint32_t missing_bits(const Record& r, std::uint32_t wanted) noexcept {
  return wanted & ~present_bits(r, wanted);
}

template <class Record>
void forget(std::uint32_t bits, Record& r) noexcept {
  forget(fields_of<Record>(), bits, &r);
}

template <class Record>
std::uint32_t take_missing(std::uint32_t bits, Record& into, const Record& from) noexcept {
  return take_missing(fields_of<Record>(), bits, &into, &from);
}

}  // namespace hmn
