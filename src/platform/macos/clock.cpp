// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/clock.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

namespace hmn::platform {
namespace {

// Limit of one nanosleep call, longer than any deadline here.
constexpr uint64_t longest_sleep = uint64_t{86400} * ns_per_second;

}  // namespace

// The time of mach_absolute_time, in nanoseconds. macOS's CLOCK_MONOTONIC runs on during a suspend.
uint64_t monotonic_ns() noexcept {
  return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

// The time of mach_continuous_time, in nanoseconds.
uint64_t continuous_ns() noexcept {
  return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
}

uint64_t unix_ns() noexcept {
  return clock_gettime_nsec_np(CLOCK_REALTIME);
}

uint64_t thread_cpu_ns() noexcept {
  return clock_gettime_nsec_np(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_ns(uint64_t duration) noexcept {
  const uint64_t start = monotonic_ns();
  for (uint64_t slept = 0; slept < duration; slept = monotonic_ns() - start) {
    const uint64_t left = std::min(duration - slept, longest_sleep);
    const timespec pause{static_cast<time_t>(left / ns_per_second),
                         static_cast<long>(left % ns_per_second)};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace hmn::platform
