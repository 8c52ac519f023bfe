// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What an outcome of running the tool means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/nvidia_smi/sentence.hpp"
#include "backends/nvidia_smi/tool.hpp"
#include "platform/subprocess.hpp"

namespace hmn::nvidia_smi {

// Why it has no answer at all; none when it has one.
std::optional<failure> why_no_answer(const platform::outcome& o, std::string_view path);

// It answered, and no table: its own words say why. The sentence is none when it said "no devices"
// and nothing else.
struct refusal {
  std::optional<failure> why;
  std::string field;  // that the tool does not know; empty: something else
};
refusal why_no_table(const platform::outcome& o, const stray_lines& strays);

// What is wrong although there is a table.
std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays);

// HMN_NATIVE_EXIT
native_code exit_of(const platform::outcome& o) noexcept;
bool is_cut(const platform::outcome& o) noexcept;

}  // namespace hmn::nvidia_smi
