// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of an amdgpu card that hold a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/driver.hpp"
#include "backends/drm/sensors.hpp"
#include "model/function_ref.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

inline constexpr failure_of fail{source::amdgpu};

// File of a value. `label`: `file` is the end of "temp2_crit", its start the input with that label.
struct value_file {
  std::string_view kind;
  std::string_view label;
  std::string_view file;
  drm::unit in;
};

// Returns nothing if there is no such file, or for the reason given to `refuse`.
std::optional<double> read_value(std::string_view folder, const value_file& f,
                                 function_ref<void(const failure&)> refuse);

// Same as sysfs::unreadable. amdgpu itself returns EPERM while the card is suspended or in a reset:
// its files are world-readable.
failure unread(int error, std::string_view folder, std::string_view file);

// Levels of pp_dpm_sclk, pp_dpm_mclk and others: "1: 900Mhz *", the star marks the current level.
// "S: 19Mhz *" is a deep sleep of the clock. Levels that are alike are all marked.

struct clock_levels {
  std::optional<std::uint32_t> current_mhz;
  std::optional<std::uint32_t> highest_mhz;
  bool is_ambiguous = false;  // levels that differ are marked
  int error = 0;              // ENOENT also for an empty file: the card has no such clock
};

// Pure. Skips lines of another form.
clock_levels parse_clock_levels(std::string_view text) noexcept;

clock_levels read_clock_levels(std::string_view folder, std::string_view file) noexcept;
// Why <folder>/<file> has no current level.
failure why_no_clock(const clock_levels& l, std::string_view folder, std::string_view file);

// Counters of ras/umc_err_count: "ue: 0" and "ce: 12", memory errors since the driver was loaded.

struct error_counts {
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrected;
};

// Pure. "Query currently inaccessible" has neither.
error_counts parse_error_counts(std::string_view text) noexcept;

}  // namespace hmn::amdgpu
