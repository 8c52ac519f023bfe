// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What an outcome of running the tool means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/command_tool/verdict.hpp"
#include "backends/nvidia_smi/tool.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

// What the tool says in words instead of a table: it writes its errors to stdout.
struct sentence : command_tool::sentence {
  std::string field;  // that the tool does not know
  text<32> bus_id;    // of the device; empty when it names none
};

// None when the line is none of the tool's known sentences.
std::optional<sentence> parse_sentence(std::string_view line);

// It answered, and no table: its own words say why. The sentence is none when it said "no devices"
// and nothing else.
struct refusal {
  std::optional<failure> why;
  std::string field;  // that the tool does not know; empty: something else
};
refusal why_no_table(const platform::outcome& o, const stray_lines& strays);

// What is wrong although there is a table.
std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays);
failure too_many(std::size_t rows);

bool is_cut(const platform::outcome& o) noexcept;

}  // namespace hmn::nvidia_smi
