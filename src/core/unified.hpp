// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/backend.hpp"

namespace hmn {

// A unified pool is the host's RAM: what its device cannot tell of it, the host can. Total is the
// host's; usable is what the host calls available, an estimate. Used stays the device's own.
void fill_unified(pools& all, host_source& host);

// That, and what the system allows of the pools of the device with this PCI address.
void fill_from_host(pools& all, std::string_view pci_bus_id, host_source& host);

}  // namespace hmn
