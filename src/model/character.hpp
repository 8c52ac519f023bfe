// SPDX-License-Identifier: MIT OR Apache-2.0
//
// ASCII characters, whatever the locale: no other has a class or a case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace hmn {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}
constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool is_hex_digit(char c) noexcept {
  return is_lower_hex_digit(lower_case(c));
}
constexpr bool is_letter_or_digit(char c) noexcept {
  return is_digit(c) || (lower_case(c) >= 'a' && lower_case(c) <= 'z');
}

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

constexpr bool equal_ignoring_case(char a, char b) noexcept {
  return lower_case(a) == lower_case(b);
}
constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return equal_ignoring_case(x, y); });
}

}  // namespace hmn
