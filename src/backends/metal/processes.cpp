// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cerrno>
#include <cstring>
#include <string_view>

#include "backends/metal/fail.hpp"
#include "backends/metal/source.hpp"
#include "backends/shared/mach/facts.hpp"
#include "platform/clock.hpp"

namespace hmn::metal {
namespace {

constexpr std::string_view ledger_name = "graphics_footprint";
constexpr std::size_t most_kinds = 512;
constexpr std::size_t most_processes = 1U << 20;

// The kernel expects the pid in a pointer argument.
void* as_argument(std::uint32_t pid) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pid));
}

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

void diagnose_gap(std::uint32_t count, const failure& why, slot number, reading& r) {
  if (count == 0 || !r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = subject::processes;
  d.device = number;
  d.unreadable_processes = count;
  r.diagnose(d);
}

void diagnose(const coverage& c, slot number, reading& r) {
  diagnose_gap(c.refused,
               fail(status::permission, {c.refused, " of ", c.seen,
                                         " processes cannot be inspected; root sees what those of "
                                         "other users use"}),
               number, r);
  diagnose_gap(
      c.failed,
      fail(status::backend, {c.failed, " of ", c.seen, " processes could not be inspected"}),
      number, r);
  diagnose_gap(
      c.not_reached,
      fail(status::timeout, {c.not_reached, " processes were not reached before the deadline"}),
      number, r);
}

}  // namespace

result<std::size_t> graphics_ledger::find_place() {
  if (place_) return *place_;
  std::vector<mach::ledger_kind> kinds(most_kinds);
  int length = static_cast<int>(kinds.size());
  if (k_.ledger(mach::ledger_template_info, kinds.data(), &length, nullptr) != 0) {
    return fail(status::backend, "the names of its ledgers are not reported by the kernel", errno);
  }
  for (std::size_t i = 0; i < kinds.size() && static_cast<int>(i) < length; ++i) {
    if (std::string_view(kinds[i].name, strnlen(kinds[i].name, sizeof kinds[i].name)) !=
        ledger_name) {
      continue;
    }
    place_ = i;
    return i;
  }
  return fail(status::unsupported, "this macOS does not count graphics memory of processes");
}

result<std::uint64_t> graphics_ledger::used_by(std::uint32_t pid) {
  const result<std::size_t> place = find_place();
  if (!place) return place.why();
  std::vector<mach::ledger_entry> entries(*place + 1);
  int length = static_cast<int>(entries.size());
  if (k_.ledger(mach::ledger_entry_info, as_argument(pid), entries.data(), &length) != 0) {
    return mach::why_not(source::metal, pid, "the graphics memory", errno);
  }
  if (length <= static_cast<int>(*place)) {
    return with_reason(reason::not_understood,
                       fail(status::backend, "the kernel gave a ledger that is too short"));
  }
  if (entries[*place].balance < 0) {
    return with_reason(
        reason::implausible,
        fail(status::backend, {"the kernel counts less than nothing for process ", pid}));
  }
  return static_cast<std::uint64_t>(entries[*place].balance);
}

result<std::vector<int>> graphics_ledger::processes() const {
  const int bytes = k_.list_pids(mach::all_pids, 0, nullptr, 0);
  if (bytes <= 0) return fail(status::backend, "the kernel gave no list of processes", errno);
  // Processes may start in between. A list that fills the buffer may be truncated.
  std::vector<int> pids(static_cast<std::size_t>(bytes) / sizeof(int) + 64);
  for (; pids.size() < most_processes; pids.resize(pids.size() * 2)) {
    const auto capacity = pids.size() * sizeof(int);
    const int got = k_.list_pids(mach::all_pids, 0, pids.data(), static_cast<int>(capacity));
    if (got <= 0) return fail(status::backend, "the kernel gave no list of processes", errno);
    if (static_cast<std::size_t>(got) >= capacity) continue;
    pids.resize(static_cast<std::size_t>(got) / sizeof(int));
    return pids;
  }
  return fail(status::limit, "there are too many processes");
}

result<void> metal_source::can_attribute() const {
  if (accelerators_.size() == 1) return {};
  return with_reason(
      reason::ambiguous,
      fail(status::unsupported,
           "macOS counts a process' graphics memory, not of which of several GPUs it is"));
}

result<void> metal_source::processes(slot number, std::vector<usage>& out, reading& r) {
  if (const auto found = find(number); !found) return found.why();
  if (result<void> can = can_attribute(); !can) return can;
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
  diagnose(c, number, r);
  return {};
}

result<void> metal_source::process(slot number, std::uint32_t pid, bool, usage& out, reading&) {
  if (const auto found = find(number); !found) return found.why();
  if (result<void> can = can_attribute(); !can) return can;
  const result<std::uint64_t> used = ledger_.used_by(pid);
  if (!used) return used.why();
  out = row_of(pid, *used);
  return {};
}

}  // namespace hmn::metal
