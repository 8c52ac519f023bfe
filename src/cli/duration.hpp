// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// "500ms", "30s", "5m", "1h" as milliseconds, never 0; the unit is required.
expected<std::uint64_t> parse_duration(std::string_view text);

}  // namespace hmn::cli
