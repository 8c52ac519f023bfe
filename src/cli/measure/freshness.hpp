// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <cstdint>
#include <string>

#include "cli/units.hpp"

namespace hmn::cli {

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
