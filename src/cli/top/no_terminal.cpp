// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {

Expected<std::unique_ptr<Terminal>> open_terminal(int, const std::string&, bool) {
  return make_failure("this hmn was built without curses: only --once and output to a pipe work");
}

}  // namespace hmn::cli::top
