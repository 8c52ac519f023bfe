// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Identity of a device, read once and cached.
#pragma once

#include <optional>
#include <string_view>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/session.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// GPU data of the kernel driver in /proc/driver/nvidia. The parsers are pure. Reading the file
// wakes a sleeping GPU: the driver takes a runtime power reference on it.

// Views into the text; empty if missing.
struct GpuInformation {
  std::string_view model;
  std::string_view uuid;
};

// Parses gpus/<address>/information.
GpuInformation parse_information(std::string_view text) noexcept;

// Returns the driver version in `version`, of the proprietary or the open kernel module.
std::string_view parse_driver_version(std::string_view text) noexcept;

// Returns the name of an NVML_DEVICE_ARCH_* (nvml.h); empty for one that is unknown or not in it.
std::string_view find_architecture_name(unsigned number) noexcept;

// Fills everything but slot, driver_index and state. Returns the code that ends it early
// (gpu_is_lost, uninitialized), else success: other missing values are listed in device.gaps.
Code read_identity(const CallContext& context, Session& session, const Settings& settings,
                   Handle handle, KnownDevice& device);

// The same for a MIG instance of `parent`.
Code read_instance_identity(const CallContext& context, Session& session, const KnownDevice& parent,
                            Handle handle, KnownDevice& device);

// Identity of a GPU from files, while the library stays closed. If the GPU may sleep, only from
// files that wake nothing.
KnownDevice read_identity_from_files(const Settings& settings, const PciAddress& address,
                                     bool can_sleep);

// Reads NVML's UUID of a device; an instance's handle may have been reused.
Code read_uuid(const CallContext& context, const Session& session, Handle handle, Text<96>& out);

}  // namespace hmn::nvml
