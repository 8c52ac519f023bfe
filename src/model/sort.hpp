// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace hmn {

// Returns the positions 0, 1, 2 … sorted by the elements at them; equal ones keep their order.
template <class Before>
std::vector<std::uint32_t> sort_positions(std::size_t count, Before is_before) {
  std::vector<std::uint32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0U);
  std::ranges::stable_sort(positions, is_before);
  return positions;
}

}  // namespace hmn
