// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/drm/driver.hpp"

namespace hmn::amdgpu {

// <device>/hwmon/hwmon<N> of amdgpu; empty: there is none, or `error` is why it cannot be told.
std::string hwmon_of(const drm::card& c, int* error = nullptr);

// "temp2" of the sensor that is labelled so; the first one had no label before Linux 5.3. Empty:
// none.
std::string_view input_of(std::string_view hwmon, std::string_view kind, std::string_view label);

// The folder of the device whose link goes to the board's slot: not the card's own where there is a
// switch on it.
std::string_view slot_folder(const drm::card& c, std::string_view sys_root);

// `tells_throttle`: in, whether to look; out, whether the card's gpu_metrics has it.
result<void> read_telemetry(drm::visit& v, std::uint32_t fields, bool& tells_throttle,
                            hmn::telemetry& out);

// Appends what telemetry has no field for, and each instance of what it has.
void read_metrics(drm::visit& v, device_kind kind, bool slow, std::vector<metric>& out);

}  // namespace hmn::amdgpu
