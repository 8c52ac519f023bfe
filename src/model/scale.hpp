// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn {

// Conversion of a source's unit to the library's own. Division keeps decimals exact where a factor
// below 1 would not: 58980 mW are 58.98 W.
struct Scale {
  std::int32_t multiplier = 1;
  std::int32_t divisor = 1;

  bool operator==(const Scale&) const = default;
  constexpr double apply(double value) const { return value * multiplier / divisor; }
};

inline constexpr Scale unscaled{};
inline constexpr Scale from_milli{1, 1'000};
inline constexpr Scale from_micro{1, 1'000'000};
inline constexpr Scale from_duty{100, 255};  // of a fan, to percent

}  // namespace hmn
