// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/fork.hpp"

namespace hmn::platform {

// Windows copies no process.
uint64_t process_generation() noexcept {
  return 1;
}

}  // namespace hmn::platform
