// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/processes.hpp"
#include "model/usage.hpp"

namespace hmn::nvml {

// A figure that the driver does not tell, or that is larger than the device, is absent with a
// remark.
void fill_usage(const topic& t, const known_device& of, const merged_process& from, usage& out);

// The caller uses nothing.
void fill_zero(std::uint32_t pid, usage& out) noexcept;

// Says which lists are missing from the rows, and how many rows.
void remark_lists(const topic& t, const list_outcome& outcome);

}  // namespace hmn::nvml
