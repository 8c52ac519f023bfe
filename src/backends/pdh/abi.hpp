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

using handle = void*;

// PDH_STATUS
using code = std::uint32_t;
inline constexpr code success = 0;
inline constexpr code new_data = 1;  // of a row
inline constexpr code no_instance = 0x800007D1;
inline constexpr code more_data = 0x800007D2;
inline constexpr code no_data = 0x800007D5;
inline constexpr code negative_denominator = 0x800007D6;
inline constexpr code negative_value = 0x800007D8;
inline constexpr code no_object = 0xC0000BB8;
inline constexpr code no_counter = 0xC0000BB9;
inline constexpr code invalid_row = 0xC0000BBA;
inline constexpr code invalid_data = 0xC0000BC6;

inline constexpr std::uint32_t as_real = 0x00000200;   // PDH_FMT_DOUBLE
inline constexpr std::uint32_t as_whole = 0x00000400;  // PDH_FMT_LARGE
inline constexpr std::uint32_t uncapped = 0x00008000;  // PDH_FMT_NOCAP100

// PDH_FMT_COUNTERVALUE_ITEM_W
struct item {
  const char16_t* name;
  code status;
  std::uint32_t padding;
  union {
    std::int64_t whole;
    double real;
  };
};
static_assert(sizeof(void*) == 8 && sizeof(item) == 24 && offsetof(item, whole) == 16);

struct functions {
  code (*open)(const char16_t* source, std::uintptr_t user, handle* query) = nullptr;
  code (*add)(handle query, const char16_t* path, std::uintptr_t user, handle* counter) = nullptr;
  code (*collect)(handle query) = nullptr;
  code (*rows)(handle counter, std::uint32_t format, std::uint32_t* size, std::uint32_t* count,
               item* out) = nullptr;
  code (*close)(handle query) = nullptr;
};

result<functions> find_functions(const platform::library& in);

inline constexpr failure_of fail{source::pdh, native_domain::pdh};

constexpr std::int32_t native_number(code c) noexcept {
  return static_cast<std::int32_t>(c);
}

}  // namespace hmn::pdh
