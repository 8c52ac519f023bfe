// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Doubles as decimal numerals, the same in every locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#ifndef __cpp_lib_to_chars
#include "model/c_locale_decimal.hpp"
#endif

namespace hmn {

#ifdef __cpp_lib_to_chars

// Parses the whole numeral, "-1.5e3", to the nearest double. Returns none on overflow, and for a
// nonzero numeral that rounds to 0.
inline std::optional<double> read_decimal(std::string_view numeral) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(numeral.data(), numeral.data() + numeral.size(), value);
  if (error != std::errc() || end != numeral.data() + numeral.size()) return {};
  return value;
}

// Writes the fewest digits that read back as the same value, at most 32 bytes.
inline char* write_shortest(char* first, double value) noexcept {
  return std::to_chars(first, first + 32, value).ptr;
}

// Requires at least 384 bytes in `last - first`, for up to 64 decimals.
inline char* write_fixed(char* first, char* last, double value, int decimals) noexcept {
  return std::to_chars(first, last, value, std::chars_format::fixed, decimals).ptr;
}

#else

// libc++ can write since macOS 13.3 only, and read since its version 20.
using of_c_locale::read_decimal;
using of_c_locale::write_fixed;
using of_c_locale::write_shortest;

#endif

}  // namespace hmn
