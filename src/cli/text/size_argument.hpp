// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Parses "20GiB", "1.5 TiB", "512M", "80GB" to bytes, never 0. K, M, G and T alone are binary, as
// in other tools; KB, MB, GB and TB are powers of 1000. The unit is required.
expected<std::uint64_t> parse_size_argument(std::string_view text);

}  // namespace hmn::cli
