// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of an amdgpu card that hold a number within known bounds.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/drm/driver.hpp"
#include "platform/errno_or.hpp"

namespace hmn::amdgpu {

// What a file holds, and the bounds outside of which it is no reading but an absent sensor's filler
// or garbage.
struct quantity {
  double unit;
  double least;
  double most;
};
inline constexpr quantity celsius{1e-3, -50, 250};  // of millidegrees
inline constexpr quantity watts{1e-6, 0, 10'000};   // of microwatts
inline constexpr quantity megahertz{1e-6, 0, 100'000};
inline constexpr quantity percent{1, 0, 100};
inline constexpr quantity duty_percent{100.0 / 255, 0, 100};
inline constexpr quantity rpm{1, 0, 30'000};
inline constexpr quantity volts{1e-3, 1e-3, 100};  // of millivolts; 0 of a gated rail is none

platform::errno_or<double> read_quantity(std::string_view folder, std::string_view file,
                                         const quantity& as) noexcept;

// As drm::unreadable. amdgpu answers EPERM itself, where the card was suspended or is in a reset:
// its files are for everybody to read.
failure unread(int error, std::string_view folder, std::string_view file);

}  // namespace hmn::amdgpu
