// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The part of pdh.dll's binary interface that is used here, declared by hand; the same on x86-64
// and arm64, where Windows has a single calling convention.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/failure.hpp"
#include "platform/library.hpp"

namespace hmn::pdh {

using Handle = void*;

// PDH_STATUS
using Code = std::uint32_t;
inline constexpr Code success = 0;
inline constexpr Code new_data = 1;  // of a row
inline constexpr Code no_instance = 0x800007D1;
inline constexpr Code more_data = 0x800007D2;
inline constexpr Code no_data = 0x800007D5;
inline constexpr Code negative_denominator = 0x800007D6;
inline constexpr Code negative_value = 0x800007D8;
inline constexpr Code no_object = 0xC0000BB8;
inline constexpr Code no_counter = 0xC0000BB9;
inline constexpr Code invalid_row = 0xC0000BBA;
inline constexpr Code invalid_data = 0xC0000BC6;

inline constexpr std::uint32_t format_real = 0x00000200;      // PDH_FMT_DOUBLE
inline constexpr std::uint32_t format_whole = 0x00000400;     // PDH_FMT_LARGE
inline constexpr std::uint32_t format_uncapped = 0x00008000;  // PDH_FMT_NOCAP100

// PDH_FMT_COUNTERVALUE_ITEM_W
struct Item {
  const char16_t* name;
  Code status;
  std::uint32_t padding;
  union {
    std::int64_t whole;
    double real;
  };
};
static_assert(sizeof(void*) == 8 && sizeof(Item) == 24 && offsetof(Item, whole) == 16);

struct Functions {
  Code (*open)(const char16_t* source, std::uintptr_t user, Handle* query) = nullptr;
  Code (*add)(Handle query, const char16_t* path, std::uintptr_t user, Handle* counter) = nullptr;
  Code (*collect)(Handle query) = nullptr;
  Code (*rows)(Handle counter, std::uint32_t format, std::uint32_t* size, std::uint32_t* count,
               Item* out) = nullptr;
  Code (*close)(Handle query) = nullptr;
};

Result<Functions> find_functions(const platform::Library& library);

inline constexpr FailureFactory fail{Source::pdh, NativeDomain::pdh};

constexpr std::int32_t native_number(Code c) noexcept {
  return static_cast<std::int32_t>(c);
}

}  // namespace hmn::pdh
