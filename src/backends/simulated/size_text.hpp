// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::simulated {

// Bytes of a text such as "16GiB", "1.5 TiB" or "512 B"; nothing when it is malformed, is no whole
// number of bytes or does not fit 64 bits.
std::optional<std::uint64_t> bytes_of(std::string_view text);

}  // namespace hmn::simulated
