// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/function_ref.hpp"

namespace hmn {

// Sorts all or part of the positions 0, 1, 2 … by the elements at them; the sort is stable.
void sort_positions(std::span<std::uint32_t> positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

void sort_positions(std::size_t count, std::vector<std::uint32_t>& positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

std::vector<std::uint32_t> sorted_positions(
    std::size_t count, function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

void sort_ascending(std::span<std::uint32_t> numbers);

// Stable sort, for the limit of the library's size (abi.stripped_size: 614,400 bytes). On x86-64
// gcc 12 makes 607,464 bytes with this one, 619,752 with std::sort, which is not stable, and
// 640,232 with std::stable_sort. `all` is a vector or a part of one; callers that may not allocate
// keep the buffer of the positions.
template <class Sequence, class Before>
void sort_stably(Sequence&& all, Before is_before, std::vector<std::uint32_t>& from) {
  if (all.size() < 2) return;
  sort_positions(all.size(), from, [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<bool>(is_before(all[a], all[b]));
  });
  // Move one cycle of values to their positions.
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    if (from[i] == i) continue;
    auto first = std::move(all[i]);
    std::uint32_t at = i;
    while (from[at] != i) {
      all[at] = std::move(all[from[at]]);
      at = std::exchange(from[at], at);
    }
    all[at] = std::move(first);
    from[at] = at;
  }
}

template <class Sequence, class Before>
void sort_stably(Sequence&& all, Before is_before) {
  std::vector<std::uint32_t> from;
  sort_stably(all, is_before, from);
}

}  // namespace hmn
