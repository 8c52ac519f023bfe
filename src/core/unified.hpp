// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/backend.hpp"

namespace hmn {

// A unified pool is the host's RAM: what its device cannot tell of it, the host can. Total is the
// host's; usable is what the host calls available, an estimate. Used stays the device's own.
void fill_unified(pools& all, host_source& host);

}  // namespace hmn
