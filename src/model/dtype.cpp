// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/dtype.hpp"

#include <cstddef>
#include <cstring>
#include <iterator>

#include "model/character.hpp"

namespace hmn {
namespace {

constexpr std::uint8_t dtype_widths[] = {0,  8,  8, 16, 16, 32, 32, 64, 64, 16, 16,
                                         32, 64, 8, 8,  8,  6,  6,  4,  4,  4,  8};

// Names by number, in lower case without underscores. The library's own name comes first; each is
// NUL-terminated and an empty one ends each list.
constexpr char names[] =
    "unknown\0\0"
    "u8\0uint8\0byte\0\0"
    "i8\0int8\0\0"
    "u16\0uint16\0\0"
    "i16\0int16\0short\0\0"
    "u32\0uint32\0\0"
    "i32\0int32\0int\0\0"
    "u64\0uint64\0\0"
    "i64\0int64\0long\0\0"
    "f16\0float16\0fp16\0half\0\0"
    "bf16\0bfloat16\0\0"
    "f32\0float32\0fp32\0float\0\0"
    "f64\0float64\0fp64\0double\0\0"
    "f8e4m3\0f8e4m3fn\0float8e4m3\0float8e4m3fn\0float8e4m3fnuz\0fp8e4m3\0fp8\0f8\0\0"
    "f8e5m2\0float8e5m2\0float8e5m2fnuz\0fp8e5m2\0\0"
    "f8e8m0\0f8e8m0fnu\0float8e8m0fnu\0fp8e8m0\0\0"
    "f6e2m3\0float6e2m3fn\0fp6e2m3\0\0"
    "f6e3m2\0float6e3m2fn\0fp6e3m2\0\0"
    "f4\0float4e2m1fn\0f4e2m1\0fp4e2m1\0fp4\0\0"
    "i4\0int4\0\0"
    "u4\0uint4\0\0"
    "bool\0\0";

// Returns the start of the next number's names.
const char* skip_names(const char* name) noexcept {
  while (*name != '\0') name += std::strlen(name) + 1;
  return name + 1;
}

// Compares a spelling with a name, ignoring the case and underscores of the spelling.
bool matches_name(std::string_view spelling, std::string_view name) noexcept {
  std::size_t position = 0;
  for (const char c : spelling) {
    if (c == '_') continue;
    if (position == name.size() || lower_case(c) != name[position]) return false;
    ++position;
  }
  return position == name.size();
}

bool has_prefix(std::string_view spelling, std::string_view prefix) noexcept {
  return spelling.size() > prefix.size() && matches_name(spelling.substr(0, prefix.size()), prefix);
}

}  // namespace

std::uint32_t dtype_bits(std::uint32_t dtype) noexcept {
  return dtype < std::size(dtype_widths) ? dtype_widths[dtype] : 0;
}

const char* dtype_name(std::uint32_t dtype) noexcept {
  const char* name = names;
  if (dtype >= std::size(dtype_widths)) return name;
  for (std::uint32_t i = 0; i < dtype; ++i) name = skip_names(name);
  return name;
}

std::uint32_t find_dtype(std::string_view name) noexcept {
  constexpr std::string_view torch = "torch.";
  if (has_prefix(name, torch)) name.remove_prefix(torch.size());
  const char* aliases = skip_names(names);
  for (std::uint32_t i = 1; i < std::size(dtype_widths); ++i, aliases = skip_names(aliases)) {
    for (const char* alias = aliases; *alias != '\0'; alias += std::strlen(alias) + 1) {
      if (matches_name(name, alias)) return i;
    }
  }
  return 0;
}

}  // namespace hmn
