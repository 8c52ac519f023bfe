// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPU data of one row of the tool's table.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/nvidia_smi/rows.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/device.hpp"
#include "model/function_ref.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"

namespace hmn::nvidia_smi {

using command_tool::add_missing;
using command_tool::missing;

// Reports why `cell` has no value: its text, or that the tool lacks the column.
void add_missing(std::vector<missing>& to, std::uint32_t field, status code, const gpu_cell& cell);

// Leaves `number` unset.
device identity_of(const gpu_row& row);
bool is_mig_on(const gpu_row& row);

result<pool> pool_of(const gpu_row& row, std::vector<missing>& gone);

// Fields that the table has no column for.
inline constexpr std::uint32_t never_in_table =
    telemetry_field::hotspot_celsius | telemetry_field::energy_joules | telemetry_field::fan_rpm |
    telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes | telemetry_field::window_ns;

// `fields`: telemetry_field bits.
telemetry telemetry_of(const gpu_row& row, std::uint32_t fields, std::vector<missing>& gone);

// Appends each metric with a value. `refused` gets those whose cell has an error, except that the
// GPU does not support the metric.
void metrics_of(const gpu_row& row, std::vector<metric>& out,
                function_ref<void(metric_id, status, const gpu_cell&)> refused);

}  // namespace hmn::nvidia_smi
