// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string>

#include "backends/metal/fail.hpp"
#include "backends/metal/source.hpp"
#include "platform/clock.hpp"

namespace hmn::metal {
namespace {

usage row_of(std::uint32_t pid, std::uint64_t bytes) {
  usage row;
  row.pid = pid;
  row.from = source::metal;
  row.accounting = accounting::resident;
  row.used = row.resident = bytes;
  return row;
}

// Coverage of a walk over all processes.
struct coverage {
  std::uint32_t seen = 0;
  std::uint32_t refused = 0;
  std::uint32_t failed = 0;
  std::uint32_t not_reached = 0;
};

void remark_gap(std::uint32_t count, failure why, slot number, reading& r) {
  if (count == 0 || !r.wants_remarks()) return;
  diagnostic d;
  d.why = std::move(why);
  d.about = subject::processes;
  d.device = number;
  d.unreadable_processes = count;
  r.remark(std::move(d));
}

void remark(const coverage& c, slot number, reading& r) {
  remark_gap(c.refused,
             fail(status::permission, {c.refused, " of ", c.seen,
                                       " processes may not be looked into; root sees what those of "
                                       "other users use"}),
             number, r);
  remark_gap(
      c.failed,
      fail(status::backend, {c.failed, " of ", c.seen, " processes could not be looked into"}),
      number, r);
  remark_gap(
      c.not_reached,
      fail(status::timeout, {c.not_reached, " processes were not reached before the deadline"}),
      number, r);
}

}  // namespace

result<void> metal_source::can_tell_processes() const {
  if (accelerators_.size() == 1) return {};
  return fail(status::unsupported,
              "macOS counts a process' graphics memory, not of which of several GPUs it is");
}

result<void> metal_source::processes(slot number, std::vector<usage>& out, reading& r) {
  if (const auto found = find(number); !found) return found.why();
  if (result<void> can = can_tell_processes(); !can) return can;
  const result<std::vector<int>> pids = ledger_.processes();
  if (!pids) return pids.why();
  coverage c;
  for (const int pid : *pids) {
    if (pid <= 0) continue;
    ++c.seen;
    if (platform::monotonic_ns() >= r.deadline_ns()) {
      ++c.not_reached;
      continue;
    }
    const result<std::uint64_t> used = ledger_.used_by(static_cast<std::uint32_t>(pid));
    if (used) {
      if (*used != 0) out.push_back(row_of(static_cast<std::uint32_t>(pid), *used));
      continue;
    }
    // The kernel has no such counter.
    if (used.why().code == status::unsupported) return used.why();
    if (used.why().code == status::no_process) --c.seen;
    if (used.why().code == status::permission) ++c.refused;
    if (used.why().code == status::backend) ++c.failed;
  }
  remark(c, number, r);
  return {};
}

result<void> metal_source::process(slot number, std::uint32_t pid, bool, usage& out, reading&) {
  if (const auto found = find(number); !found) return found.why();
  if (result<void> can = can_tell_processes(); !can) return can;
  const result<std::uint64_t> used = ledger_.used_by(pid);
  if (!used) return used.why();
  out = row_of(pid, *used);
  return {};
}

}  // namespace hmn::metal
