// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/spawn_closing.hpp"

#include <unistd.h>

namespace hmn::platform {

short spawn_closing_flag() noexcept {
  return 0;
}

int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept {
  return posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
}

}  // namespace hmn::platform
