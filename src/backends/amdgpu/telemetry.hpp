// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/drm/driver.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

// <device>/hwmon/hwmon<N> of amdgpu; empty if there is none, or if it is unreadable: then with
// `error`.
std::string find_card_hwmon(const drm::Card& card, int* error = nullptr);

// Returns "temp2" for the sensor with this label; the first one had no label before Linux 5.3.
// Empty: none; with an error, it may be one whose label could not be read.
platform::ErrnoOr<std::string_view> find_labelled_input(std::string_view hwmon,
                                                        std::string_view kind,
                                                        std::string_view label);

// Makes the failure for a power of 0 W, which is no measurement.
Failure make_no_power_failure();

// Folder of the device at the slot: if the card has a switch, that is not the card itself.
std::string_view slot_folder(const drm::Card& card, std::string_view sys_root);

// `format_without_throttle`: the format of the card's gpu_metrics if that lacks throttling and need
// not be read again; 0: unknown.
Result<void> read_telemetry(drm::Visit& visit, FieldSet fields,
                            std::uint32_t& format_without_throttle, hmn::Telemetry& out);

// Appends metrics that are no telemetry field, and each instance of those that are.
void read_metrics(drm::Visit& visit, DeviceForm form, bool include_slow, std::vector<Metric>& out);

}  // namespace hmn::amdgpu
