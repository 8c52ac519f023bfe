// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "backends/simulated/json_value.hpp"

namespace hmn::json {

inline constexpr std::size_t most_values = 1'000'000;
inline constexpr std::size_t most_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t deepest = 64;

struct syntax_error {
  std::size_t line = 1;
  std::size_t column = 1;  // in bytes
  std::string what;
};

// RFC 8259, and stricter: no key twice in an object, no number that a double cannot hold, bounded
// depth and number of values. A byte order mark is passed over.
std::variant<value, syntax_error> parse(std::string_view text);

}  // namespace hmn::json
