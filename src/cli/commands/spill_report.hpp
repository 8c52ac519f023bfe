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
std::string moment_text(std::uint64_t ms, std::uint32_t interval_ms);

// Passes an observation on; info() reports errors.
template <class... Observed>
void observe(hypomnesis::spill& detector, const Observed&... what) {
  try {
    detector.observe(what...);
  } catch (const hypomnesis::error&) {
  }
}

// Returns the episodes that are kept.
std::vector<hypomnesis::episode> episodes_of(const hypomnesis::spill& detector);

// Memory of a device whose spills cannot be measured.
struct MemoryBounds {
  std::optional<std::uint64_t> peak_used_bytes;
  std::optional<std::uint64_t> least_free_bytes;
  std::optional<std::uint64_t> total_bytes;
  std::string least_free_label;  // time of the observation

  void add(const hypomnesis::pool& now, const std::string& label);
};

// Formats the lines after those of spill_text; empty: nothing is known.
std::string bounds_text(std::string_view who, const MemoryBounds& of);
void add_bounds_json(const MemoryBounds& of, JsonObject& to);

// Formats the lines after "hmn spill" or "hmn watch".
std::string spill_text(std::string_view who, const hypomnesis::spill_info& of, bool ascii_only);
// Formats by docs/schema/spill.schema.json; unknown is null.
void add_spill_json(const hypomnesis::spill_info& of,
                    const std::vector<hypomnesis::episode>& episodes, JsonObject& to);

}  // namespace hmn::cli
