// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/backend.hpp"
#include "model/pool.hpp"

namespace hmn {

// Adds to a device's pools what only the host knows. A unified pool is host memory: its total is
// the host's, usable is an estimate from the host's available memory, and used remains the
// device's. Limits of the caller's control groups apply afterwards.
void fill_from_host(pools& all, std::string_view pci_bus_id, host_source& host);

}  // namespace hmn
