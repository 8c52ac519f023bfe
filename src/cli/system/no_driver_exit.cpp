// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdlib>

#include "cli/system/driver_exit.hpp"

namespace hmn::cli {

void outlive_driver_exits() noexcept {}

void end_now(int code) noexcept {
  std::_Exit(code);
}

}  // namespace hmn::cli
