// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/clock.hpp"

#include <time.h>

#include <cerrno>

namespace hmn::platform {
namespace {

uint64_t read_clock(clockid_t clock_id) noexcept {
  timespec now{};
  clock_gettime(clock_id, &now);
  return static_cast<uint64_t>(now.tv_sec) * ns_per_second + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t continuous_ns() noexcept {
  return read_clock(CLOCK_BOOTTIME);
}

uint64_t unix_ns() noexcept {
  return read_clock(CLOCK_REALTIME);
}

uint64_t thread_cpu_ns() noexcept {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_ns(uint64_t duration) noexcept {
  const uint64_t deadline = add_duration(monotonic_ns(), duration);
  timespec end{};
  end.tv_sec = static_cast<time_t>(deadline / ns_per_second);
  end.tv_nsec = static_cast<long>(deadline % ns_per_second);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

}  // namespace hmn::platform
