// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Who a device is, asked once and kept.
#pragma once

#include <optional>
#include <string_view>

#include "backends/backend.hpp"
#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"

namespace hmn::nvml {

// What the kernel driver tells of a GPU in /proc/driver/nvidia. Pure. Reading the file wakes a
// sleeping GPU: the driver takes a power reference for it.

// Views into the text; empty where it does not tell.
struct gpu_information {
  std::string_view model;
  std::string_view uuid;
};

// gpus/<address>/information
gpu_information parse_information(std::string_view text) noexcept;

// The driver's version in `version`, of the closed and the open kernel module alike.
std::string_view parse_driver_version(std::string_view text) noexcept;

// Fills everything but number, driver_index and state. Answers the code that makes it pointless
// (gpu_is_lost, uninitialized), else success: what else is missing stands in out.gaps.
code read_identity(const topic& t, session& s, const settings& paths, handle h, known_device& out);

// The same for a MIG instance of `parent`.
code read_instance_identity(const topic& t, session& s, const known_device& parent, handle h,
                            known_device& out);

// Of a GPU whose driver library stays closed, from files alone; from those that wake nothing if it
// may sleep.
known_device identity_from_files(const settings& paths, const pci_address& address, bool may_sleep);

// NVML's name of an instance, whose handle may mean another one by now.
code read_uuid(const topic& t, const session& s, handle h, text<96>& out);

}  // namespace hmn::nvml
