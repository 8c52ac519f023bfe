// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the kernel driver tells of a GPU in /proc/driver/nvidia. Pure. Reading the file wakes a
// sleeping GPU: the driver takes a power reference for it.
#pragma once

#include <string_view>

namespace hmn::nvml {

// Views into the text; empty where it does not tell.
struct gpu_information {
  std::string_view model;
  std::string_view uuid;
};

// gpus/<address>/information
gpu_information parse_information(std::string_view text) noexcept;

// The driver's version in `version`, of the closed and the open kernel module alike.
std::string_view parse_driver_version(std::string_view text) noexcept;

}  // namespace hmn::nvml
