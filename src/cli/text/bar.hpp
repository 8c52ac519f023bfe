// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

namespace hmn::cli {

// Draws "[####----]" with `cells` inside the brackets. Only 0 is empty and only 1 is full.
std::string draw_bar(double fraction, unsigned cells, bool unicode);

}  // namespace hmn::cli
