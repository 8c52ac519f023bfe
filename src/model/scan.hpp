// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What parsers of the system's and the tools' text are made of: nothing allocates, nothing depends
// on a locale, and a number that does not fit is no number.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

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

// Takes what stands before `separator` off the front of `rest`; all of it when there is none.
constexpr std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return head;
}

// A line without its end, which is \n or \r\n.
constexpr std::string_view take_line(std::string_view& rest) noexcept {
  std::string_view line = take_until(rest, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The next word between blanks; empty at the end.
constexpr std::string_view take_word(std::string_view& rest) noexcept {
  rest = trim_front(rest);
  std::size_t length = 0;
  while (length < rest.size() && !is_blank(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

// The whole text as digits of `base`: no sign, no blank.
template <class T = std::uint64_t>
std::optional<T> number(std::string_view digits, int base = 10) noexcept {
  T value = 0;
  const char* const end = digits.data() + digits.size();
  const std::from_chars_result r = std::from_chars(digits.data(), end, value, base);
  if (r.ec != std::errc() || r.ptr != end) return std::nullopt;
  return value;
}

// The same of base 10 alone, for what is read in a hurry.
constexpr std::optional<std::uint64_t> decimal(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<unsigned char>(c - '0');
    if (digit > 9 || __builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return std::nullopt;
    }
  }
  return digits.empty() ? std::nullopt : std::optional(value);
}

constexpr std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) noexcept {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

constexpr std::optional<std::uint64_t> sum(std::uint64_t a, std::uint64_t b) noexcept {
  if (a > std::numeric_limits<std::uint64_t>::max() - b) return std::nullopt;
  return a + b;
}

}  // namespace hmn::scan
