// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/json.hpp"

namespace hmn::cli {

// Formats a time since the start: "+12.4s".
// Formats the time of a sample, distinct from those an interval earlier: "+3.5s", "+3.55s".
std::string format_sample_time(std::uint64_t ms, std::uint32_t interval_ms);

// Adds an observation to the detector; errors are in its info().
template <class... Observed>
void observe(hypomnesis::spill& detector, const Observed&... observation) {
  try {
    detector.observe(observation...);
  } catch (const hypomnesis::error&) {
  }
}

// Returns the episodes that the detector still stores.
std::vector<hypomnesis::episode> list_episodes(const hypomnesis::spill& detector);

// Memory of a device whose spills cannot be measured.
struct MemoryBounds {
  std::optional<std::uint64_t> peak_used_bytes;
  std::optional<std::uint64_t> min_free_bytes;
  std::optional<std::uint64_t> total_bytes;
  std::string min_free_label;  // time of the observation

  void add(const hypomnesis::pool& pool, const std::string& label);
};

// Formats the lines after those of format_spill(); empty: nothing is known.
std::string format_bounds(std::string_view prefix, const MemoryBounds& bounds);
void add_bounds_json(const MemoryBounds& bounds, JsonObject& object);

// Formats lines that begin with `prefix`, as "hmn spill" or "hmn watch".
std::string format_spill(std::string_view prefix, const hypomnesis::spill_info& info,
                         bool ascii_only);
// Formats by docs/schema/spill.schema.json; unknown is null.
void add_spill_json(const hypomnesis::spill_info& info,
                    const std::vector<hypomnesis::episode>& episodes, JsonObject& object);

}  // namespace hmn::cli
