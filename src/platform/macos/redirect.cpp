// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "platform/posix/file_at.hpp"

namespace hmn::platform {

// Emulates dup3: a program that the host starts between the two steps can read the same input.
bool redirect(int to, int from) noexcept {
  if (dup2(from, to) < 0) return false;
  fcntl(to, F_SETFD, FD_CLOEXEC);
  return true;
}

}  // namespace hmn::platform
