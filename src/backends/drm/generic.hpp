// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// Reads the kernel's common interfaces: hwmon, devfreq, the PCIe link, and load from the engines of
// clients.
Result<void> read_sensors(Visit& visit, FieldSet fields, hmn::Telemetry& out);

// The same values, and the limits of temperature and clock, by instance.
void read_metrics(Visit& visit, std::vector<Metric>& out);

// For drivers without code of their own: nouveau, msm, panfrost, panthor, v3d, asahi, virtio,
// accelerators.
std::unique_ptr<Driver> make_generic();

}  // namespace hmn::drm
