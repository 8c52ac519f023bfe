// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/nvml_source.hpp"
#include "backends/nvml/processes.hpp"
#include "backends/nvml/session.hpp"
#include "backends/nvml/system.hpp"
#include "model/plausible.hpp"
#include "model/usage.hpp"

namespace hmn::nvml {
namespace {

constexpr FieldSet peak_field = usage_field::peak_used;

// disabled: the mode is off. Other codes except success: unknown.
constexpr Code disabled = no_data;

Code ask_mode(const Topic& t, const Session& s, const KnownDevice& of) {
  if (of.mig_on) return not_supported;
  unsigned mode = 0;
  const Code c = call(t, s.fn.accounting_mode, of.h, &mode);
  if (c != success || mode == feature_enabled) return c;
  return mode == 0 ? disabled : unusable;
}

void say_off(const Topic& t) {
  t.report(Status::unsupported,
           {"the driver keeps no account of processes: root may turn its accounting mode on, with "
            "'nvidia-smi --accounting-mode=1'"},
           peak_field);
}

void refuse(const Topic& t, std::uint32_t pid, Status why, const char* message) {
  t.of_process(pid).report(why, {message}, peak_field,
                           why == Status::backend ? Reason::implausible : Reason::unknown);
}

std::optional<Failure> doubt(const AccountingStats& found) {
  if (found.is_running > 1) {
    return with_reason(Reason::implausible,
                       fail(Status::backend, {"the driver's account of the process is neither of "
                                              "a running nor of an ended one"}));
  }
  return doubt_time(Source::nvml, "an account", as_ns(found.start_us), platform::unix_ns());
}

// The driver's search finds ended processes first: a record of a listed process may be about its
// first use of the device, or about another process with the same pid.
void take(const Topic& t, const AccountingStats& found, Usage& row) {
  const std::uint64_t most = found.most_memory;
  if (const auto why = doubt(found)) return t.of_process(row.pid).diagnose(*why, peak_field);
  if (found.is_running == 0) {
    return refuse(t, row.pid, Status::unsupported,
                  "the driver's account under this pid is of an earlier use of the device");
  }
  if (most == value_not_available) {
    return refuse(t, row.pid, Status::unsupported, "the driver's account has no memory value");
  }
  if (most < row.used.value_or(0)) {
    return refuse(t, row.pid, Status::backend,
                  "the driver's account of the process does not fit what it holds");
  }
  row.peak_used = most;
}

// Reads accounts of currently listed processes. Not with MIG, which has no accounting mode. `ours`:
// pids are those of the initial PID namespace, which the driver stores.
Code read_accounts(const Topic& t, const Session& s, const KnownDevice& of, bool ours,
                   std::span<Usage> rows) {
  if (rows.empty() || !ours) return success;
  const Code mode = ask_mode(t, s, of);
  if (mode == disabled) say_off(t);
  if (mode == unusable) t.missing(mode, s.fn.accounting_mode.name(), peak_field);
  if (mode != success) return mode == gpu_is_lost || mode == reset_required ? mode : success;
  for (Usage& row : rows) {
    AccountingStats found{};
    const Code c = call(t, s.fn.account, of.h, row.pid, &found);
    if (c == gpu_is_lost || c == reset_required || c == late) return c == late ? success : c;
    if (c == success) {
      take(t, found, row);
    } else {
      t.of_process(row.pid).missing(c, s.fn.account.name(), peak_field);
    }
  }
  return success;
}

// Finds the driver's account of an unlisted process.
bool find_account(const Topic& t, const Session& s, const KnownDevice& of, std::uint32_t pid,
                  Usage& out) {
  if (ask_mode(t, s, of) != success) return false;
  AccountingStats found{};
  if (call(t, s.fn.account, of.h, pid, &found) != success) return false;
  if (const auto why = doubt(found)) {
    t.diagnose(*why, peak_field);
    return false;
  }
  const std::uint64_t most = found.most_memory;
  if (most == value_not_available) return false;
  out.pid = pid;
  out.from = Source::nvml;
  out.accounting = Accounting::allocated;
  out.peak_used = most;
  out.counted_since_ns = as_ns(found.start_us);
  return true;
}

constexpr std::size_t most_rows = 65536;

Failure counted_by_system() {
  return fail(Status::unsupported, "of this device Windows counts what processes use, not NVML");
}

}  // namespace

Result<void> nvml_source::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  Topic t{r, subject::processes, number, {}};
  return with_device(t, number, [&](KnownDevice& of, std::optional<Failure>& why) {
    return read_processes(t, of, out, why);
  });
}

// GPUs in MIG mode have no rows of their own: their instances list the processes.
Code nvml_source::read_processes(const Topic& t, KnownDevice& of, std::vector<Usage>& out,
                                 std::optional<Failure>& why) {
  if (of.mig_on) return success;
  if (is_counted_by_system(session_.library(), of.h)) {
    why = counted_by_system();
    return success;
  }
  ListOutcome outcome = processes_.read(t, session_, of);
  if (processes_.rows().empty() && !outcome.complete()) {
    const std::size_t worst = outcome.worst();
    why = failure_for(outcome.results[worst], outcome.names[worst]);
    return outcome.results[worst];
  }
  const auto rows = processes_.rows().first(std::min(processes_.rows().size(), most_rows));
  outcome.missed += processes_.rows().size() - rows.size();
  const std::size_t begin = out.size();
  out.reserve(begin + rows.size());
  for (const MergedProcess& row : rows) {
    fill_usage(t, of, row, out.emplace_back());
    if (!outcome.complete()) note_incomplete(out.back());
  }
  const auto added = std::span(out).subspan(begin);
  const Code c = read_load_and_peaks(t, of, added);
  mark_foreign(added);
  diagnose_lists(t, outcome);
  return c;
}

Code nvml_source::read_load_and_peaks(const Topic& t, const KnownDevice& of,
                                      std::span<Usage> rows) {
  const Code c = load_.read(t, session_, of, rows);
  if (c != success) return c;
  return read_accounts(t, session_, of, trust_.in_initial_namespace(), rows);
}

// Drivers that translate pids hide the processes of other namespaces, so that one pid which does
// not exist here means that all are the host's. In a tree of another namespace no pid is known to
// be the same.
void nvml_source::mark_foreign(std::span<Usage> rows) {
  if (rows.empty() || trust_.in_initial_namespace()) return;
  const bool ours = trust_.sees_our_namespace(processes_.rows());
  bool any_foreign = !ours && trust_.has_foreign_tree();
  for (Usage& row : rows) {
    if (trust_.exists(row.pid)) continue;
    row.notes |= note::foreign_pid;
    any_foreign = true;
  }
  if (!any_foreign || ours) return;
  for (Usage& row : rows) row.notes |= note::foreign_pid;
}

Result<void> nvml_source::process(Slot number, std::uint32_t pid, bool self, Usage& out,
                                  Reading& r) {
  Topic t{r, self ? subject::self : subject::processes, number, pid};
  return with_device(t, number, [&](KnownDevice& of, std::optional<Failure>& why) {
    return read_process(t, of, pid, self, out, why);
  });
}

Code nvml_source::read_process(const Topic& t, KnownDevice& of, std::uint32_t pid, bool self,
                               Usage& out, std::optional<Failure>& why) {
  if (of.mig_on) {
    why = fail(Status::unsupported,
               "MIG is on: what a process uses stands under the GPU's instances");
    return success;
  }
  if (is_counted_by_system(session_.library(), of.h)) {
    why = counted_by_system();
    return success;
  }
  std::optional<MergedProcess> found;
  const ListOutcome outcome = processes_.find(t, session_, of, pid, found);
  if (found) {
    fill_usage(t, of, *found, out);
    if (!outcome.complete()) note_incomplete(out);
    diagnose_lists(t, outcome);
    // The caller's own usage is read often, and its load is not worth another call of the driver.
    return self ? success : read_load_and_peaks(t, of, {&out, 1});
  }
  const std::size_t worst = outcome.worst();
  const Code failed = outcome.results[worst];
  if (failed == uninitialized || failed == gpu_is_lost) {
    why = failure_for(failed, outcome.names[worst]);
  } else if (self && is_zero_proven(outcome)) {
    fill_zero(pid, out);
  } else if (failed != success) {
    why = failure_for(failed, outcome.names[worst]);
  } else if (outcome.missed != 0) {
    why = fail(Status::limit, "the driver lists more processes than can be read");
  } else if (!self) {
    const bool is_kept = trust_.in_initial_namespace() && find_account(t, session_, of, pid, out);
    if (!is_kept) why = fail(Status::no_process, "the driver lists no such process on this device");
  } else {
    why = with_reason(Reason::ambiguous, fail(Status::no_source,
                                              "the driver lists processes of another PID "
                                              "namespace; run in the host's, as with 'docker "
                                              "run --pid=host'"));
  }
  return failed;
}

// Whether zero is proven: the caller is in no list, and would be in one.
bool nvml_source::is_zero_proven(const ListOutcome& outcome) {
  const bool complete = outcome.complete() && !paravirtual_;
  if (complete && trust_.in_initial_namespace()) return true;
  if (trust_.holds_no_gpu()) return true;
  return complete && trust_.sees_our_namespace(processes_.others());
}

}  // namespace hmn::nvml
