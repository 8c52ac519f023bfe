// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/sort.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace hmn {

void sort_positions(std::span<std::uint32_t> positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before) {
  const auto is_earlier = [&](std::uint32_t a, std::uint32_t b) {
    return is_before(a, b) || (a < b && !is_before(b, a));
  };
  // Most lists are in order: as the kernel has them, or sorted before.
  if (std::is_sorted(positions.begin(), positions.end(), is_earlier)) return;
  std::sort(positions.begin(), positions.end(), is_earlier);
}

void sort_ascending(std::span<std::uint32_t> numbers) {
  sort_positions(numbers, std::less());
}

void sort_positions(std::size_t count, std::vector<std::uint32_t>& positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before) {
  positions.resize(count);
  std::iota(positions.begin(), positions.end(), 0U);
  sort_positions(positions, is_before);
}

std::vector<std::uint32_t> sorted_positions(
    std::size_t count, function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before) {
  std::vector<std::uint32_t> positions;
  sort_positions(count, positions, is_before);
  return positions;
}

}  // namespace hmn
