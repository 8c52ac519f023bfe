// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Parses "500ms", "30s", "5m", "1h" to milliseconds, never 0; the unit is required.
expected<std::uint64_t> parse_duration(std::string_view text);

// Parses an option's duration; failures name the option.
expected<std::uint64_t> parse_time(const char* option, const std::string& text);
// Parses --interval: at most 49 days.
expected<std::uint32_t> parse_interval(const std::string& text);

}  // namespace hmn::cli
