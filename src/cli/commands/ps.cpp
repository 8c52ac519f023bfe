// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/process_table.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/process.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::note;
using hypomnesis::part;
using hypomnesis::status_code;

constexpr std::chrono::milliseconds load_window(250);

using DeviceSet = std::set<DeviceIndex>;  // empty: all

hypomnesis::snapshot_options make_snapshot_options(const Session& session,
                                                   const DeviceSet& devices) {
  hypomnesis::snapshot_options options;
  options.collect = part::devices | part::pools | part::processes;
  if (devices.size() != 1) return options;
  const auto& all_devices = session.device_list().devices;
  const auto index = *devices.begin();
  if (index >= all_devices.size() || !is_divided(all_devices[index])) options.device_index = index;
  return options;
}

bool belongs_to(const ProcessRow& row, const DeviceSet& devices) {
  const auto& parent = row.gpu->device.parent_index;
  return devices.empty() || devices.contains(row.usage.device_index) ||
         (parent && devices.contains(*parent));
}

bool matches_options(const ProcessRow& row, const Options& options, const DeviceSet& devices) {
  if (options.pid && row.usage.pid != *options.pid) return false;
  if (!is_selected(options.match, row.usage.process_name) &&
      !is_selected(options.match, row.usage.process_command))
    return false;
  return belongs_to(row, devices);
}

// Values that the selected columns need and that take time to look up.
struct Lookups {
  bool users = false;
  bool namespace_pids = false;
  bool workloads = false;
  UserNames names;
  UserNames::Clock::time_point deadline;
};

Lookups make_lookups(const Session& session, const Options& options) {
  const bool is_simulated = session.is_simulated();
  const bool needs_workloads = options.grouping == Grouping::pod ||
                               options.grouping == Grouping::job ||
                               options.grouping == Grouping::unit;
  const bool is_default_table = !options.grouping && options.columns.empty() && !options.json &&
                                !options.csv && !options.show_pools;
  return {is_default_table || options.user || options.grouping == Grouping::user ||
              options.sort == SortKey::user || has_column(options.columns, "user"),
          has_column(options.columns, "nspid") && !is_simulated, needs_workloads,
          UserNames(is_simulated), UserNames::Clock::now() + session.reading_timeout()};
}

void look_up(const Session& session, ProcessRow& row, Lookups& lookups) {
  if (lookups.users) row.user = lookups.names.find(row.usage, lookups.deadline);
  if (lookups.workloads) row.workload = session.workload(row.usage);
  if (has(row.usage.notes, note::foreign_pid)) return;
  if (lookups.namespace_pids) row.namespace_pid = find_namespace_pid(row.usage.pid);
}

// Returns GPUs whose processes are listed under them rather than under partitions.
GpuMap select_whole_gpus(GpuMap gpus) {
  std::erase_if(gpus, [](const auto& entry) {
    return !entry.second->memory || is_divided(entry.second->device);
  });
  return gpus;
}

void add_unattributed(const GpuMap& whole_gpus, const DeviceSet& devices,
                      std::vector<ProcessRow>& rows) {
  for (const auto& [index, gpu] : whole_gpus) {
    const auto& pool = *gpu->memory;
    ProcessRow row;
    row.gpu = gpu;
    row.is_unattributed = true;
    row.usage.device_index = index;
    row.usage.backend = pool.backend;
    row.usage.notes = pool.notes & note::stale;
    row.usage.age_ns = pool.age_ns;
    const bool is_host = pool.kind == hypomnesis::pool_kind::host;
    (is_host ? row.usage.host_pool_bytes : row.usage.used_bytes) = pool.unattributed_bytes;
    row.pool_use.main = pool.unattributed_bytes;
    row.usage.accounting = pool.accounting;
    if (belongs_to(row, devices)) rows.push_back(std::move(row));
  }
}

struct View {
  DeviceSet devices;
  std::optional<UserFilter> user;
  hypomnesis::snapshot snapshot;
};

std::vector<ProcessRow> make_rows(const Session& session, GpuMap gpus, const Options& options,
                                  const View& view) {
  std::vector<ProcessRow> rows;
  auto lookups = make_lookups(session, options);
  auto usages = view.snapshot.usages();
  const UnsupportedUsage unsupported(view.snapshot, usages);
  for (auto& usage : usages) {
    ProcessRow row;
    row.gpu = find_or_add_gpu(gpus, usage.device_index);
    row.unsupported = unsupported.missing_fields(usage);
    row.usage = std::move(usage);
    if (!matches_options(row, options, view.devices)) continue;
    select_pool(row, &PoolUse::own);
    look_up(session, row, lookups);
    if (!view.user || view.user->matches(row)) rows.push_back(std::move(row));
  }
  sort_rows(rows, options.sort);
  return rows;
}

// Returns whether a load is pending: drivers' counters become a share of time at the second
// reading.
bool is_load_pending(const hypomnesis::snapshot& snapshot) {
  const auto usages = snapshot.usages();
  return std::any_of(usages.begin(), usages.end(), [](const hypomnesis::usage& usage) {
    return usage.busy_ns && !usage.busy_percent;
  });
}

Expected<View> read_view(const Session& session, const Options& options) {
  DeviceSet devices;
  if (!options.devices.empty()) {
    const WaitingNotice notice;
    const auto indexes = find_devices(session, options.devices);
    if (!indexes) return indexes.error();
    devices.insert(indexes->begin(), indexes->end());
  }
  std::optional<UserFilter> user;
  if (options.user) {
    const auto filter = find_user(*options.user, session.is_simulated(),
                                  UserNames::Clock::now() + session.reading_timeout());
    if (!filter) return filter.error();
    user = *filter;
  }
  const auto request = make_snapshot_options(session, devices);
  auto snapshot = session.collect(request);
  const bool needs_load = options.sort == SortKey::load || has_column(options.columns, "load");
  if (needs_load && is_load_pending(snapshot)) {
    std::this_thread::sleep_for(load_window);
    snapshot = session.take(request);
  }
  return View{std::move(devices), std::move(user), std::move(snapshot)};
}

bool is_listed(const hypomnesis::snapshot& snapshot, std::uint32_t pid) {
  const auto usages = snapshot.usages();
  return std::any_of(usages.begin(), usages.end(),
                     [pid](const hypomnesis::usage& usage) { return usage.pid == pid; });
}

// Returns the reason why it is unknown whether an unlisted process uses a GPU; none: it uses none.
std::optional<std::string> explain_unknown_use(const Session& session, std::uint32_t pid) {
  for (const auto& device : session.device_list().devices) {
    try {
      session.library().usage(device.index, pid);
    } catch (const hypomnesis::error& error) {
      if (error.status() == status_code::permission || error.status() == status_code::limit)
        return error.what();
    }
  }
  return std::nullopt;
}

// Completeness of a snapshot's process lists.
struct Coverage {
  bool is_partial = false;  // some list, or some GPU, is not known
  bool has_failed = false;  // because of a fault, or none is known
  PartialLists lists;
};

Coverage assess_coverage(const hypomnesis::snapshot& snapshot) {
  Coverage coverage{false, has_search_failed(snapshot), {}};
  const bool is_empty = snapshot.usages().empty();
  for (const auto& diagnostic : snapshot.diagnostics()) {
    const bool is_device_search = hides_devices(diagnostic) && !diagnostic.device_index &&
                                  diagnostic.subject == part::devices;
    if (!is_device_search && !hides_some_processes(diagnostic) && !hides_some_devices(diagnostic))
      continue;
    coverage.is_partial = true;
    if (diagnostic.device_index)
      coverage.lists.devices.insert(*diagnostic.device_index);
    else
      coverage.lists.all = true;
    if (!is_device_search && !diagnostic.device_index) continue;  // some processes only
    const bool is_denied = diagnostic.status == status_code::unsupported ||
                           diagnostic.status == status_code::permission;
    if (is_fault(diagnostic) || (is_empty && is_denied)) coverage.has_failed = true;
  }
  coverage.is_partial = coverage.is_partial || coverage.has_failed;
  return coverage;
}

// Prints why unattributed memory is missing, which is not a fault and is not reported elsewhere.
void explain_unattributed(const hypomnesis::snapshot& snapshot) {
  for (const auto& diagnostic : snapshot.diagnostics())
    if (diagnostic.subject == part::pools && diagnostic.field == HMN_POOL_HAS_UNATTRIBUTED)
      write_notice(describe_with_fields(diagnostic));
}

// Prints why a list is missing that no source supports, which is not a fault.
void explain_unsupported(const hypomnesis::snapshot& snapshot) {
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [](const auto& diagnostic) {
    return !hides_some_processes(diagnostic) || matters(diagnostic);
  });
  for (const auto& line : format_distinct_lines(diagnostics)) write_notice(line);
}

void print_messages(const Session& session, const View& view, const Options& options,
                    const std::vector<ProcessRow>& rows, bool is_partial) {
  const bool none = view.snapshot.info().device_count == 0 && !has_search_failed(view.snapshot);
  print_diagnostics(view.snapshot, none);
  if (none) write_notice("GPU: " + explain_no_gpu(session, view.snapshot));
  if (rows.empty()) explain_unsupported(view.snapshot);
  if (options.show_unattributed) explain_unattributed(view.snapshot);
  if (!rows.empty() || !is_partial)
    write_notice(format_count_sentence(
        rows, {options.pid, options.devices, options.match, options.user}, is_partial));
}

std::string format_output(const std::vector<ProcessRow>& rows, const Options& options,
                          const PartialLists& partial, const Style& style) {
  if (options.grouping) {
    const auto groups = group_rows(make_row_list(rows), *options.grouping, partial);
    if (options.csv) return format_group_csv(groups, *options.grouping);
    return options.json ? format_group_json(groups, *options.grouping)
                        : format_group_table(groups, *options.grouping, style);
  }
  if (options.csv) return format_process_csv(rows, options.columns);
  if (options.json) return format_process_json(rows, options.columns, options.show_pools);
  return options.show_pools ? format_pool_table(rows, style)
                            : format_process_table(rows, options.columns, style);
}

Expected<ExitCode> run_ps(const Session& session, const Options& options, const Style& style) {
  const auto view = read_view(session, options);
  if (!view) return view.error();
  if (options.pid && !is_listed(view->snapshot, *options.pid) &&
      session.has_ended(*options.pid).value_or(false))
    return make_failure(fmt::format("--pid {}: no such process", *options.pid));
  const auto gpus = make_gpu_map(list_gpus(session, view->snapshot));
  const auto whole_gpus = options.show_unattributed ? select_whole_gpus(gpus) : GpuMap();
  auto rows = make_rows(session, gpus, options, *view);
  auto coverage = assess_coverage(view->snapshot);
  if (options.pid && rows.empty() && coverage.is_partial && !coverage.has_failed) {
    const auto reason = explain_unknown_use(session, *options.pid);
    if (reason) write_notice(*reason);
    coverage.has_failed = reason.has_value();
  }
  print_messages(session, *view, options, rows, coverage.is_partial);
  if (options.show_unattributed) add_unattributed(whole_gpus, view->devices, rows);
  const auto result = coverage.has_failed ? ExitCode::failed : ExitCode::done;
  return std::max(result, write_output(format_output(rows, options, coverage.lists, style)));
}

constexpr Option ps_options[] = {
    {"--pid", 'p', "PID", "Only this process", Completion::pid, "", Occurrence::once},
    user_option,
    match_option("Only where name or command matches (* ? [a-z])"),
    sort_option("By vram, shared, total, ram, pid, name, load, user",
                "vram shared total ram pid name load user"),
    {"--by", 0, "WHAT", "Totals by user, container, pod, job, unit, device", Completion::words,
     "user container pod job unit device"},
    {"--columns", 0, "LIST", "Columns, separated by commas", Completion::list,
     "pid name vram shared ram gpu user command device type load container nspid peak"},
    {"--unattributed", 0, "", "Also memory that belongs to no visible process"},
    {"--show-pools", 0, "", "One line per memory pool of each process"},
    device_option("Only this device; several: 0,1, or repeated", Occurrence::many),
    json_option("Print a JSON array"),
    csv_option,
};

constexpr std::string_view ps_examples =
    "Examples:\n"
    "  hmn ps -d 0 -u root                  root's processes on GPU 0\n"
    "  hmn ps --device GPU-8f6d2b1e-...     by UUID; also 0 or 0000:01:00.0\n"
    "  hmn ps --match 'python*' --sort total\n"
    "  hmn ps --by user                     sums per user\n"
    "  hmn ps --columns pid,user,vram,load,container,command\n"
    "  hmn ps --json | jq 'sort_by(-(.used_bytes // 0))[:5]'\n"
    "\n"
    "Columns: pid, name, vram, shared, ram, gpu, user, command, device, type, load,\n"
    "container, nspid; peak: the highest use that the driver has accounted (NVIDIA's\n"
    "accounting mode, which root enables), else unknown. A value that the device or\n"
    "its driver does not have is -, one that is not known ?. Without --columns the\n"
    "first eight, user and command where the terminal has the width.\n"
    "\n"
    "Exit status: 0 done (also when the list is empty), 1 failed, no such device or\n"
    "process, 2 wrong usage. See hmn-ps(1).";

std::optional<Failure> read_pid(const Arguments& arguments, std::optional<std::uint32_t>& pid) {
  const auto text = arguments.text("--pid");
  if (!text) return std::nullopt;
  pid = parse_whole_number(*text);
  if (pid && *pid > 0) return std::nullopt;
  return make_usage_error(
      fmt::format("--pid \"{}\": expected a whole number from 1 to 4294967295", *text));
}

std::optional<Failure> read_grouping(const Arguments& arguments,
                                     std::optional<Grouping>& grouping) {
  constexpr Grouping choices[] = {Grouping::user, Grouping::container, Grouping::pod,
                                  Grouping::job,  Grouping::unit,      Grouping::device};
  const auto text = arguments.text("--by");
  if (!text) return std::nullopt;
  const auto choice = parse_grouping("--by", *text, choices);
  if (!choice) return choice.error();
  grouping = *choice;
  for (const char* const option : {"--columns", "--show-pools", "--sort", "--unattributed"})
    if (auto failure = check_exclusive(arguments, option, "--by")) return failure;
  return std::nullopt;
}

std::optional<Failure> read_ps(const Arguments& arguments, Options& options) {
  if (auto failure = read_pid(arguments, options.pid)) return failure;
  if (auto failure = read_sort(arguments, sort_words, options.sort)) return failure;
  auto devices = parse_device_list(arguments.all("--device"));
  if (!devices) return devices.error();
  options.devices = *std::move(devices);
  if (auto failure = read_text(arguments, "--user", expected_user, options.user)) return failure;
  if (const auto text = arguments.text("--columns")) {
    auto columns = parse_columns(*text);
    if (!columns) return columns.error();
    options.columns = *std::move(columns);
  }
  if (auto failure = check_exclusive(arguments, "--columns", "--show-pools")) return failure;
  if (auto failure = check_exclusive(arguments, "--json", "--csv")) return failure;
  if (auto failure = check_exclusive(arguments, "--csv", "--show-pools")) return failure;
  options.csv = arguments.has("--csv");
  if (auto failure = read_grouping(arguments, options.grouping)) return failure;
  for (const char* const option : {"--pid", "--match", "--user"})
    if (auto failure = check_exclusive(arguments, "--unattributed", option)) return failure;
  options.show_pools = arguments.has("--show-pools");
  options.show_unattributed = arguments.has("--unattributed");
  return read_text(arguments, "--match", expected_name_pattern, options.match);
}

}  // namespace

const Command ps_command = {
    .id = CommandId::ps,
    .name = "ps",
    .purpose = "List the processes that hold GPU memory",
    .options = ps_options,
    .examples = ps_examples,
    .read = read_ps,
    .run = run_ps,
};

}  // namespace hmn::cli
