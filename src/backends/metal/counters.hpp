// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Averages of the GPU's own counters between two readings: pure functions of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/registry.hpp"

namespace hmn::metal {

// Time of the GPU in a state, in its own ticks; monotonic.
struct Residency {
  std::string state;
  std::int64_t ticks = 0;
};

struct Counters {
  std::uint64_t time_ns = 0;
  std::uint64_t suspended_ns = 0;  // at that time: platform::suspended_ns()
  std::optional<double> joules;    // monotonic
  std::string unknown_unit;        // the unit, if energy is unknown because of it
  std::vector<Residency> states;
};

// Converts nJ, uJ or mJ; returns nothing for another unit.
std::optional<double> convert_to_joules(std::int64_t amount, std::string_view unit);

// Averages between two samples; each absent one has its reason.
struct Rates {
  std::uint64_t window_ns = 0;
  std::optional<double> watts;
  std::optional<double> megahertz;  // while active
  std::string_view no_watts_reason;
  std::string_view no_megahertz_reason;
  bool has_decreased = false;  // a counter has decreased
};

// `clocks`: those of the active states in MHz, in the order of the states.
Rates compute_rates(const Counters& before, const Counters& now, std::span<const double> clocks);

// Decides which earlier sample to compare with: one at least a tenth of a second old, if there is
// one.
class CounterHistory {
 public:
  Rates add(Counters now, std::span<const double> clocks);
  void clear() noexcept { older_ = younger_ = {}; }

 private:
  Counters older_, younger_;  // time_ns 0: no sample
};

// GPU channels of IOReport, readable by any user.
class ChannelReader {
 public:
  // Returns false if there are no such channels.
  bool open(const Frameworks& frameworks);
  [[nodiscard]] Counters read() const;
  void close() noexcept;

 private:
  void add_channel(Cf channel, Counters& counters) const;

  const Frameworks* frameworks_ = nullptr;
  OwnedRef channels_;
  OwnedRef subscribed_channels_;
  OwnedRef subscription_;
};

}  // namespace hmn::metal
