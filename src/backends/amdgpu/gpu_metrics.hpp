// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <device>/gpu_metrics: a table of the firmware in a binary form that its first four bytes name
// (size, format and content revision; struct gpu_metrics_v1_3 and others of the kernel's
// kgd_pp_interface.h). What a card does not fill is all ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::amdgpu {

struct gpu_metrics {
  std::uint8_t format = 0;
  std::uint8_t content = 0;
  std::optional<std::uint32_t> throttle;           // bits of hmn::throttle
  std::optional<std::uint32_t> regulator_celsius;  // the hottest of the voltage regulators
  std::optional<std::uint32_t> media_percent;
  std::optional<double> energy_joules;
};

// Pure. Nothing: a form that is not known here, or a torn file.
std::optional<gpu_metrics> parse_gpu_metrics(std::string_view bytes) noexcept;

// Pure: the bits that mean the same on every card (SMU_THROTTLER_… of amdgpu_smu.h).
std::uint32_t throttle_of(std::uint64_t independent_status) noexcept;

std::optional<gpu_metrics> read_gpu_metrics(std::string_view device_folder) noexcept;

}  // namespace hmn::amdgpu
