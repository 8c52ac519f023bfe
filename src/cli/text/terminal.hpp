// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/system/surroundings.hpp"
#include "cli/text/colour.hpp"

namespace hmn::cli {

// How to write text.
struct style {
  bool terminal = false;  // bars and columns; else plain lines
  bool colour = false;
  bool unicode = false;     // marks and bars past ASCII
  bool ascii_only = false;  // a terminal that shows nothing else
  unsigned width = 0;       // columns; 0: no limit
};

style choose_style(const surroundings& around, colour_choice choice) noexcept;

}  // namespace hmn::cli
