// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/auxv.h>

#include "platform/process.hpp"

namespace hmn::platform {

bool is_privileged_start() noexcept {
  return getauxval(AT_SECURE) != 0;
}

}  // namespace hmn::platform
