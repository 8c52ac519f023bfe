// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/shared/mach/kernel.hpp"
#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::macos {

result<void> read_system_memory(const mach::kernel& k, system_memory& out);

}  // namespace hmn::macos
