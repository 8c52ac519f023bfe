// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/command_tool/missing.hpp"

#include <utility>

namespace hmn::command_tool {

void add_missing(std::vector<missing>& to, std::uint32_t fields, status code,
                 const message_text& message) {
  for (missing& m : to) {
    if (m.code != code || m.message != message) continue;
    m.fields |= fields;
    return;
  }
  to.push_back({fields, code, message});
}

}  // namespace hmn::command_tool
