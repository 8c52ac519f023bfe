// SPDX-License-Identifier: MIT OR Apache-2.0
#include <time.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"

namespace hmn::platform {

Condition::Condition() noexcept {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  is_monotonic_ = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0;
  pthread_cond_init(&native_, &attributes);
  pthread_condattr_destroy(&attributes);
}

bool Condition::wait_until(std::unique_lock<Mutex>& lock, std::uint64_t deadline_ns) noexcept {
  // time_t may have 32 bits.
  constexpr std::uint64_t max_deadline = INT32_MAX * ns_per_second;
  std::uint64_t deadline = std::min(deadline_ns, max_deadline);
  if (!is_monotonic_) {
    // The wall clock may be set meanwhile, so wait for a short slice only.
    constexpr std::uint64_t slice = 100 * ns_per_ms;
    const std::uint64_t now = monotonic_ns();
    deadline = unix_ns() + std::min(deadline_ns - std::min(now, deadline_ns), slice);
  }
  const timespec limit{static_cast<time_t>(deadline / ns_per_second),
                       static_cast<long>(deadline % ns_per_second)};
  pthread_cond_timedwait(&native_, &lock.mutex()->native_, &limit);
  return monotonic_ns() < deadline_ns;
}

}  // namespace hmn::platform
