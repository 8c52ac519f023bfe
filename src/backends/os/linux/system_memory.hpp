// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::os {

result<void> read_system_memory(const std::string& proc_root, const std::string& cgroup_root,
                                system_memory& out);

}  // namespace hmn::os
