// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <sys/auxv.h>

namespace hmn::platform {

bool has_pid_namespaces() noexcept {
  return true;
}

bool is_privileged_start() noexcept {
  return getauxval(AT_SECURE) != 0;
}

}  // namespace hmn::platform
