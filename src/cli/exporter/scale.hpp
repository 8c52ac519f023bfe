// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Scale from one of the library's units to one of Prometheus' base units. Division keeps decimals
// exact where a factor below 1 would not: 81234000000 ns are 81.234 s.
struct scale {
  double times = 1;
  double over = 1;

  constexpr double of(double value) const { return value * times / over; }
  constexpr bool is_one() const { return times == over; }
};

constexpr scale from_percent{1, 100};
constexpr scale from_nanoseconds{1, 1e9};
constexpr scale from_megahertz{1e6, 1};

}  // namespace hmn::cli
