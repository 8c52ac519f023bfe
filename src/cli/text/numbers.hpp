// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hmn::cli {

// Returns "0-3, 5" for ascending numbers.
std::string ranges_text(const std::vector<std::uint32_t>& numbers);

// Returns GiB with one decimal below 1000, "<0.1" for less than that would show, "0" for none.
std::string gib_text(std::uint64_t bytes);

}  // namespace hmn::cli
