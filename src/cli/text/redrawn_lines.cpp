// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/redrawn_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli {

std::string redrawn_lines::remove() {
  const auto drawn = drawn_;
  drawn_ = 0;
  // ECMA-48: cursor up, erase to the end of the screen.
  return drawn == 0 ? std::string() : fmt::format("\r\x1b[{}A\x1b[J", drawn);
}

std::string redrawn_lines::replace(std::string_view lines) {
  auto out = remove();
  drawn_ = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  return out.append(lines);
}

}  // namespace hmn::cli
