// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/thread_system.hpp"

#include <pthread.h>

namespace hmn::platform {

void name_own_thread(const char* name) noexcept {
  pthread_setname_np(pthread_self(), name);
}

// Does nothing: the library is linked with `-z nodelete`.
void stay_loaded() noexcept {}

}  // namespace hmn::platform
