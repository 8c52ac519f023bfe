// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/spawn_closing.hpp"

namespace hmn::platform {

// The kernel closes what no file action made.
short spawn_closing_flag() noexcept {
  return POSIX_SPAWN_CLOEXEC_DEFAULT;
}

int add_spawn_closing(posix_spawn_file_actions_t& /*actions*/) noexcept {
  return 0;
}

}  // namespace hmn::platform
