// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include "model/plausible.hpp"

namespace hmn {
namespace {

void fill_unified(pools& all, host_source& host) {
  for (pool& p : all.all()) {
    if (p.kind != pool_kind::unified || (p.total && p.usable)) continue;
    system_memory system;
    if (!host.system(system)) return;
    drop_implausible(system, drop_silently);
    if (!p.total && system.total) {
      p.total = system.total;
      p.notes |= note::mixed;
    }
    if (!p.usable && system.available) {
      p.usable = system.available;
      p.notes |= note::mixed | note::estimated;
    }
  }
}

}  // namespace

void fill_from_host(pools& all, std::string_view pci_bus_id, host_source& host) {
  if (all.empty()) return;
  fill_unified(all, host);
  if (!pci_bus_id.empty()) host.limit(pci_bus_id, all);
}

}  // namespace hmn
