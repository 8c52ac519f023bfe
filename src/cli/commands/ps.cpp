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

hypomnesis::snapshot_options wanted(const Session& in, const DeviceSet& only) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::pools | part::processes;
  if (only.size() != 1) return what;
  const auto& all = in.listed().devices;
  const auto one = *only.begin();
  if (one >= all.size() || !is_divided(all[one])) what.device_index = one;
  return what;
}

bool belongs_to(const ProcessRow& row, const DeviceSet& devices) {
  const auto& parent = row.on->device.parent_index;
  return devices.empty() || devices.contains(row.usage.device_index) ||
         (parent && devices.contains(*parent));
}

bool passes(const ProcessRow& row, const Options& asked, const DeviceSet& devices) {
  if (asked.pid && row.usage.pid != *asked.pid) return false;
  if (!is_selected(asked.match, row.usage.process_name) &&
      !is_selected(asked.match, row.usage.process_command))
    return false;
  return belongs_to(row, devices);
}

// Values that take time to look up, for the selected columns.
struct Lookups {
  bool users = false;
  bool namespace_pids = false;
  bool workloads = false;
  UserNames names;
  UserNames::Clock::time_point until;
};

Lookups lookups_of(const Session& in, const Options& asked) {
  const bool simulated = in.is_simulated();
  const bool by_workload =
      asked.by == Grouping::pod || asked.by == Grouping::job || asked.by == Grouping::unit;
  const bool by_default =
      !asked.by && asked.columns.empty() && !asked.json && !asked.csv && !asked.show_pools;
  return {by_default || asked.user || asked.by == Grouping::user || asked.sort == SortKey::user ||
              has_column(asked.columns, "user"),
          has_column(asked.columns, "nspid") && !simulated, by_workload, UserNames(simulated),
          UserNames::Clock::now() + in.patience()};
}

void look_up(const Session& in, ProcessRow& row, Lookups& with) {
  if (with.users) row.user = with.names.of(row.usage, with.until);
  if (with.workloads) row.in = in.workload(row.usage);
  if (has(row.usage.notes, note::foreign_pid)) return;
  if (with.namespace_pids) row.namespace_pid = namespace_pid(row.usage.pid);
}

// Returns GPUs whose processes are listed under them rather than under partitions.
GpuMap whole_gpus_of(GpuMap all) {
  std::erase_if(all, [](const auto& each) {
    return !each.second->memory || is_divided(each.second->device);
  });
  return all;
}

void add_unattributed(const GpuMap& whole, const DeviceSet& only, std::vector<ProcessRow>& to) {
  for (const auto& [index, each] : whole) {
    const auto& pool = *each->memory;
    ProcessRow row;
    row.on = each;
    row.is_unattributed = true;
    row.usage.device_index = index;
    row.usage.backend = pool.backend;
    row.usage.notes = pool.notes & note::stale;
    row.usage.age_ns = pool.age_ns;
    const bool is_host = pool.kind == hypomnesis::pool_kind::host;
    (is_host ? row.usage.host_pool_bytes : row.usage.used_bytes) = pool.unattributed_bytes;
    row.use.main = pool.unattributed_bytes;
    row.usage.accounting = pool.accounting;
    if (belongs_to(row, only)) to.push_back(std::move(row));
  }
}

struct View {
  DeviceSet devices;
  std::optional<UserFilter> user;
  hypomnesis::snapshot snapshot;
};

std::vector<ProcessRow> rows_of(const Session& in, GpuMap gpus, const Options& asked,
                                const View& seen) {
  std::vector<ProcessRow> rows;
  auto with = lookups_of(in, asked);
  auto usages = seen.snapshot.usages();
  const UnsupportedUsage unsupported(seen.snapshot, usages);
  for (auto& usage : usages) {
    ProcessRow row;
    row.on = device_of(gpus, usage.device_index);
    row.unsupported = unsupported.of(usage);
    row.usage = std::move(usage);
    if (!passes(row, asked, seen.devices)) continue;
    show_pool(row, &PoolUse::own);
    look_up(in, row, with);
    if (!seen.user || seen.user->matches(row)) rows.push_back(std::move(row));
  }
  sort_rows(rows, asked.sort);
  return rows;
}

// Returns whether a load is pending: drivers' counters become a share of time at the second
// reading.
bool is_load_pending(const hypomnesis::snapshot& snapshot) {
  const auto usages = snapshot.usages();
  return std::any_of(usages.begin(), usages.end(), [](const hypomnesis::usage& each) {
    return each.busy_ns && !each.busy_percent;
  });
}

Expected<View> find_and_read(const Session& in, const Options& asked) {
  DeviceSet devices;
  if (!asked.devices.empty()) {
    const WaitingNotice notice;
    const auto found = find_devices(in, asked.devices);
    if (!found) return found.why();
    devices.insert(found->begin(), found->end());
  }
  std::optional<UserFilter> user;
  if (asked.user) {
    const auto found =
        find_user(*asked.user, in.is_simulated(), UserNames::Clock::now() + in.patience());
    if (!found) return found.why();
    user = *found;
  }
  const auto what = wanted(in, devices);
  auto snapshot = in.collect(what);
  const bool needs_load = asked.sort == SortKey::load || has_column(asked.columns, "load");
  if (needs_load && is_load_pending(snapshot)) {
    std::this_thread::sleep_for(load_window);
    snapshot = in.take(what);
  }
  return View{std::move(devices), std::move(user), std::move(snapshot)};
}

bool listed(const hypomnesis::snapshot& snapshot, std::uint32_t pid) {
  const auto usages = snapshot.usages();
  return std::any_of(usages.begin(), usages.end(),
                     [pid](const hypomnesis::usage& each) { return each.pid == pid; });
}

// Returns why it is not known whether a process that no list has uses a GPU; none: it uses none.
std::optional<std::string> why_not_known(const Session& in, std::uint32_t pid) {
  for (const auto& each : in.listed().devices) {
    try {
      in.library().usage(each.index, pid);
    } catch (const hypomnesis::error& why) {
      if (why.status() == status_code::permission || why.status() == status_code::limit)
        return why.what();
    }
  }
  return std::nullopt;
}

// How much of the processes a snapshot has.
struct Coverage {
  bool is_partial = false;  // some list, or some GPU, is not known
  bool is_failed = false;   // because of a fault, or none is known
  PartialLists lists;
};

Coverage coverage_of(const hypomnesis::snapshot& snapshot) {
  Coverage out{false, search_failed(snapshot), {}};
  const bool is_empty = snapshot.usages().empty();
  for (const auto& each : snapshot.diagnostics()) {
    const bool is_of_all =
        hides_devices(each) && !each.device_index && each.subject == part::devices;
    if (!is_of_all && !hides_list(each) && !lessens_devices(each)) continue;
    out.is_partial = true;
    if (each.device_index)
      out.lists.devices.insert(*each.device_index);
    else
      out.lists.all = true;
    if (!is_of_all && !each.device_index) continue;  // some processes only
    const bool is_denied =
        each.status == status_code::unsupported || each.status == status_code::permission;
    if (is_fault(each) || (is_empty && is_denied)) out.is_failed = true;
  }
  out.is_partial = out.is_partial || out.is_failed;
  return out;
}

// Prints why unattributed memory is missing, which is not a fault and is not reported elsewhere.
void explain_unattributed(const hypomnesis::snapshot& snapshot) {
  for (const auto& each : snapshot.diagnostics())
    if (each.subject == part::pools && each.field == HMN_POOL_HAS_UNATTRIBUTED)
      write_notice(describe_with_fields(each));
}

// Prints why a list is missing that no source can have, which is not a fault.
void explain_unsupported(const hypomnesis::snapshot& snapshot) {
  auto all = snapshot.diagnostics();
  std::erase_if(all, [](const auto& each) { return !hides_list(each) || matters(each); });
  for (const auto& line : distinct_lines(all)) write_notice(line);
}

void print_messages(const Session& in, const View& seen, const Options& asked,
                    const std::vector<ProcessRow>& rows, bool is_partial) {
  const bool none = seen.snapshot.info().device_count == 0 && !search_failed(seen.snapshot);
  print_diagnostics(seen.snapshot, none);
  if (none) write_notice("GPU: " + why_no_gpu(in, seen.snapshot));
  if (rows.empty()) explain_unsupported(seen.snapshot);
  if (asked.unattributed) explain_unattributed(seen.snapshot);
  if (!rows.empty() || !is_partial)
    write_notice(
        count_sentence(rows, {asked.pid, asked.devices, asked.match, asked.user}, is_partial));
}

std::string text_of(const std::vector<ProcessRow>& rows, const Options& asked,
                    const PartialLists& partial, const Style& as) {
  if (asked.by) {
    const auto groups = group_rows(list_of(rows), *asked.by, partial);
    if (asked.csv) return group_csv(groups, *asked.by);
    return asked.json ? group_json(groups, *asked.by) : group_table(groups, *asked.by, as);
  }
  if (asked.csv) return process_csv(rows, asked.columns);
  if (asked.json) return process_json(rows, asked.columns, asked.show_pools);
  return asked.show_pools ? pool_table(rows, as) : process_table(rows, asked.columns, as);
}

Expected<ExitCode> run_ps(const Session& in, const Options& asked, const Style& as) {
  const auto seen = find_and_read(in, asked);
  if (!seen) return seen.why();
  if (asked.pid && !listed(seen->snapshot, *asked.pid) && in.has_ended(*asked.pid).value_or(false))
    return failed(fmt::format("--pid {}: no such process", *asked.pid));
  const auto gpus = map_of(gpus_of(in, seen->snapshot));
  const auto whole = asked.unattributed ? whole_gpus_of(gpus) : GpuMap();
  auto rows = rows_of(in, gpus, asked, *seen);
  auto known = coverage_of(seen->snapshot);
  if (asked.pid && rows.empty() && known.is_partial && !known.is_failed) {
    const auto why = why_not_known(in, *asked.pid);
    if (why) write_notice(*why);
    known.is_failed = why.has_value();
  }
  print_messages(in, *seen, asked, rows, known.is_partial);
  if (asked.unattributed) add_unattributed(whole, seen->devices, rows);
  const auto result = known.is_failed ? ExitCode::failed : ExitCode::done;
  return std::max(result, write_output(text_of(rows, asked, known.lists, as)));
}

constexpr Option options_of_ps[] = {
    {"--pid", 'p', "PID", "Only this process", Completion::pid, "", Uses::once},
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
    device_option("Only this device; several: 0,1, or repeated", Uses::many),
    json_option("Print a JSON array"),
    csv_option,
};

constexpr std::string_view examples_of_ps =
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

std::optional<Failure> read_pid(const Arguments& from, std::optional<std::uint32_t>& to) {
  const auto text = from.text("--pid");
  if (!text) return std::nullopt;
  to = whole_number(*text);
  if (to && *to > 0) return std::nullopt;
  return misused(fmt::format("--pid \"{}\": expected a whole number from 1 to 4294967295", *text));
}

std::optional<Failure> read_by(const Arguments& from, std::optional<Grouping>& to) {
  constexpr Grouping known[] = {Grouping::user, Grouping::container, Grouping::pod,
                                Grouping::job,  Grouping::unit,      Grouping::device};
  const auto text = from.text("--by");
  if (!text) return std::nullopt;
  const auto by = parse_grouping("--by", *text, known);
  if (!by) return by.why();
  to = *by;
  for (const char* const of_single : {"--columns", "--show-pools", "--sort", "--unattributed"})
    if (auto twice = only_one_of(from, of_single, "--by")) return twice;
  return std::nullopt;
}

std::optional<Failure> read_ps(const Arguments& from, Options& to) {
  if (auto wrong = read_pid(from, to.pid)) return wrong;
  if (auto wrong = read_sort(from, sort_words, to.sort)) return wrong;
  auto devices = parse_device_list(from.all("--device"));
  if (!devices) return devices.why();
  to.devices = *std::move(devices);
  if (auto wrong = read_text(from, "--user", a_user, to.user)) return wrong;
  if (const auto text = from.text("--columns")) {
    auto columns = parse_columns(*text);
    if (!columns) return columns.why();
    to.columns = *std::move(columns);
  }
  if (auto twice = only_one_of(from, "--columns", "--show-pools")) return twice;
  if (auto twice = only_one_of(from, "--json", "--csv")) return twice;
  if (auto twice = only_one_of(from, "--csv", "--show-pools")) return twice;
  to.csv = from.has("--csv");
  if (auto wrong = read_by(from, to.by)) return wrong;
  for (const char* const choice : {"--pid", "--match", "--user"})
    if (auto twice = only_one_of(from, "--unattributed", choice)) return twice;
  to.show_pools = from.has("--show-pools");
  to.unattributed = from.has("--unattributed");
  return read_text(from, "--match", a_name_pattern, to.match);
}

}  // namespace

const CommandEntry ps_command = {
    .id = Command::ps,
    .name = "ps",
    .purpose = "List the processes that hold GPU memory",
    .takes = options_of_ps,
    .examples = examples_of_ps,
    .read = read_ps,
    .run = run_ps,
};

}  // namespace hmn::cli
