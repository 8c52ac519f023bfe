// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::nvidia_smi {

// What the tool says in words instead of a table: it writes its errors to stdout.
struct sentence {
  enum class about { tool, field, device, nothing, warning };

  about what = about::tool;
  status code = status::backend;
  std::string_view advice;  // what can be done
  std::string field;        // that the tool does not know
  std::string bus_id;       // of the device; empty when it names none
};

// None when the line is none of the tool's known sentences.
std::optional<sentence> parse_sentence(std::string_view line);

}  // namespace hmn::nvidia_smi
