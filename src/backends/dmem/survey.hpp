// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "platform/file.hpp"
#include "source/interface.hpp"

namespace hmn::dmem {

// Whether the controller is enabled for this group's children.
platform::errno_or<bool> is_divided(const std::string& group);

// Usage of the groups below `root`, a folder of v2: of each container, else of each group in which
// no other has the controller. On failure some are missing in `out`.
result<void> survey(host_source& host, const std::string& root, group_memory& out);

}  // namespace hmn::dmem
