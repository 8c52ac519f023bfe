// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/attribution.hpp"

#include <algorithm>

#include "model/compose.hpp"
#include "model/usage_sum.hpp"

namespace hmn {
namespace {

failure unknown(const pool& p, const char* why) {
  return {status::unsupported, p.from, {}, why, reason::ambiguous};
}

failure shared_by_several(const pool& p, const usage_sum& sum) {
  return {status::unsupported,
          p.from,
          {},
          {"processes share memory: ", *p.used - std::min(*p.used, sum.at_most()), " to ",
           *p.used - sum.at_least(), " bytes are used by none that can be seen"},
          reason::ambiguous};
}

std::optional<failure> attribute(std::span<const usage> rows, pool& p) {
  usage_sum sum;
  bool fits = true;
  for (const usage& row : rows) {
    // Committed memory is not used memory.
    fits = fits && row.accounting != accounting::committed;
    const usage::repeats& again = row.repeated;
    std::optional<std::uint64_t> shared = row.shared;
    if (shared) *shared -= std::min(*shared, again.shared);
    sum.add(*row.used - std::min(*row.used, again.used), shared,
            row.accounting == accounting::allocated);
  }
  if (!fits || sum.at_least() > *p.used || (sum.is_exact() && sum.at_most() > *p.used)) {
    return unknown(p, "the memory of processes is counted differently from that of the device");
  }
  if (!sum.is_exact()) return shared_by_several(p, sum);
  p.unattributed = *p.used - sum.at_most();
  return std::nullopt;
}

}  // namespace

std::optional<failure> attribute_pools(merged_device& d) {
  if ((d.found & subject::processes) == 0 || is_divided(d.identity)) return std::nullopt;
  for (pool& p : d.pools.all()) {
    if (!p.is_main || !p.used) continue;
    if (!d.can_be_summed) return unknown(p, "the memory of some processes is not known");
    if ((p.notes & (note::lower_bound | note::estimated)) != 0) {
      return unknown(p, "used memory is known only as a lower bound or an estimate");
    }
    // Rows of a unified device count all of its memory, not that of one pool among several.
    if (d.identity.memory_kind == memory_kind::unified && p.kind != pool_kind::unified) {
      return unknown(p, "the memory of processes is reported for all pools together");
    }
    return attribute(d.processes, p);
  }
  return std::nullopt;
}

}  // namespace hmn
