// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/bar.hpp"
#include "cli/commands.hpp"
#include "cli/device_argument.hpp"
#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/glob.hpp"
#include "cli/json.hpp"
#include "cli/look.hpp"
#include "cli/memory_line.hpp"
#include "cli/no_gpu.hpp"
#include "cli/output.hpp"
#include "cli/process_row.hpp"
#include "cli/size.hpp"
#include "cli/table.hpp"
#include "cli/waiting_notice.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

// Cells of a bar, by the room that there is.
unsigned bar_cells(const style& as) {
  if (!as.terminal) return 0;
  if (as.width == 0 || as.width >= 100) return 10;
  return as.width >= 72 ? 6 : 0;
}

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

std::vector<process_row> rows_of(const snapshot& picture, const options& asked,
                                 std::optional<device_index> device) {
  auto gpus = map_of(gpus_of(picture));
  std::vector<process_row> rows;
  std::uint32_t position = 0;
  for (const auto& usage : picture.usages()) {
    process_row row{usage, picture.process_name(position++), device_of(gpus, usage.device_index)};
    if (passes(row, asked, device)) rows.push_back(std::move(row));
  }
  sort_rows(rows, asked.sort);
  return rows;
}

json_object to_json(const process_row& row) {
  const auto& usage = row.usage;
  json_object out;
  out.add("pid", usage.pid)
      .add("name", row.name)
      .add("used_bytes", row.vram())
      .add("shared_used_bytes", row.shared())
      .add("device_index", usage.device_index)
      .add("device_name", name_of(row.on->device))
      .add("device_uuid", uuid_of(row.on->device))
      .add("pci_bus_id", pci_bus_id_of(row.on->device))
      .add("parent_index",
           known(row.on->device, HMN_DEVICE_HAS_PARENT, row.on->device.parent_index))
      .add("name_state", or_unknown(name_state_word(usage.name_state)))
      .add("host_resident_bytes", row.ram())
      .add("uid", known(usage, HMN_USAGE_HAS_UID, usage.uid))
      .add("start_unix_ns", known(usage, HMN_USAGE_HAS_START_TIME, usage.start_unix_ns));
  if (has(usage, HMN_USAGE_HAS_KINDS))
    out.add("kinds", usage_kind_words(usage.kinds));
  else
    out.add_null("kinds");
  out.add("gpu_instance", known(usage, HMN_USAGE_HAS_INSTANCE, usage.gpu_instance))
      .add("compute_instance", known(usage, HMN_USAGE_HAS_INSTANCE, usage.compute_instance))
      .add("accounting", or_unknown(accounting_word(usage.accounting)))
      .add("source", source_word(usage.backend))
      .add("age_ns", usage.age_ns)
      .add("notes", note_words(usage.notes));
  return out;
}

std::string as_json(const std::vector<process_row>& rows) {
  std::vector<json_object> objects;
  for (const auto& each : rows) objects.push_back(to_json(each));
  return json_document(objects);
}

table::cell name_cell(const process_row& row, const style& as) {
  if (row.name) return {escape_for_text(*row.name, as.ascii_only)};
  if ((row.usage.notes & HMN_NOTE_FOREIGN_PID) != 0) return {"? other namespace", tone::faint};
  if (const auto state = name_state_word(row.usage.name_state))
    return {fmt::format("? {}", *state), tone::faint};
  return {"?", tone::faint};
}

table::cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark = {}) {
  if (!bytes) return {"?", tone::faint};
  return {std::string(mark) + size_text(*bytes)};
}

std::optional<double> share_of_device(const process_row& row) {
  const auto& pool = row.on->memory;
  if (!row.vram() || !pool || !has(*pool, HMN_POOL_HAS_TOTAL)) return std::nullopt;
  return fraction_of(*row.vram(), pool->total_bytes);
}

table::cell bar_cell(const process_row& row, const style& as) {
  const auto share = share_of_device(row);
  if (!share) return {};
  return {draw_bar(*share, bar_cells(as), as.unicode), tone_of_usage(*share)};
}

std::string as_table(const std::vector<process_row>& rows, const style& as) {
  using align = table::align;
  const bool bars = bar_cells(as) > 0;
  std::vector<table::column> columns{
      {"PID", align::right}, {"NAME", align::left, true}, {"VRAM", align::right}};
  if (bars) columns.push_back({""});
  columns.insert(columns.end(),
                 {{"SHARED", align::right}, {"RAM", align::right}, {"DEVICE", align::left, true}});
  table out(std::move(columns));
  for (const auto& each : rows) {
    std::vector<table::cell> cells{{fmt::to_string(each.usage.pid)},
                                   name_cell(each, as),
                                   size_cell(each.vram(), mark_of(each.usage.notes))};
    if (bars) cells.push_back(bar_cell(each, as));
    cells.push_back(size_cell(each.shared()));
    cells.push_back(size_cell(each.ram()));
    cells.push_back({escape_for_text(label_of(*each.on), as.ascii_only) +
                     staleness(each.usage.notes, each.usage.age_ns)});
    out.add(std::move(cells));
  }
  return out.text(as);
}

struct view {
  std::optional<device_index> device;
  snapshot picture;
};

expected<view> find_and_look(const context& in, const options& asked) {
  std::optional<device_index> device;
  if (asked.device) {
    const waiting_notice notice;
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    device = *found;
  }
  auto picture = look(in, wanted(in, device), asked.trace);
  if (!picture) return picture.why();
  return view{device, *std::move(picture)};
}

bool listed(const snapshot& picture, std::uint32_t pid) {
  const auto usages = picture.usages();
  return std::any_of(usages.begin(), usages.end(),
                     [pid](const hmn_usage& each) { return each.pid == pid; });
}

void print_remarks(const context& in, const view& seen, const options& asked,
                   const std::vector<process_row>& rows) {
  const bool none = seen.picture.info().device_count == 0 && !search_failed(seen.picture);
  print_diagnostics(seen.picture, none);
  if (none) write_remark("GPU: " + why_no_gpu(in));
  write_remark(count_sentence(rows, {asked.pid, asked.device, asked.match}));
}

}  // namespace

expected<exit_code> run_ps(const context& in, const options& asked, const style& as) {
  const auto seen = find_and_look(in, asked);
  if (!seen) return seen.why();
  if (asked.pid && !listed(seen->picture, *asked.pid) &&
      in.process_status(*asked.pid) == HMN_E_NO_PROCESS)
    return failed(fmt::format("--pid {}: no such process", *asked.pid));
  const auto rows = rows_of(seen->picture, asked, seen->device);
  print_remarks(in, *seen, asked, rows);
  const auto result = search_failed(seen->picture) ? exit_code::failed : exit_code::done;
  return std::max(result, write_output(asked.json ? as_json(rows) : as_table(rows, as)));
}

}  // namespace hmn::cli
