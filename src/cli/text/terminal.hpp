// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

#include "cli/system/environment.hpp"
#include "cli/text/colour.hpp"

namespace hmn::cli {

// Style of text output.
struct style {
  bool terminal = false;  // bars and columns; else plain lines
  bool colour = false;
  bool unicode = false;     // marks and bars beyond ASCII
  bool ascii_only = false;  // the terminal shows ASCII only
  unsigned width = 0;       // columns; 0: no limit
  unsigned height = 0;      // lines that can be written over; 0: none can
};

// Returns the mark of shortened text.
inline std::string_view ellipsis_of(const style& as) noexcept {
  return as.unicode ? "\u2026" : "...";
}

style choose_style(const surroundings& around, colour_choice choice) noexcept;

}  // namespace hmn::cli
