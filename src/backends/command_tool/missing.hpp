// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/failure.hpp"

namespace hmn::command_tool {

// Fields without a value, similar ones grouped.
struct missing {
  std::uint32_t fields = 0;
  status code = status::unsupported;
  message_text message;
};

void add_missing(std::vector<missing>& to, std::uint32_t fields, status code,
                 const message_text& message);

}  // namespace hmn::command_tool
