// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/unified.hpp"

namespace hmn {

void fill_unified(pools& all, host_source& host) {
  for (pool& p : all.all()) {
    if (p.kind != pool_kind::unified || (p.total && p.usable)) continue;
    system_memory system;
    if (!host.system(system)) return;
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

}  // namespace hmn
