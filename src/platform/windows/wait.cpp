// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/wait.hpp"

#include <windows.h>

#include <algorithm>

#include "platform/clock.hpp"

namespace hmn::platform {
namespace {

// Wait place shared by several words. WaitOnAddress would need none, but is in a library of its
// own, which a program without threads of ours need not load.
struct place {
  SRWLOCK lock;
  CONDITION_VARIABLE changed;
};
constexpr size_t places = 32;
constinit place all[places] = {};  // of zeros, as SRWLOCK_INIT and CONDITION_VARIABLE_INIT are

place& place_of(const std::atomic<uint32_t>& word) noexcept {
  return all[reinterpret_cast<uintptr_t>(&word) / sizeof word % places];
}

class guard {
 public:
  explicit guard(place& p) noexcept : place_(p) { AcquireSRWLockExclusive(&place_.lock); }
  guard(const guard&) = delete;
  ~guard() { ReleaseSRWLockExclusive(&place_.lock); }

 private:
  place& place_;
};

DWORD milliseconds_until(uint64_t deadline_ns) noexcept {
  if (deadline_ns == no_deadline) return INFINITE;
  constexpr uint64_t longest = 1'000'000'000;  // below INFINITE
  const uint64_t now = monotonic_ns();
  const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return static_cast<DWORD>(std::min(left / ns_per_ms + (left % ns_per_ms != 0), longest));
}

}  // namespace

wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept {
  place& here = place_of(word);
  const guard held(here);
  while (word.load(std::memory_order_acquire) == expected) {
    const DWORD left = milliseconds_until(deadline_ns);
    if (left == 0) return wake::timed_out;
    SleepConditionVariableSRW(&here.changed, &here.lock, left, 0);
  }
  return wake::changed;
}

// Wakes all waiters, since words share a place. A waiter that found the old value under the lock
// sleeps by the time that it is taken here; a later one finds the new value.
void wake_all(std::atomic<uint32_t>& word) noexcept {
  place& here = place_of(word);
  { const guard held(here); }
  WakeAllConditionVariable(&here.changed);
}

void wake_one(std::atomic<uint32_t>& word) noexcept {
  wake_all(word);
}

}  // namespace hmn::platform
