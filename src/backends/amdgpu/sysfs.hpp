// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of an amdgpu card that hold a number within known bounds.
#pragma once

#include <cstdint>
#include <optional>
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

// pp_dpm_sclk, pp_dpm_mclk and alike: "1: 900Mhz *", the star at the level in use. "S: 19Mhz *" is
// a deep sleep of the clock.

struct clock_levels {
  std::optional<std::uint32_t> current_mhz;  // absent: no star, or more than one
  std::optional<std::uint32_t> highest_mhz;
};

// Pure. Lines of another form are left out.
clock_levels parse_clock_levels(std::string_view text) noexcept;

// Of <folder>/<file>; nothing where it is not there.
clock_levels read_clock_levels(std::string_view folder, std::string_view file) noexcept;

// ras/umc_err_count: "ue: 0" and "ce: 12", errors of the memory since the driver was loaded.

struct error_counts {
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrected;
};

// Pure. "Query currently inaccessible" tells neither.
error_counts parse_error_counts(std::string_view text) noexcept;

}  // namespace hmn::amdgpu
