// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The tables of enumerations, metrics and fields, and the two ways to declare a type from one.
#pragma once

#include <hypomnesis.h>

#include "model/enums.def"
#include "model/fields.def"
#include "model/metrics.def"

// enum class state { HMN_STATES(HMN_ENUMERATOR) };
#define HMN_ENUMERATOR(name, number, ...) name = number,

// A set of bits, or numbers that callers may extend: namespace note { HMN_NOTES(HMN_CONSTANT) }
#define HMN_CONSTANT(name, number, ...) inline constexpr std::uint32_t name = number;

// struct pool { HMN_POOL_FIELDS(HMN_MEMBER) };
#define HMN_MEMBER(member, c_member, bit, type, unit, words) type member{};

// Presence bits under the names of their members, and all of them together:
// namespace pool_field { HMN_POOL_FIELDS(HMN_FIELD_BIT) }
#define HMN_FIELD_BIT(member, c_member, bit, ...) inline constexpr std::uint32_t member = bit;
#define HMN_OR_BIT(member, c_member, bit, ...) \
  | std::uint32_t {                            \
    bit                                        \
  }

// Leaves out the rows that a use of a list has no need of.
#define HMN_NOTHING(...)
