// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/thread_name.hpp"

#include <pthread.h>

namespace hmn::platform {

void name_own_thread(const char* name) noexcept {
  pthread_setname_np(name);
}

}  // namespace hmn::platform
