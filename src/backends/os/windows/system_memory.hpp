// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::os {

result<void> read_system_memory(system_memory& out);

}  // namespace hmn::os
