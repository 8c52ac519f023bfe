// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/backend.hpp"
#include "model/pool.hpp"

namespace hmn {

// Adds to a device's pools what only the host knows. A unified pool is the host's own memory: its
// total is the host's, and usable is what the host has available, an estimate; used stays the
// device's own. Then the limits of the caller's control groups apply.
void fill_from_host(pools& all, std::string_view pci_bus_id, host_source& host);

}  // namespace hmn
