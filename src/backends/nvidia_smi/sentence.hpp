// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/command_tool/verdict.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

// What the tool says in words instead of a table: it writes its errors to stdout.
struct sentence : command_tool::sentence {
  std::string field;  // that the tool does not know
  text<32> bus_id;    // of the device; empty when it names none
};

// None when the line is none of the tool's known sentences.
std::optional<sentence> parse_sentence(std::string_view line);

}  // namespace hmn::nvidia_smi
