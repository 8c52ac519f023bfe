// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "backends/backend.hpp"
#include "platform/errno_or.hpp"

namespace hmn::dmem {

// Whether the groups in this one have the controller.
platform::errno_or<bool> is_divided(const std::string& group);

// What the groups below `root`, a folder of v2, hold: of each container, else of each group in
// which no other has the controller. A failure tells that some are missing in `out`.
result<void> survey(host_source& host, const std::string& root, group_memory& out);

}  // namespace hmn::dmem
