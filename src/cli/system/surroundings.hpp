// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

namespace hmn::cli {

// Environment that determines the format of text.
struct surroundings {
  bool is_terminal = false;
  unsigned columns = 0;  // 0: unknown
  unsigned lines = 0;    // 0: unknown
  std::string term;      // "dumb": no colours
  std::string no_color;
  std::string locale;  // the first nonempty one of LC_ALL, LC_CTYPE, LANG
};
surroundings standard_output_surroundings();

}  // namespace hmn::cli
