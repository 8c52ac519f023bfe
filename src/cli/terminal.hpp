// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

#include "cli/colour.hpp"

namespace hmn::cli {

// How to write text.
struct style {
  bool terminal = false;  // bars and columns; else plain lines
  bool colour = false;
  bool unicode = false;     // marks and bars past ASCII
  bool ascii_only = false;  // a terminal that shows nothing else
  unsigned width = 0;       // columns; 0: no limit
};

// What decides on it.
struct surroundings {
  bool is_terminal = false;
  unsigned columns = 0;  // 0: not known
  std::string_view term;
  std::string_view no_color;
  std::string_view locale;  // the first of LC_ALL, LC_CTYPE, LANG that is not empty
};

style choose_style(const surroundings& around, colour_choice choice) noexcept;
surroundings standard_output_surroundings() noexcept;

}  // namespace hmn::cli
