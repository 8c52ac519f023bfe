// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Primitives of the parsers for text from the system and from tools. They do not allocate, are
// independent of the locale, and reject numbers that do not fit.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hmn::scan {

constexpr bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

constexpr std::string_view trim_front(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

constexpr std::string_view trim(std::string_view text) noexcept {
  text = trim_front(text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes and returns the text before `separator`; the whole of `rest` without one.
constexpr std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const char* const end = std::char_traits<char>::find(rest.data(), rest.size(), separator);
  if (end == nullptr) return std::exchange(rest, {});
  const std::string_view head(rest.data(), static_cast<std::size_t>(end - rest.data()));
  rest.remove_prefix(head.size() + 1);
  return head;
}

// Removes and returns a line without its end, \n or \r\n.
constexpr std::string_view take_line(std::string_view& rest) noexcept {
  std::string_view line = take_until(rest, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Removes and returns the next blank-separated word; empty at the end.
constexpr std::string_view take_word(std::string_view& rest) noexcept {
  rest = trim_front(rest);
  std::size_t length = 0;
  while (length < rest.size() && !is_blank(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

// Returns whether one of the parts between separators is `part`.
constexpr bool has_part(std::string_view list, char separator, std::string_view part) noexcept {
  while (!list.empty()) {
    if (take_until(list, separator) == part) return true;
  }
  return false;
}

// Returns whether the text contains one of the blank-separated words.
constexpr bool contains_any(std::string_view text, std::string_view words) noexcept {
  while (!words.empty()) {
    if (text.find(take_word(words)) != std::string_view::npos) return true;
  }
  return false;
}

// Returns the value of the digit; 36 and more for any other character.
constexpr unsigned digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
  return letter + 10U;
}

// Appends a digit; returns false for an invalid digit or an overflow.
constexpr bool append_digit(std::uint64_t& number, unsigned digit, unsigned base) noexcept {
  return digit < base && !__builtin_mul_overflow(number, std::uint64_t{base}, &number) &&
         !__builtin_add_overflow(number, digit, &number);
}

constexpr std::optional<std::uint64_t> parse_digits(std::string_view digits,
                                                    unsigned base) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (!append_digit(value, digit_value(c), base)) return std::nullopt;
  }
  return digits.empty() ? std::nullopt : std::optional(value);
}

// Parses base 10 only, for frequent readings.
constexpr std::optional<std::uint64_t> parse_decimal(std::string_view digits) noexcept {
  constexpr std::size_t safe_digits = 19;
  if (digits.empty() || digits.size() > safe_digits) return parse_digits(digits, 10);
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = static_cast<unsigned char>(c - '0');
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

// Parses the whole text as digits of `base`: no blanks, and no sign but a minus where T is signed.
// One parser for all types: std::from_chars is a third of a KiB for each.
template <class T = std::uint64_t>
std::optional<T> parse_number(std::string_view text, unsigned base = 10) noexcept {
  const bool is_negative = std::is_signed_v<T> && text.starts_with('-');
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  const auto value = base == 10 ? parse_decimal(digits) : parse_digits(digits, base);
  const auto max = static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max());
  if (!value || *value > std::uint64_t{max} + is_negative) return std::nullopt;
  return static_cast<T>(is_negative ? 0 - *value : *value);
}

constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  if (a > std::numeric_limits<std::uint64_t>::max() - b) return std::nullopt;
  return a + b;
}

}  // namespace hmn::scan
