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

uint64_t monotonic_ns() noexcept;
uint64_t unix_ns() noexcept;
// Processor time of the calling thread.
uint64_t thread_used_ns() noexcept;
void sleep_ns(uint64_t duration) noexcept;

}  // namespace hmn::platform
