// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/top/ink.hpp"

namespace hmn::cli::top {

// Text of a value, and how it is shown.
struct value_text {
  std::string text;
  ink with = ink::plain;
};

// Returns the sign of a missing value. Its reason is on the page of the device or process.
value_text missing_text(bool is_unsupported = false);
value_text bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark = {},
                      bool is_unsupported = false);
value_text rate_text(std::optional<double> bytes_per_second, bool is_unsupported = false);
// Formats "87%"; with a ramp the colour follows the value.
value_text percent_text(std::optional<double> percent, ramp with, bool is_unsupported = false);
// Formats "61°C".
std::string degrees_text(double celsius, bool unicode);

// Formats the age of a process: "42s", "3:05", "2:13:05", "5d03h".
std::string elapsed_text(std::uint64_t ns);

}  // namespace hmn::cli::top
