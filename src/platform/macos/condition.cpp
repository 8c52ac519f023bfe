// SPDX-License-Identifier: MIT OR Apache-2.0
#include <time.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"

namespace hmn::platform {

Condition::Condition() noexcept = default;

// macOS's condition variables know no clock but the wall's, but they can wait for a duration.
bool Condition::wait_until(std::unique_lock<Mutex>& lock, std::uint64_t deadline_ns) noexcept {
  constexpr std::uint64_t max_wait = 86'400 * ns_per_second;
  const std::uint64_t now = monotonic_ns();
  if (now >= deadline_ns) return false;
  const std::uint64_t left = std::min(deadline_ns - now, max_wait);
  const timespec limit{static_cast<time_t>(left / ns_per_second),
                       static_cast<long>(left % ns_per_second)};
  pthread_cond_timedwait_relative_np(&native_, &lock.mutex()->native_, &limit);
  return monotonic_ns() < deadline_ns;
}

}  // namespace hmn::platform
