// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <device>/gpu_metrics: a binary table of the firmware whose format is in its first four bytes
// (size, format and content revision; struct gpu_metrics_v1_3 and others in the kernel's
// kgd_pp_interface.h). Fields that a card does not fill are all ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

struct gpu_metrics {
  std::uint8_t format = 0;
  std::uint8_t content = 0;
  std::optional<std::uint64_t> throttle;           // status with the same bits on every card
  std::optional<std::uint32_t> regulator_celsius;  // hottest voltage regulator
  std::optional<double> media_percent;
  bool is_media_ambiguous = false;  // present, in a unit that depends on the firmware
  std::optional<double> energy_joules;
};

// Pure. Returns nothing for an unknown format or a torn file.
std::optional<gpu_metrics> parse_gpu_metrics(std::string_view bytes) noexcept;

// Pure. Returns bits of hmn::throttle (SMU_THROTTLER_… in amdgpu_smu.h).
std::uint32_t throttle_of(std::uint64_t independent_status) noexcept;

// Bits of the status for the temperatures of edge, hotspot and memory.
inline constexpr std::array<std::uint64_t, 3> hot_bits = {
    std::uint64_t{1} << 35, std::uint64_t{1} << 36, std::uint64_t{1} << 34};

// The error is sysfs::no_number for an unknown format or a torn file.
platform::errno_or<gpu_metrics> read_gpu_metrics(std::string_view device_folder) noexcept;
// Why the table cannot be used.
failure unread_metrics(int error, std::string_view device_folder);

}  // namespace hmn::amdgpu
