// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/event_ends.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace hmn::platform {

int open_event(int (&ends)[2]) noexcept {
  if (pipe(ends) != 0) return errno;
  bool is_set = true;
  for (const int end : ends) {
    is_set = is_set && fcntl(end, F_SETFD, FD_CLOEXEC) == 0 &&
             fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) == 0;
  }
  if (is_set && fcntl(ends[1], F_SETNOSIGPIPE, 1) == 0) return 0;
  const int error = errno;
  for (const int end : ends) ::close(end);
  return error;
}

}  // namespace hmn::platform
