// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/amd_tool/answer.hpp"
#include "model/json_value.hpp"

namespace hmn::amd_tool {

// rocm-smi: "name, cards, VRAM, SDMA, occupancy"; blanks of the name are ", " too.
process_row row_of_line(std::uint32_t pid, std::string_view line);

// amd-smi: {"pid", "name", "memory_usage": {"vram_mem", …}}. None without a pid.
std::optional<process_row> row_of_object(const json::object& o);

// What only all rows together show: figures in KiB times 1000, and figures of a process that are
// not of one card. `from`: the first row of this answer.
void check_processes(const dialect& d, answer& a, std::size_t from);

}  // namespace hmn::amd_tool
