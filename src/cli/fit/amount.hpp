// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace hmn::cli::fit {

// Saturation value: sizes in a file can exceed 64 bits. Sums and products stay at this maximum,
// which every consumer rejects.
constexpr std::uint64_t too_much = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 && b > too_much / a ? too_much : a * b;
}
template <class... Rest>
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b, Rest... rest) noexcept {
  return times(times(a, b), static_cast<std::uint64_t>(rest)...);
}
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
  return b > too_much - a ? too_much : a + b;
}
template <class... Rest>
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b, Rest... rest) noexcept {
  return plus(plus(a, b), static_cast<std::uint64_t>(rest)...);
}
constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t by) noexcept {
  return a / by + (a % by != 0 ? 1 : 0);
}

}  // namespace hmn::cli::fit
