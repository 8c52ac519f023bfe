// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/mach/facts.hpp"
#include "backends/metal/fail.hpp"
#include "backends/metal/source.hpp"

namespace hmn::metal {

// Matches by registry entry; with one device on each side, they are the same.
std::optional<std::uint64_t> metal_source::budget_of(const accelerator& a) const {
  const std::vector<metal_device> all = budgets_.read();
  for (const metal_device& d : all) {
    const bool is_only = all.size() == 1 && accelerators_.size() == 1;
    if ((d.id == a.id || is_only) && d.budget != 0) return d.budget;
  }
  return std::nullopt;
}

// Usage of RAM by the driver; free memory is reported by the host.
pool metal_source::unified_pool(const accelerator& a) const {
  pool p;
  p.kind = pool_kind::unified;
  p.total = mach::number_of(k_, "hw.memsize");
  p.used = a.now.in_use ? a.now.in_use : a.now.allocated;
  if (p.used) p.accounting = a.now.in_use ? accounting::resident : accounting::allocated;
  return p;
}

pool metal_source::vram_pool(const accelerator& a) const {
  pool p;
  p.kind = pool_kind::vram;
  p.accounting = accounting::allocated;
  p.total = a.vram_total;
  p.used = a.now.vram_used;
  p.free = a.now.vram_free;
  return p;
}

void metal_source::explain(const pool& p, const accelerator& a, slot number, reading& r) const {
  const auto tell = [&](bool is_there, std::uint32_t field, const char* why) {
    if (!is_there) remark(fail(status::unsupported, why), subject::pools, field, number, r);
  };
  if (!r.wants_remarks()) return;
  tell(p.total.has_value(), pool_field::total, "macOS does not tell how much memory this GPU has");
  tell(p.used.has_value(), pool_field::used,
       a.now.is_told ? "this GPU's driver counts no memory in use"
                     : "this GPU's driver publishes no statistics");
  tell(p.free.has_value(), pool_field::free,
       p.kind == pool_kind::unified
           ? "programs and the GPU share one memory: what is usable of it is the machine's to say"
           : "this GPU's driver does not tell what is free");
  tell(p.budget.has_value(), pool_field::budget,
       frameworks_->has_metal ? "Metal has no such device for this process"
                              : "Metal is not on this system");
}

result<void> metal_source::memory(slot number, pools& out, reading& r) {
  const auto found = find(number);
  if (!found) return found.why();
  const accelerator& a = **found;
  pool p = is_unified(a) ? unified_pool(a) : vram_pool(a);
  p.from = source::metal;
  p.is_main = true;
  p.budget = budget_of(a);
  explain(p, a, number, r);
  out.add(p);
  return {};
}

}  // namespace hmn::metal
