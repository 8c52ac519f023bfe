// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/attribution.hpp"

#include <algorithm>

#include "model/compose.hpp"

namespace hmn {
namespace {

// Sum of a device's process rows. A shared buffer is counted by each of its holders, so the union
// lies between `alone` and the full sum.
struct row_sum {
  bool fits = true;  // no overflow, and the rows count as the pool does
  std::uint64_t at_most = 0;
  std::uint64_t alone = 0;  // the parts that no other process holds
  std::uint64_t largest_shared = 0;
  std::uint32_t sharing = 0;  // rows with a part that other processes may hold as well

  void add(const usage& row) noexcept {
    // fdinfo counts a shared buffer in each of its holders; older drivers do not report the shared
    // part.
    const bool is_unknown = !row.shared && row.accounting != accounting::allocated;
    const std::uint64_t shared =
        is_unknown ? *row.used : std::min(row.shared.value_or(0), *row.used);
    // Committed memory is not used memory.
    fits = fits && row.accounting != accounting::committed &&
           !__builtin_add_overflow(at_most, *row.used, &at_most);
    alone += *row.used - shared;
    largest_shared = std::max(largest_shared, shared);
    if (shared != 0) ++sharing;
  }
  [[nodiscard]] bool is_exact() const noexcept { return sharing < 2; }
  [[nodiscard]] std::uint64_t at_least() const noexcept { return alone + largest_shared; }
};

failure unknown(const pool& p, const char* why) {
  return {status::unsupported, p.from, {}, why, reason::ambiguous};
}

failure shared_by_several(const pool& p, const row_sum& sum) {
  return {status::unsupported,
          p.from,
          {},
          {"processes share memory: ", *p.used - std::min(*p.used, sum.at_most), " to ",
           *p.used - sum.at_least(), " bytes are used by none that can be seen"},
          reason::ambiguous};
}

std::optional<failure> attribute(std::span<const usage> rows, pool& p) {
  row_sum sum;
  for (const usage& row : rows) sum.add(row);
  if (!sum.fits || sum.at_least() > *p.used || (sum.is_exact() && sum.at_most > *p.used)) {
    return unknown(p, "the memory of processes is counted differently from that of the device");
  }
  if (!sum.is_exact()) return shared_by_several(p, sum);
  p.unattributed = *p.used - sum.at_most;
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
