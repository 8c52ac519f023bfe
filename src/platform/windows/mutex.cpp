// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/mutex.hpp"

#include <windows.h>

namespace hmn::platform {

static_assert(sizeof(SRWLOCK) == sizeof(void*) && alignof(SRWLOCK) == alignof(void*));

void mutex::lock() noexcept {
  AcquireSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&word_));
}

void mutex::unlock() noexcept {
  ReleaseSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&word_));
}

}  // namespace hmn::platform
