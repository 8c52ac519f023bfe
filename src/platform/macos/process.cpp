// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <unistd.h>

namespace hmn::platform {

bool has_pid_namespaces() noexcept {
  return false;
}

bool is_privileged_start() noexcept {
  return issetugid() != 0;
}

}  // namespace hmn::platform
