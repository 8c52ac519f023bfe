// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/amd_tool/answer.hpp"
#include "model/json.hpp"

namespace hmn::amd_tool {

// Parses a pid; rejects 0 and what the kernel never gives.
std::optional<std::uint32_t> parse_pid(std::string_view text) noexcept;

// Parses rocm-smi's "name, cards, VRAM, SDMA, occupancy". It prints blanks in a name as ", ", too.
ProcessRow parse_line(std::uint32_t pid, std::string_view line);

// Parses amd-smi's {"pid", "name", "memory_usage": {"vram_mem", …}}. Returns nothing without a pid.
std::optional<ProcessRow> parse_object(const json::Object& object);

// Detects errors that only all rows together show: KiB that were multiplied by 1000, and values of
// a process that are not those of one card. `first_row`: of this answer.
void check_processes(const Dialect& dialect, Answer& answer, std::size_t first_row);

}  // namespace hmn::amd_tool
