// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "cli/units.hpp"

// The devices of a snapshot stand by index, its other lists by device index.
namespace hmn::cli {

// Returns the part of a list that is about one device; `index_of` returns that of an entry.
template <class List, class Projection>
auto part_of(List& all, std::uint32_t index, Projection index_of) {
  using Number = std::decay_t<std::invoke_result_t<Projection&, decltype(*all.begin())>>;
  return std::ranges::equal_range(all, static_cast<Number>(index), {}, index_of);
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

// Returns whether the library read the record just now: a stale one is the last known, and is no
// sample, peak or growth.
inline bool is_fresh(hypomnesis::note notes) noexcept {
  return !has(notes, hypomnesis::note::stale);
}
template <class Record>
bool is_fresh(const Record& of) noexcept {
  return is_fresh(of.notes);
}

// Returns "stale: 3.2 s old", the reason for a value that is not counted.
inline std::string stale_text(std::uint64_t age_ns) {
  return fmt::format("stale: {:.1f} s old", static_cast<double>(age_ns) / ns_per_s);
}

// Returns ", stale: 3.2 s old" for what is printed all the same; empty: fresh.
inline std::string staleness(hypomnesis::note notes, std::uint64_t age_ns) {
  return is_fresh(notes) ? std::string() : ", " + stale_text(age_ns);
}

}  // namespace hmn::cli
