// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Doubles as decimal numerals, the same in every locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "model/decimal_by_hand.hpp"

namespace hmn {

#ifdef __cpp_lib_to_chars

// All of `numeral`, "-1.5e3", to the nearest double. None when that is infinite, or 0 without need.
inline std::optional<double> read_decimal(std::string_view numeral) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(numeral.data(), numeral.data() + numeral.size(), value);
  if (error != std::errc() || end != numeral.data() + numeral.size()) return {};
  return value;
}

// No more digits than it takes to read the same value back; `first` has room for 32 bytes.
inline char* write_shortest(char* first, double value) noexcept {
  return std::to_chars(first, first + 32, value).ptr;
}

// `last - first`: 384 at least, with up to 64 decimals.
inline char* write_fixed(char* first, char* last, double value, int decimals) noexcept {
  return std::to_chars(first, last, value, std::chars_format::fixed, decimals).ptr;
}

#else

// libc++ writes them only since macOS 13.3 and reads them since its version 20.
using by_hand::read_decimal;
using by_hand::write_fixed;
using by_hand::write_shortest;

#endif

}  // namespace hmn
