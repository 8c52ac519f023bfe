// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include "platform/process.hpp"

namespace hmn::platform {

bool is_privileged_start() noexcept {
  return issetugid() != 0;
}

}  // namespace hmn::platform
