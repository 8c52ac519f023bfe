// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace hmn::platform {

inline constexpr uint64_t ns_per_ms = 1'000'000;
inline constexpr uint64_t ns_per_second = 1'000'000'000;

// Time and duration without end.
inline constexpr uint64_t no_deadline = UINT64_MAX;

// Returns time + duration, at most no_deadline.
constexpr uint64_t add_duration(uint64_t time, uint64_t duration) noexcept {
  return time + std::min(duration, no_deadline - time);
}

// Stops while the machine is suspended: for deadlines, waits, intervals and windows of rates.
uint64_t monotonic_ns() noexcept;
// Runs on while the machine is suspended: for ages.
uint64_t continuous_ns() noexcept;
uint64_t unix_ns() noexcept;
// Processor time of the calling thread.
uint64_t thread_cpu_ns() noexcept;
void sleep_ns(uint64_t duration) noexcept;

// Returns the difference of the two clocks, modulo 2^64. It changes while the machine is
// suspended. If the thread is preempted between the two readings, they are repeated.
inline uint64_t suspended_ns() noexcept {
  constexpr int max_tries = 10;
  for (int tries = 1;; ++tries) {
    const uint64_t before = monotonic_ns();
    const uint64_t now = continuous_ns();
    if (monotonic_ns() - before < ns_per_ms || tries == max_tries) return now - before;
  }
}

// Returns whether the machine was suspended between two calls of suspended_ns(): then a rate covers
// neither the time awake nor the whole interval.
constexpr bool was_suspended(uint64_t before, uint64_t now) noexcept {
  constexpr uint64_t tolerance = 10 * ns_per_ms;
  return std::min(now - before, before - now) > tolerance;
}

}  // namespace hmn::platform
