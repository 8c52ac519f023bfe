// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a row of the tool's table says about its GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/nvidia_smi/missing.hpp"
#include "backends/nvidia_smi/rows.hpp"
#include "model/device.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"

namespace hmn::nvidia_smi {

// `number` is left alone.
device identity_of(const gpu_row& row);
bool is_mig_on(const gpu_row& row);

result<pool> pool_of(const gpu_row& row, std::vector<missing>& gone);

// `fields`: telemetry_field bits.
telemetry telemetry_of(const gpu_row& row, std::uint32_t fields, std::vector<missing>& gone);

}  // namespace hmn::nvidia_smi
