// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn::cli {

inline constexpr double ns_per_s = 1e9;
inline constexpr std::uint64_t ns_per_ms = 1'000'000;
inline constexpr std::uint64_t mib = 1ull << 20;
// Deadline of periodic readings, which limits the delay by a driver that hangs.
inline constexpr std::uint32_t default_deadline_ms = 1000;

// Returns the sum, at most 2^64 - 1.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace hmn::cli
