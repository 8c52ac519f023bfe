// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::simulated {

// Parses "16GiB", "1.5 TiB" or "512 B" as bytes; returns nothing if it is malformed, not a whole
// number of bytes or does not fit 64 bits.
std::optional<std::uint64_t> bytes_of(std::string_view text);

}  // namespace hmn::simulated
