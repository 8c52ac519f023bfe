// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

namespace hmn::platform {

bool has_pid_namespaces() noexcept {
  return true;
}

}  // namespace hmn::platform
