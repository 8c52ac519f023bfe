// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/function_ref.hpp"

namespace hmn {

// Sorts the positions 0, 1, 2 … or a part of them by what stands there; equal ones stay in order.
void sort_positions(std::span<std::uint32_t> positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

void sort_positions(std::size_t count, std::vector<std::uint32_t>& positions,
                    function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

std::vector<std::uint32_t> sorted_positions(
    std::size_t count, function_ref<bool(std::uint32_t a, std::uint32_t b)> is_before);

void sort_ascending(std::span<std::uint32_t> numbers);

// Stable. std::stable_sort is 2 KiB of code for each type, std::sort more than one; this is an
// eighth of it. `all` is a vector or a part of one; what may not allocate keeps the positions'
// room.
template <class Sequence, class Before>
void sort_stably(Sequence&& all, Before is_before, std::vector<std::uint32_t>& from) {
  sort_positions(all.size(), from, [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<bool>(is_before(all[a], all[b]));
  });
  // Each turn moves one cycle of values to their places.
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
