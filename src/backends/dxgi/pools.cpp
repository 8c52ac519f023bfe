// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/pools.hpp"

#include <algorithm>

namespace hmn::dxgi {
namespace {

pool make_pool(pool_kind kind, std::uint64_t total) {
  pool p;
  p.kind = kind;
  p.from = source::dxgi;
  if (total != 0) p.total = total;
  return p;
}

void set_budget(pool& p, const std::optional<own_memory>& own,
                memory_information own_memory::*segment) {
  if (!own || ((*own).*segment).budget == 0) return;
  const memory_information& of = (*own).*segment;
  p.budget = of.budget;
  p.budget_left = of.budget - std::min(of.budget, of.used);
}

void set_used(pool& p, const wddm::segment_sum& in_use) {
  if (!in_use.bytes()) return;
  p.used = in_use.bytes();
  p.accounting = accounting::resident;
  p.notes |= note::mixed | (in_use.lacks_a_part() ? note::lower_bound : 0U);
  if (p.total && *p.used <= *p.total) p.free = *p.total - *p.used;
}

wddm::segment_sum both(const wddm::adapter_memory& m) {
  wddm::segment_sum sum = m.dedicated;
  sum.add(m.shared.bytes());
  return sum;
}

}  // namespace

bool is_unified(const adapter& a, const std::optional<own_memory>& own) noexcept {
  return own && own->non_local.budget == 0 && own->local.budget > a.dedicated &&
         own->local.budget - a.dedicated <= a.shared;
}

void add_pools(const adapter& a, const std::optional<own_memory>& own,
               const wddm::adapter_memory* in_use, pools& out) {
  if (is_unified(a, own)) {
    pool p = make_pool(pool_kind::unified, a.dedicated + a.shared);
    p.is_main = true;
    set_budget(p, own, &own_memory::local);
    if (in_use != nullptr) {
      set_used(p, both(*in_use));
      if (const auto used = in_use->dedicated.bytes())
        p.apart_free = a.dedicated - std::min(a.dedicated, *used);
    }
    out.add(p);
    return;
  }
  pool vram = make_pool(pool_kind::vram, a.dedicated);
  vram.is_main = true;
  set_budget(vram, own, &own_memory::local);
  pool host = make_pool(pool_kind::host, a.shared);
  set_budget(host, own, &own_memory::non_local);
  if (in_use != nullptr) {
    set_used(vram, in_use->dedicated);
    set_used(host, in_use->shared);
  }
  if (vram.total || vram.used) out.add(vram);
  host.is_main = out.empty();
  if (host.total || host.used) out.add(host);
}

usage to_usage(const wddm::process_memory& p) {
  usage row;
  row.pid = p.pid;
  row.from = source::pdh;
  row.committed = p.dedicated_committed.bytes();
  row.resident = p.dedicated_resident.bytes();
  const bool is_resident = row.resident.has_value();
  row.used = is_resident ? row.resident : row.committed;
  if (row.used) row.accounting = is_resident ? accounting::resident : accounting::committed;
  const wddm::segment_sum& host =
      p.shared_resident.bytes() ? p.shared_resident : p.shared_committed;
  row.host_pool = host.bytes();
  const wddm::segment_sum& used = is_resident ? p.dedicated_resident : p.dedicated_committed;
  if (used.lacks_a_part() || host.lacks_a_part()) row.notes |= note::lower_bound;
  return row;
}

void add_load(const wddm::loads& loads, usage& row) {
  const auto found = std::find_if(loads.processes.begin(), loads.processes.end(),
                                  [&](const wddm::process_load& l) { return l.pid == row.pid; });
  if (found == loads.processes.end()) return;
  row.busy_percent = found->percent;
  row.window_ns = loads.window_ns;
}

void fill_own(const own_memory& own, usage& out) {
  out.from = source::dxgi;
  out.accounting = accounting::resident;
  out.used = out.resident = own.local.used;
  out.host_pool = own.non_local.used;
  if (own.local.budget != 0) out.budget = own.local.budget;
}

void fill_from_kernel(const kernel_usage& reported, usage& out) {
  out.from = source::dxgi;
  out.accounting = accounting::resident;
  out.used = out.resident = reported.local;
  out.host_pool = reported.non_local;
}

}  // namespace hmn::dxgi
