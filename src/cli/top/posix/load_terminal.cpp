// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/module.hpp"
#include "cli/top/posix/module.hpp"

namespace hmn::cli::top {

expected<std::unique_ptr<terminal>> open_terminal(const std::string& kind, bool has_colour) {
  const auto loaded = HMN_LOAD("screen", hmn_screen_open);
  if (!loaded)
    return failed("no screen: " + loaded.why().message + "; --once and output to a pipe need none");
  expected<std::unique_ptr<terminal>> result = failed("");
  (*loaded)(&kind, has_colour, &result);
  return result;
}

}  // namespace hmn::cli::top
