// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn::platform {

inline constexpr uint64_t ns_per_ms = 1'000'000;
inline constexpr uint64_t ns_per_second = 1'000'000'000;

uint64_t monotonic_ns() noexcept;
uint64_t unix_ns() noexcept;
void sleep_ns(uint64_t duration) noexcept;

}  // namespace hmn::platform
