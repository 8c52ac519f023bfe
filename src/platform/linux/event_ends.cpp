// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/event_ends.hpp"

#include <sys/eventfd.h>

#include <cerrno>

namespace hmn::platform {

int open_event(int (&ends)[2]) noexcept {
  ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return ends[0] >= 0 ? 0 : errno;
}

}  // namespace hmn::platform
