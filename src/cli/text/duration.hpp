// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// "500ms", "30s", "5m", "1h" as milliseconds, never 0; the unit is required.
expected<std::uint64_t> parse_duration(std::string_view text);

// The same of an option, which a refusal names.
expected<std::uint64_t> parse_time(const char* option, const std::string& text);
// Of --interval: at most 49 days.
expected<std::uint32_t> parse_interval(const std::string& text);

}  // namespace hmn::cli
