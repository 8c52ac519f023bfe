// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Implementation of decimal.hpp by the C library of macOS, whose functions take a locale: NULL is
// the C locale.
#pragma once

#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace hmn::of_c_locale {

inline std::optional<double> read_decimal(std::string_view numeral) {
  // What strtod(3) reads in addition: blanks, a plus, hexadecimal numbers, "inf" and "nan".
  if (numeral.find_first_not_of("0123456789.eE+-") != numeral.npos || numeral.starts_with('+')) {
    return {};
  }
  const std::string text(numeral);
  char* end = nullptr;
  errno = 0;
  const double value = strtod_l(text.c_str(), &end, nullptr);
  if (text.empty() || end != text.c_str() + text.size()) return {};
  if (errno == ERANGE && (value == 0 || std::isinf(value))) return {};
  return value;
}

inline char* write_fixed(char* first, char* last, double value, int decimals) noexcept {
  const auto capacity = static_cast<std::size_t>(last - first);
  return first + snprintf_l(first, capacity, nullptr, "%.*f", decimals, value);
}

// As std::to_chars: the shorter of both notations, and the fixed one of equal length.
inline char* write_shortest(char* first, double value) noexcept {
  std::array<char, 32> scientific{};
  int digits = 0;
  do {
    snprintf_l(scientific.data(), scientific.size(), nullptr, "%.*e", digits, value);
  } while (strtod_l(scientific.data(), nullptr, nullptr) != value && ++digits < 17);
  std::array<char, 384> fixed{};
  const char* const exponent_mark = std::strchr(scientific.data(), 'e');
  int exponent = 0;
  if (exponent_mark != nullptr) {
    const char* const digit = exponent_mark[1] == '+' ? exponent_mark + 2 : exponent_mark + 1;
    std::from_chars(digit, exponent_mark + std::strlen(exponent_mark), exponent);
  }
  const int decimals = digits > exponent ? digits - exponent : 0;
  write_fixed(fixed.data(), fixed.data() + fixed.size(), value, decimals);
  const bool is_fixed = std::strlen(fixed.data()) <= std::strlen(scientific.data());
  const char* const shorter = is_fixed ? fixed.data() : scientific.data();
  const std::size_t length = std::strlen(shorter);
  std::memcpy(first, shorter, length);
  return first + length;
}

}  // namespace hmn::of_c_locale
