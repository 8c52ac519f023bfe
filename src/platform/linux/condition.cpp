// SPDX-License-Identifier: MIT OR Apache-2.0
#include <time.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"

namespace hmn::platform {

condition::condition() noexcept {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&native_, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

bool condition::wait_until(std::unique_lock<mutex>& held, std::uint64_t deadline_ns) noexcept {
  // time_t may have 32 bits.
  constexpr std::uint64_t longest = INT32_MAX * ns_per_second;
  const std::uint64_t until = std::min(deadline_ns, longest);
  const timespec limit{static_cast<time_t>(until / ns_per_second),
                       static_cast<long>(until % ns_per_second)};
  pthread_cond_timedwait(&native_, &held.mutex()->native_, &limit);
  return monotonic_ns() < deadline_ns;
}

}  // namespace hmn::platform
