// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Finds what belongs to a device: the devices of a snapshot stand by index, its other lists by
// device index.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace hmn::cli {

// Returns the part of a list that is about one device; `index_of` returns that of an entry.
template <class List, class Projection>
auto part_of(List& all, std::uint32_t index, Projection index_of) {
  using number = std::decay_t<std::invoke_result_t<Projection&, decltype(*all.begin())>>;
  return std::ranges::equal_range(all, static_cast<number>(index), {}, index_of);
}

template <class List>
auto part_of(List& all, std::uint32_t index) {
  return part_of(all, index, [](const auto& each) { return each.device_index; });
}

// Returns nullptr if the device is not in the list.
template <class List, class Projection>
auto* find_device_in(List& all, std::uint32_t index, Projection index_of) {
  const auto at = std::ranges::lower_bound(all, index, {}, index_of);
  return at != all.end() && std::invoke(index_of, *at) == index ? &*at : nullptr;
}

}  // namespace hmn::cli
