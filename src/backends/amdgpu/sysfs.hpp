// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of an amdgpu card that hold a number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/driver.hpp"
#include "backends/drm/sensors.hpp"
#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

inline constexpr FailureFactory fail{Source::amdgpu};

// File with a value. `label`: `file` is the end of "temp2_crit"; its start is the input with that
// label.
struct ValueFile {
  std::string_view kind;
  std::string_view label;
  std::string_view file;
  drm::Unit unit;
};

// Returns nothing if there is no such file, or for the reason given to `refuse`.
std::optional<double> read_value(std::string_view folder, const ValueFile& value_file,
                                 FunctionRef<void(const Failure&)> refuse);

// As sysfs::make_file_failure(). amdgpu itself returns EPERM while the card is suspended or being
// reset: its files are world-readable.
Failure make_unread_failure(int error, std::string_view folder, std::string_view file);

// Levels of pp_dpm_sclk, pp_dpm_mclk and others: "1: 900Mhz *", where the star marks the current
// level. "S: 19Mhz *" is a deep sleep of the clock. Equal levels are all marked.
struct ClockLevels {
  std::optional<std::uint32_t> current_mhz;
  std::optional<std::uint32_t> max_mhz;
  bool is_ambiguous = false;  // different levels are marked
  int error = 0;              // ENOENT also for an empty file: the card has no such clock
};

// Pure. Skips lines of another form.
ClockLevels parse_clock_levels(std::string_view text) noexcept;

ClockLevels read_clock_levels(std::string_view folder, std::string_view file) noexcept;
// Makes the failure for <folder>/<file> without a current level.
Failure make_no_clock_failure(const ClockLevels& levels, std::string_view folder,
                              std::string_view file);

// ras/umc_err_count: "ue: 0" and "ce: 12", memory errors since the driver was loaded.
struct ErrorCounts {
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrected;
};

// Pure. "Query currently inaccessible" has neither.
ErrorCounts parse_error_counts(std::string_view text) noexcept;

// <device>/gpu_metrics: a binary table of the firmware whose first four bytes are its format (size,
// format and content revision; struct gpu_metrics_v1_3 and others in the kernel's
// kgd_pp_interface.h). Fields that a card does not fill have all bits set.
struct GpuMetrics {
  std::uint8_t format = 0;
  std::uint8_t content = 0;
  std::optional<std::uint64_t> throttle;           // with the same bits on every card
  std::optional<std::uint32_t> regulator_celsius;  // hottest voltage regulator
  std::optional<double> media_percent;
  bool is_media_ambiguous = false;  // present, in a unit that depends on the firmware
  std::optional<double> energy_joules;
};

// Pure. Returns nothing for an unknown format or a torn file.
std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes) noexcept;

// Pure. Returns bits of hmn::throttle (SMU_THROTTLER_… in amdgpu_smu.h).
std::uint32_t convert_throttle(std::uint64_t independent_status) noexcept;

// Bits of the status for the temperatures of edge, hotspot and memory.
inline constexpr std::array<std::uint64_t, 3> hot_bits = {
    std::uint64_t{1} << 35, std::uint64_t{1} << 36, std::uint64_t{1} << 34};

// The error is sysfs::no_number for an unknown format or a torn file.
platform::ErrnoOr<GpuMetrics> read_gpu_metrics(std::string_view device_folder) noexcept;
// Makes the failure for a table that cannot be used.
Failure make_unread_metrics_failure(int error, std::string_view device_folder);

}  // namespace hmn::amdgpu
