// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

namespace hmn::cli {

// What decides on how text is written.
struct surroundings {
  bool is_terminal = false;
  unsigned columns = 0;  // 0: not known
  std::string term;      // "dumb": takes no colours
  std::string no_color;
  std::string locale;  // the first of LC_ALL, LC_CTYPE, LANG that is not empty
};
surroundings standard_output_surroundings();

}  // namespace hmn::cli
