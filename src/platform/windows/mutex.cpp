// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

#include <windows.h>

#include <algorithm>

#include "platform/clock.hpp"

namespace hmn::platform {
namespace {

static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(CONDITION_VARIABLE) == sizeof(void*));

SRWLOCK* native_lock(void*& native) noexcept {
  return reinterpret_cast<SRWLOCK*>(&native);
}

CONDITION_VARIABLE* native_condition(void*& native) noexcept {
  return reinterpret_cast<CONDITION_VARIABLE*>(&native);
}

}  // namespace

void Mutex::lock() noexcept {
  AcquireSRWLockExclusive(native_lock(native_));
}

bool Mutex::try_lock() noexcept {
  return TryAcquireSRWLockExclusive(native_lock(native_)) != 0;
}

void Mutex::unlock() noexcept {
  ReleaseSRWLockExclusive(native_lock(native_));
}

Condition::Condition() noexcept = default;

bool Condition::wait_until(std::unique_lock<Mutex>& lock, std::uint64_t deadline_ns) noexcept {
  constexpr std::uint64_t max_wait_ms = 86'400'000;
  const std::uint64_t now = monotonic_ns();
  if (now >= deadline_ns) return false;
  const std::uint64_t left = deadline_ns - now;
  const std::uint64_t left_ms = std::min(left / ns_per_ms + (left % ns_per_ms != 0), max_wait_ms);
  SleepConditionVariableSRW(native_condition(native_), native_lock(lock.mutex()->native_),
                            static_cast<DWORD>(left_ms), 0);
  return monotonic_ns() < deadline_ns;
}

void Condition::notify_all() noexcept {
  WakeAllConditionVariable(native_condition(native_));
}

}  // namespace hmn::platform
