// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/amd_tool/answer.hpp"
#include "model/json.hpp"

namespace hmn::amd_tool {

// Parses a pid: not 0, nor above what the kernel gives.
std::optional<std::uint32_t> pid_of(std::string_view text) noexcept;

// Parses rocm-smi's "name, cards, VRAM, SDMA, occupancy"; the name's blanks are printed as ", ",
// too.
process_row row_of_line(std::uint32_t pid, std::string_view line);

// Parses amd-smi's {"pid", "name", "memory_usage": {"vram_mem", …}}. Returns nothing without a pid.
std::optional<process_row> row_of_object(const json::object& o);

// Detects what only all rows together show: values in KiB times 1000, and values of a process that
// do not belong to one card. `from`: first row of this answer.
void check_processes(const dialect& d, answer& a, std::size_t from);

}  // namespace hmn::amd_tool
