// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/process_columns.hpp"
#include "cli/measure/look.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/system/process_facts.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/glob.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

constexpr std::chrono::milliseconds load_window(250);

// A GPU that is split has its processes on its partitions.
bool is_split(const context& in, device_index index) {
  const auto count = in.device_count();
  for (device_index i = 0; count && i < *count; ++i) {
    const auto other = in.device(i);
    if (other && has(*other, HMN_DEVICE_HAS_PARENT) && other->parent_index == index) return true;
  }
  return false;
}

hmn_snapshot_options wanted(const context& in, std::optional<device_index> only) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES;
  if (only && !is_split(in, *only)) {
    what.flags = HMN_SNAPSHOT_ONE_DEVICE;
    what.device_index = *only;
  }
  return what;
}

bool belongs_to(const process_row& row, std::optional<device_index> device) {
  if (!device || row.usage.device_index == *device) return true;
  return has(row.on->device, HMN_DEVICE_HAS_PARENT) && row.on->device.parent_index == *device;
}

bool passes(const process_row& row, const options& asked, std::optional<device_index> device) {
  if (asked.pid && row.usage.pid != *asked.pid) return false;
  if (asked.match && !(row.name && glob_matches(*asked.match, *row.name))) return false;
  return belongs_to(row, device);
}

using gpu_map = std::map<device_index, std::shared_ptr<const gpu>>;

gpu_map map_of(const std::vector<gpu>& gpus) {
  gpu_map all;
  for (const auto& each : gpus) all[each.device.index] = std::make_shared<const gpu>(each);
  return all;
}

std::shared_ptr<const gpu> device_of(gpu_map& gpus, device_index index) {
  auto& found = gpus[index];
  if (!found) {
    gpu unlisted;
    unlisted.device.index = index;
    found = std::make_shared<const gpu>(unlisted);
  }
  return found;
}

std::optional<std::string> user_of(const hmn_usage& usage, bool simulated) {
  const auto uid = known(usage, HMN_USAGE_HAS_UID, usage.uid);
  if (simulated) return uid ? std::optional(std::to_string(*uid)) : std::nullopt;
  return process_user(usage.pid, uid);
}

// What costs more, where a column shows it. A simulated machine's users are not this one's.
void look_up(process_row& row, std::uint32_t position, const snapshot& picture,
             const column_list& columns, bool simulated) {
  if (columns.empty() || has_column(columns, "container"))
    row.container = picture.text(HMN_TEXT_PROCESS_CONTAINER, position);
  if (has_column(columns, "command"))
    row.command = picture.text(HMN_TEXT_PROCESS_COMMAND, position);
  const bool foreign = (row.usage.notes & HMN_NOTE_FOREIGN_PID) != 0;
  if (has_column(columns, "user")) row.user = user_of(row.usage, simulated);
  if (has_column(columns, "nspid") && !simulated && !foreign)
    row.namespace_pid = namespace_pid(row.usage.pid);
}

// Those whose processes stand under them and not under their partitions.
gpu_map whole_gpus_of(gpu_map all) {
  std::set<device_index> split;
  for (const auto& [index, each] : all)
    if (has(each->device, HMN_DEVICE_HAS_PARENT)) split.insert(each->device.parent_index);
  std::erase_if(all, [&split](const auto& each) {
    return !each.second->memory || split.contains(each.first);
  });
  return all;
}

void add_unattributed(const gpu_map& whole, std::optional<device_index> only,
                      std::vector<process_row>& to) {
  for (const auto& [index, each] : whole) {
    const auto& pool = *each->memory;
    process_row row;
    row.on = each;
    row.is_unattributed = true;
    row.usage.device_index = index;
    row.usage.backend = pool.backend;
    row.usage.notes = pool.notes & HMN_NOTE_STALE;
    row.usage.age_ns = pool.age_ns;
    if (has(pool, HMN_POOL_HAS_UNATTRIBUTED)) row.usage.present = HMN_USAGE_HAS_USED;
    row.usage.used_bytes = pool.unattributed_bytes;
    row.usage.accounting = pool.accounting;
    if (belongs_to(row, only)) to.push_back(std::move(row));
  }
}

std::vector<process_row> rows_of(const snapshot& picture, gpu_map gpus, const options& asked,
                                 std::optional<device_index> device, bool simulated) {
  std::vector<process_row> rows;
  std::uint32_t position = 0;
  for (const auto& usage : picture.usages()) {
    process_row row;
    row.usage = usage;
    row.name = picture.text(HMN_TEXT_PROCESS_NAME, position);
    row.on = device_of(gpus, usage.device_index);
    if (passes(row, asked, device)) {
      look_up(row, position, picture, asked.columns, simulated);
      rows.push_back(std::move(row));
    }
    ++position;
  }
  sort_rows(rows, asked.sort);
  return rows;
}

struct view {
  std::optional<device_index> device;
  snapshot picture;
};

// What drivers count is a share of time from the second reading on.
bool load_is_yet_to_come(const snapshot& picture) {
  const auto usages = picture.usages();
  return std::any_of(usages.begin(), usages.end(), [](const hmn_usage& each) {
    return has(each, HMN_USAGE_HAS_BUSY_NS) && !has(each, HMN_USAGE_HAS_BUSY_PERCENT);
  });
}

expected<view> find_and_look(const context& in, const options& asked) {
  std::optional<device_index> device;
  if (asked.device) {
    const waiting_notice notice;
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    device = *found;
  }
  const auto what = wanted(in, device);
  auto picture = look(in, what, asked.trace);
  if (picture && has_column(asked.columns, "load") && load_is_yet_to_come(*picture)) {
    std::this_thread::sleep_for(load_window);
    picture = in.take(what);
  }
  if (!picture) return picture.why();
  return view{device, *std::move(picture)};
}

bool listed(const snapshot& picture, std::uint32_t pid) {
  const auto usages = picture.usages();
  return std::any_of(usages.begin(), usages.end(),
                     [pid](const hmn_usage& each) { return each.pid == pid; });
}

// That a device's processes, or some of them, were not read.
bool is_of_list(const hmn_diagnostic& of) {
  return matters(of) && (of.subject & HMN_COLLECT_PROCESSES) != 0 &&
         !has(of, HMN_DIAGNOSTIC_HAS_FIELD) && !has(of, HMN_DIAGNOSTIC_HAS_PID);
}

// Of a list that was not read nobody knows how long it is.
bool list_failed(const snapshot& picture) {
  const auto all = picture.diagnostics();
  return std::any_of(all.begin(), all.end(), is_of_list);
}

// Of a pool whose used memory is known.
const char* why_unattributed(const gpu& of) {
  const auto& pool = *of.memory;
  if ((pool.notes & (HMN_NOTE_LOWER_BOUND | HMN_NOTE_ESTIMATED)) != 0)
    return "what is used is known as a lower bound or an estimate";
  if (of.device.memory_kind == HMN_MEMORY_KIND_UNIFIED && pool.kind != HMN_POOL_UNIFIED)
    return "processes are told with what they use of all pools, not of this one";
  return "what processes use is counted in another way than what is used in all";
}

// Why there is no figure is no fault, and told nowhere else.
void explain_unattributed(const snapshot& picture, gpu_map left) {
  std::erase_if(left, [](const auto& each) {
    const auto& pool = *each.second->memory;
    return has(pool, HMN_POOL_HAS_UNATTRIBUTED) || !has(pool, HMN_POOL_HAS_USED);
  });
  for (const auto& each : picture.diagnostics()) {
    const bool is_told =
        each.subject == HMN_COLLECT_POOLS && each.field == HMN_POOL_HAS_UNATTRIBUTED;
    if (is_told) write_remark(describe(each));
    if (is_told || is_of_list(each)) left.erase(each.device_index);
  }
  for (const auto& [index, each] : left)
    write_remark(fmt::format("GPU {}: what no process uses cannot be told: {}", index,
                             why_unattributed(*each)));
}

void print_remarks(const context& in, const view& seen, const options& asked, const gpu_map& whole,
                   const std::vector<process_row>& rows) {
  const bool none = seen.picture.info().device_count == 0 && !search_failed(seen.picture);
  print_diagnostics(seen.picture, none);
  if (none) write_remark("GPU: " + why_no_gpu(in, seen.picture));
  if (asked.unattributed) explain_unattributed(seen.picture, whole);
  if (!rows.empty() || !list_failed(seen.picture))
    write_remark(count_sentence(rows, {asked.pid, asked.device, asked.match}));
}

}  // namespace

expected<exit_code> run_ps(const context& in, const options& asked, const style& as) {
  const auto seen = find_and_look(in, asked);
  if (!seen) return seen.why();
  if (asked.pid && !listed(seen->picture, *asked.pid) &&
      in.process_status(*asked.pid) == HMN_E_NO_PROCESS)
    return failed(fmt::format("--pid {}: no such process", *asked.pid));
  const bool simulated = in.simulation().has_value();
  const auto gpus = map_of(gpus_of(seen->picture));
  const auto whole = asked.unattributed ? whole_gpus_of(gpus) : gpu_map();
  auto rows = rows_of(seen->picture, gpus, asked, seen->device, simulated);
  print_remarks(in, *seen, asked, whole, rows);
  if (asked.unattributed && !asked.pid && !asked.match) add_unattributed(whole, seen->device, rows);
  const auto result = search_failed(seen->picture) ? exit_code::failed : exit_code::done;
  return std::max(result, write_output(asked.json ? process_json(rows, asked.columns)
                                                  : process_table(rows, asked.columns, as)));
}

}  // namespace hmn::cli
