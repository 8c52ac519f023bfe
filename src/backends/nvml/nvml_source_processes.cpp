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

Code query_accounting_mode(const CallContext& context, const Session& session,
                           const KnownDevice& device) {
  if (device.is_mig_on) return not_supported;
  unsigned mode = 0;
  const Code code = call(context, session.fn.accounting_mode, device.handle, &mode);
  if (code != success || mode == feature_enabled) return code;
  return mode == 0 ? disabled : unusable;
}

void report_accounting_off(const CallContext& context) {
  context.report(
      Status::unsupported,
      {"the driver keeps no account of processes: root may turn its accounting mode on, with "
       "'nvidia-smi --accounting-mode=1'"},
      peak_field);
}

void report_no_peak(const CallContext& context, std::uint32_t pid, Status status,
                    const char* message) {
  context.for_process(pid).report(
      status, {message}, peak_field,
      status == Status::backend ? Reason::implausible : Reason::unknown);
}

std::optional<Failure> check_stats(const AccountingStats& stats) {
  if (stats.is_running > 1) {
    return with_reason(Reason::implausible,
                       fail(Status::backend, {"the driver's account of the process is neither of "
                                              "a running nor of an ended one"}));
  }
  return check_time(Source::nvml, "an account", ns_from_us(stats.start_us), platform::unix_ns());
}

// The driver's search finds ended processes first: a record of a listed process may be about its
// first use of the device, or about another process with the same pid.
void set_peak(const CallContext& context, const AccountingStats& stats, Usage& row) {
  const std::uint64_t peak = stats.max_memory;
  if (const auto failure = check_stats(stats))
    return context.for_process(row.pid).diagnose(*failure, peak_field);
  if (stats.is_running == 0) {
    return report_no_peak(context, row.pid, Status::unsupported,
                          "the driver's account under this pid is of an earlier use of the device");
  }
  if (peak == value_not_available) {
    return report_no_peak(context, row.pid, Status::unsupported,
                          "the driver's account has no memory value");
  }
  if (peak < row.used.value_or(0)) {
    return report_no_peak(context, row.pid, Status::backend,
                          "the driver's account of the process does not fit what it holds");
  }
  row.peak_used = peak;
}

// Reads accounts of currently listed processes. Not with MIG, which has no accounting mode.
// `has_initial_pids`: pids are those of the initial PID namespace, which the driver stores.
Code read_accounts(const CallContext& context, const Session& session, const KnownDevice& device,
                   bool has_initial_pids, std::span<Usage> rows) {
  if (rows.empty() || !has_initial_pids) return success;
  const Code mode = query_accounting_mode(context, session, device);
  if (mode == disabled) report_accounting_off(context);
  if (mode == unusable) context.report_missing(mode, session.fn.accounting_mode.name(), peak_field);
  if (mode != success) return mode == gpu_is_lost || mode == reset_required ? mode : success;
  for (Usage& row : rows) {
    AccountingStats stats{};
    const Code code = call(context, session.fn.account, device.handle, row.pid, &stats);
    if (code == gpu_is_lost || code == reset_required || code == late)
      return code == late ? success : code;
    if (code == success) {
      set_peak(context, stats, row);
    } else {
      context.for_process(row.pid).report_missing(code, session.fn.account.name(), peak_field);
    }
  }
  return success;
}

// Finds the driver's account of an unlisted process.
bool find_account(const CallContext& context, const Session& session, const KnownDevice& device,
                  std::uint32_t pid, Usage& row) {
  if (query_accounting_mode(context, session, device) != success) return false;
  AccountingStats stats{};
  if (call(context, session.fn.account, device.handle, pid, &stats) != success) return false;
  if (const auto failure = check_stats(stats)) {
    context.diagnose(*failure, peak_field);
    return false;
  }
  const std::uint64_t peak = stats.max_memory;
  if (peak == value_not_available) return false;
  row.pid = pid;
  row.source = Source::nvml;
  row.accounting = Accounting::allocated;
  row.peak_used = peak;
  row.accounted_since_ns = ns_from_us(stats.start_us);
  return true;
}

constexpr std::size_t max_rows = 65536;

Failure make_counted_by_system_failure() {
  return fail(Status::unsupported, "of this device Windows counts what processes use, not NVML");
}

}  // namespace

Result<void> NvmlSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  CallContext context{reading, subject::processes, slot, {}};
  return query_device(context, slot, [&](KnownDevice& device, std::optional<Failure>& failure) {
    return read_processes(context, device, out, failure);
  });
}

// GPUs in MIG mode have no rows of their own: their instances list the processes.
Code NvmlSource::read_processes(const CallContext& context, KnownDevice& device,
                                std::vector<Usage>& out, std::optional<Failure>& failure) {
  if (device.is_mig_on) return success;
  if (is_counted_by_system(session_.library(), device.handle)) {
    failure = make_counted_by_system_failure();
    return success;
  }
  ListOutcome outcome = processes_.read(context, session_, device);
  if (processes_.rows().empty() && !outcome.is_complete()) {
    const std::size_t failed_list = outcome.find_failed_list();
    failure = make_failure(outcome.results[failed_list], outcome.names[failed_list]);
    return outcome.results[failed_list];
  }
  const auto rows = processes_.rows().first(std::min(processes_.rows().size(), max_rows));
  outcome.missed += processes_.rows().size() - rows.size();
  const std::size_t first = out.size();
  out.reserve(first + rows.size());
  for (const MergedProcess& row : rows) {
    fill_usage(context, device, row, out.emplace_back());
    if (!outcome.is_complete()) mark_lower_bound(out.back());
  }
  const auto new_rows = std::span(out).subspan(first);
  const Code code = read_load_and_peaks(context, device, new_rows);
  mark_foreign(new_rows);
  diagnose_lists(context, outcome);
  return code;
}

Code NvmlSource::read_load_and_peaks(const CallContext& context, const KnownDevice& device,
                                     std::span<Usage> rows) {
  const Code code = load_.read(context, session_, device, rows);
  if (code != success) return code;
  return read_accounts(context, session_, device, trust_.is_in_initial_namespace(), rows);
}

// Drivers that translate pids hide the processes of other namespaces, so that one pid which does
// not exist here means that all are the host's. In a tree of another namespace no pid is known to
// be the same.
void NvmlSource::mark_foreign(std::span<Usage> rows) {
  if (rows.empty() || trust_.is_in_initial_namespace()) return;
  const bool is_our_namespace = trust_.sees_our_namespace(processes_.rows());
  bool has_foreign = !is_our_namespace && trust_.has_foreign_tree();
  for (Usage& row : rows) {
    if (trust_.exists(row.pid)) continue;
    row.notes |= note::foreign_pid;
    has_foreign = true;
  }
  if (!has_foreign || is_our_namespace) return;
  for (Usage& row : rows) row.notes |= note::foreign_pid;
}

Result<void> NvmlSource::process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                                 Reading& reading) {
  CallContext context{reading, self ? subject::self : subject::processes, slot, pid};
  return query_device(context, slot, [&](KnownDevice& device, std::optional<Failure>& failure) {
    return read_process(context, device, pid, self, out, failure);
  });
}

Code NvmlSource::read_process(const CallContext& context, KnownDevice& device, std::uint32_t pid,
                              bool self, Usage& row, std::optional<Failure>& failure) {
  if (device.is_mig_on) {
    failure = fail(Status::unsupported,
                   "MIG is enabled: process memory is listed under the GPU's instances");
    return success;
  }
  if (is_counted_by_system(session_.library(), device.handle)) {
    failure = make_counted_by_system_failure();
    return success;
  }
  std::optional<MergedProcess> match;
  const ListOutcome outcome = processes_.find(context, session_, device, pid, match);
  if (match) {
    fill_usage(context, device, *match, row);
    if (!outcome.is_complete()) mark_lower_bound(row);
    diagnose_lists(context, outcome);
    // The caller's own usage is read often, and its load is not worth another call of the driver.
    return self ? success : read_load_and_peaks(context, device, {&row, 1});
  }
  const std::size_t failed_list = outcome.find_failed_list();
  const Code list_code = outcome.results[failed_list];
  if (list_code == uninitialized || list_code == gpu_is_lost) {
    failure = make_failure(list_code, outcome.names[failed_list]);
  } else if (self && is_zero_proven(outcome)) {
    fill_zero(pid, row);
  } else if (list_code != success) {
    failure = make_failure(list_code, outcome.names[failed_list]);
  } else if (outcome.missed != 0) {
    failure = fail(Status::limit, "the driver lists more processes than can be read");
  } else if (!self) {
    const bool has_account =
        trust_.is_in_initial_namespace() && find_account(context, session_, device, pid, row);
    if (!has_account)
      failure = fail(Status::no_process, "the driver lists no such process on this device");
  } else {
    failure = with_reason(Reason::ambiguous, fail(Status::no_source,
                                                  "the driver lists processes of another PID "
                                                  "namespace; run in the host's, as with 'docker "
                                                  "run --pid=host'"));
  }
  return list_code;
}

// Whether zero is proven: the caller is in no list, and would be in one.
bool NvmlSource::is_zero_proven(const ListOutcome& outcome) {
  const bool is_complete = outcome.is_complete() && !is_paravirtual_;
  if (is_complete && trust_.is_in_initial_namespace()) return true;
  if (trust_.holds_no_gpu()) return true;
  return is_complete && trust_.sees_our_namespace(processes_.other_rows());
}

}  // namespace hmn::nvml
