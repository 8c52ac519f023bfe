// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Returns the value times 10 to the power of `places`, by moving the decimal point of its shortest
// numeral: no digit appears that it did not have, as 1.001 * 1000 = 1000.9999999999999 does.
double move_decimal_point(double value, int places);

}  // namespace hmn::cli
