// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

namespace hmn::platform {

void Mutex::lock() noexcept {
  pthread_mutex_lock(&native_);
}

bool Mutex::try_lock() noexcept {
  return pthread_mutex_trylock(&native_) == 0;
}

void Mutex::unlock() noexcept {
  pthread_mutex_unlock(&native_);
}

void Condition::notify_all() noexcept {
  pthread_cond_broadcast(&native_);
}

}  // namespace hmn::platform
