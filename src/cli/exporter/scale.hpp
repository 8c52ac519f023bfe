// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/text/decimal_point.hpp"

namespace hmn::cli {

// Conversion from one of the library's units to one of an exporter's, without a digit that the
// driver did not report.
struct scale {
  int decimals = 0;  // times 10 to the power of this
  double over = 1;   // a power of 2, which is exact

  double of(double value) const { return move_decimal_point(value / over, decimals); }
  constexpr bool is_one() const { return decimals == 0 && over == 1; }
};

constexpr scale from_percent{-2};
constexpr scale from_nanoseconds{-9};
constexpr scale from_megahertz{6};
constexpr scale to_millijoules{3};
constexpr scale to_mebibytes{0, 1 << 20};

}  // namespace hmn::cli
