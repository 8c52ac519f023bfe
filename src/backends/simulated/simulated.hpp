// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/backend.hpp"
#include "backends/registry.hpp"

namespace hmn {

// A machine that a file describes: it becomes the one source of devices, and host memory comes from
// it too unless the file leaves that to the real host.
void make_simulated(const settings& s, source_list& list);

}  // namespace hmn
