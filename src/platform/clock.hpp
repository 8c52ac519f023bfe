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
constexpr uint64_t later(uint64_t time, uint64_t duration) noexcept {
  return time + std::min(duration, no_deadline - time);
}

// Stops while the machine is suspended: for deadlines, waits, intervals and windows of rates.
uint64_t monotonic_ns() noexcept;
// Runs on while the machine is suspended: for ages.
uint64_t continuous_ns() noexcept;
uint64_t unix_ns() noexcept;
// Processor time of the calling thread.
uint64_t thread_used_ns() noexcept;
void sleep_ns(uint64_t duration) noexcept;

// Returns by how much the two clocks are apart, modulo 2^64. It changes while the machine is
// suspended. The thread may be held up between the readings of the two: then they are repeated.
inline uint64_t suspended_ns() noexcept {
  constexpr int most_tries = 10;
  for (int tries = 1;; ++tries) {
    const uint64_t before = monotonic_ns();
    const uint64_t now = continuous_ns();
    if (monotonic_ns() - before < ns_per_ms || tries == most_tries) return now - before;
  }
}

// Returns whether the machine was suspended between two calls of suspended_ns(): a rate would be
// that of neither the time awake nor all of it.
constexpr bool was_suspended(uint64_t before, uint64_t now) noexcept {
  constexpr uint64_t inexact = 10 * ns_per_ms;
  return std::min(now - before, before - now) > inexact;
}

}  // namespace hmn::platform
