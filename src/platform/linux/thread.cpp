// SPDX-License-Identifier: MIT OR Apache-2.0
#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "platform/posix/thread.hpp"

namespace hmn::platform {

void name_own_thread(const char* name) noexcept {
  pthread_setname_np(pthread_self(), name);
}

// The library is linked with `-z nodelete`.
void stay_loaded() noexcept {}

int open_event(int (&ends)[2]) noexcept {
  ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return ends[0] >= 0 ? 0 : errno;
}

}  // namespace hmn::platform
