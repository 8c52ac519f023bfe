// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Interpretation of the tool's exit and output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/tool.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

// Message printed instead of a table: the tool writes its errors to stdout.
struct sentence : command_tool::sentence {
  std::string field;  // unknown to the tool
  text<32> bus_id;    // of the device; empty: none
};

// Returns nothing if the line is no known message.
std::optional<sentence> parse_sentence(std::string_view line);

// Reason for output without a table. `why` is empty if the output was only "no devices".
struct refusal {
  std::optional<failure> why;
  std::string field;  // unknown to the tool; empty: another reason
};
refusal why_no_table(const platform::outcome& o, const stray_lines& strays);

// Returns problems reported in addition to a table.
std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays);
failure too_many(std::size_t rows);

bool is_cut(const platform::outcome& o) noexcept;

}  // namespace hmn::nvidia_smi
