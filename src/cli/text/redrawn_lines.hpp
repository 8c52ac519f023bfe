// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hmn::cli {

// The last lines of a terminal, which later ones replace.
class redrawn_lines {
 public:
  // Returns what to write to show whole lines instead of the last ones.
  std::string replace(std::string_view lines);
  // Returns what to write to remove the last ones, so that other text can follow.
  std::string remove();

 private:
  std::size_t drawn_ = 0;
};

}  // namespace hmn::cli
