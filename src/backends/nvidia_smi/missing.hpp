// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/command_tool/missing.hpp"
#include "backends/nvidia_smi/rows.hpp"

namespace hmn::nvidia_smi {

using command_tool::add_missing;
using command_tool::missing;

// Says why `cell` gave no value: its own word, or that the tool has no such column.
void add_missing(std::vector<missing>& to, std::uint32_t field, status code, const gpu_cell& cell);

}  // namespace hmn::nvidia_smi
