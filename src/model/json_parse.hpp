// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "model/json_value.hpp"

namespace hmn::json {

inline constexpr std::size_t most_values = 1'000'000;
inline constexpr std::size_t most_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t deepest = 64;

struct syntax_error {
  std::size_t line = 1;
  std::size_t column = 1;  // in bytes
  std::string what;
  std::string key;  // the last key before it, as written; empty: none
};

// Parses RFC 8259, and stricter: no duplicate keys in an object, no number that a double cannot
// hold, bounded depth and number of values. Skips a byte order mark.
std::variant<value, syntax_error> parse(std::string_view text);

// Parses the value at the start of `text`, tolerating loose output: duplicate keys are kept, NaN
// and Infinity become numbers near nothing. Stores in `length` the number of bytes used. `text` is
// UTF-8.
std::variant<value, syntax_error> parse_front(std::string_view text, std::size_t& length);

}  // namespace hmn::json
