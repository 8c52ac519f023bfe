// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Tables of enumerations, metrics and fields, and macros that declare types from them.
#pragma once

#include <hypomnesis.h>

#include <cstdint>

#include "model/enums.def"
#include "model/fields.def"
#include "model/metrics.def"

namespace hmn {
// Presence bits of a record's fields.
using FieldSet = std::uint64_t;
}  // namespace hmn

// Declares an enumeration: enum class state { HMN_STATES(HMN_ENUMERATOR) };
#define HMN_ENUMERATOR(name, number, ...) name = number,

// Declares bits, or numbers that callers may extend: namespace note { HMN_NOTES(HMN_CONSTANT) }
#define HMN_CONSTANT(name, number, ...) inline constexpr std::uint32_t name = number;

// Declares a record: struct pool { HMN_POOL_FIELDS(HMN_MEMBER) };
#define HMN_MEMBER(member, c_member, bit, type, unit, words) type member{};

// Presence bits under the names of their members, and all of them together:
// namespace pool_field { HMN_POOL_FIELDS(HMN_FIELD_BIT) }
#define HMN_FIELD_BIT(member, c_member, bit, ...) inline constexpr FieldSet member = bit;
#define HMN_OR_BIT(member, c_member, bit, ...) \
  | FieldSet {                                 \
    bit                                        \
  }

// Drops the rows of a list that a use does not need.
#define HMN_NOTHING(...)
