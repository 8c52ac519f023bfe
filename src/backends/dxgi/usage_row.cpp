// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/usage_row.hpp"

#include <algorithm>

namespace hmn::dxgi {

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

void fill_from_kernel(const kernel_usage& told, usage& out) {
  out.from = source::dxgi;
  out.accounting = accounting::resident;
  out.used = out.resident = told.local;
  out.host_pool = told.non_local;
}

}  // namespace hmn::dxgi
