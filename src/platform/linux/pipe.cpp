// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "platform/clock.hpp"

namespace hmn::platform {

int open_pipe(int (&ends)[2]) noexcept {
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

int await_readable(int from, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ETIMEDOUT;
    const uint64_t left = deadline_ns - now;
    const timespec limit{static_cast<time_t>(left / ns_per_second),
                         static_cast<long>(left % ns_per_second)};
    pollfd waiting{from, POLLIN, 0};
    const int ready = ppoll(&waiting, 1, deadline_ns == UINT64_MAX ? nullptr : &limit, nullptr);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

}  // namespace hmn::platform
