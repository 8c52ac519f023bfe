// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/posix/file_at.hpp"

namespace hmn::platform {

// Bypasses the C library: ThreadSanitizer reports a race with the readers of the descriptor.
bool redirect(int to, int from) noexcept {
  return syscall(SYS_dup3, from, to, O_CLOEXEC) >= 0;
}

}  // namespace hmn::platform
