// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the GPU's own counters say between two readings: pure functions of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/values.hpp"

namespace hmn::metal {

// How long the GPU was in a state, in ticks of its own; ever growing.
struct residency {
  std::string state;
  std::int64_t ticks = 0;
};

// One look at the counters.
struct counters {
  std::uint64_t at_ns = 0;
  std::optional<double> joules;  // ever growing
  std::string odd_unit;          // of an energy that is not told because of it
  std::vector<residency> states;
};

// nJ, uJ or mJ; none: it is another unit.
std::optional<double> joules_of(std::int64_t amount, std::string_view unit);

// Averages over the window between two looks; what is absent has its reason.
struct rates {
  std::uint64_t window_ns = 0;
  std::optional<double> watts;
  std::optional<double> megahertz;  // while it ran
  std::string_view no_watts;
  std::string_view no_megahertz;
  bool went_back = false;  // a counter is below what it was
};

// `clocks` in MHz, those of the states in which the GPU runs, in their order.
rates compare(const counters& before, const counters& now, std::span<const double> clocks);

// Keeps what the next look is compared with: one a tenth of a second ago where there is one.
class counter_history {
 public:
  rates add(counters now, std::span<const double> clocks);
  void clear() noexcept { older_ = younger_ = {}; }

 private:
  counters older_, younger_;  // at_ns 0: none
};

// The GPU's channels of IOReport, which any user may read.
class report {
 public:
  // False: there are no such channels.
  bool open(const frameworks& f);
  [[nodiscard]] counters read() const;
  void close() noexcept;

 private:
  void take(cf channel, counters& into) const;

  const frameworks* f_ = nullptr;
  owned channels_;
  owned subscribed_;
  owned subscription_;
};

}  // namespace hmn::metal
