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

// The devices of a snapshot are sorted by index, its other lists by device index.
namespace hmn::cli {

// Returns the part of a list that is about one device; `projection` returns the index of an entry.
template <class List, class Projection>
auto filter_by_device(List& list, std::uint32_t index, Projection projection) {
  using Number = std::decay_t<std::invoke_result_t<Projection&, decltype(*list.begin())>>;
  return std::ranges::equal_range(list, static_cast<Number>(index), {}, projection);
}

template <class List>
auto filter_by_device(List& list, std::uint32_t index) {
  return filter_by_device(list, index, [](const auto& record) { return record.device_index; });
}

// Returns nullptr if the device is not in the list.
template <class List, class Projection>
auto* find_by_index(List& list, std::uint32_t index, Projection projection) {
  const auto it = std::ranges::lower_bound(list, index, {}, projection);
  return it != list.end() && std::invoke(projection, *it) == index ? &*it : nullptr;
}

// Returns whether the library read the record just now: a stale one is the last known, and is no
// sample, peak or growth.
inline bool is_fresh(hypomnesis::note notes) noexcept {
  return !has(notes, hypomnesis::note::stale);
}
template <class Record>
bool is_fresh(const Record& record) noexcept {
  return is_fresh(record.notes);
}

// Returns "stale: 3.2 s old", the reason for a value that is not counted.
inline std::string format_stale_age(std::uint64_t age_ns) {
  return fmt::format("stale: {:.1f} s old", static_cast<double>(age_ns) / ns_per_s);
}

// Returns ", stale: 3.2 s old" for what is printed all the same; empty: fresh.
inline std::string format_stale_suffix(hypomnesis::note notes, std::uint64_t age_ns) {
  return is_fresh(notes) ? std::string() : ", " + format_stale_age(age_ns);
}

}  // namespace hmn::cli
