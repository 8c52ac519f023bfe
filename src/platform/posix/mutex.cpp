// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

namespace hmn::platform {

void mutex::lock() noexcept {
  pthread_mutex_lock(&native_);
}

bool mutex::try_lock() noexcept {
  return pthread_mutex_trylock(&native_) == 0;
}

void mutex::unlock() noexcept {
  pthread_mutex_unlock(&native_);
}

void condition::notify_all() noexcept {
  pthread_cond_broadcast(&native_);
}

}  // namespace hmn::platform
