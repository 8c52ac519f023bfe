// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/measure/gpu_status.hpp"
#include "cli/measure/processes.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

using cell = table::cell;

cell unknown() {
  return {"?", tone::faint};
}

// Returns the sign of a missing value; `field` is one of HMN_USAGE_HAS_*.
cell missing(const process_row& row, std::uint32_t field) {
  return {std::string(sign_of_missing(row.lacks(field))), tone::faint};
}

cell text_cell(const std::optional<std::string>& text, const style& as) {
  return text ? cell{escape_for_text(*text, as.ascii_only)} : unknown();
}

// Returns the length of a bar for the width of the terminal.
unsigned bar_cells(const style& as) {
  if (!as.terminal) return 0;
  if (as.width == 0 || as.width >= 100) return 10;
  return as.width >= 72 ? 6 : 0;
}

std::optional<double> share_of_device(const process_row& row) {
  const auto& pool = row.on->memory;
  if (!row.use.main || !pool || !pool->total_bytes) return std::nullopt;
  return fraction_of(*row.use.main, *pool->total_bytes);
}

bool has_bars(const style& as) {
  return bar_cells(as) > 0;
}

table::cell show_pid(const process_row& row, const style&) {
  return row.is_unattributed ? cell{"-"} : cell{fmt::to_string(row.usage.pid)};
}

table::cell show_name(const process_row& row, const style& as) {
  if (row.is_unattributed) return {"(unattributed)", tone::faint};
  if (row.usage.process_name) return text_cell(row.usage.process_name, as);
  return {sign_of_missing_name(row.usage), tone::faint};
}

table::cell show_vram(const process_row& row, const style&) {
  if (row.is_unattributed && row.usage.host_pool_bytes) return {};
  return size_or_missing(row, row.usage.used_bytes, HMN_USAGE_HAS_USED, mark_of(row.usage.notes));
}

table::cell show_peak(const process_row& row, const style&) {
  return size_or_missing(row, row.usage.peak_used_bytes, HMN_USAGE_HAS_PEAK_USED);
}

table::cell show_bar(const process_row& row, const style& as) {
  const auto share = share_of_device(row);
  if (!share) return {};
  return {draw_bar(*share, bar_cells(as), as.unicode), tone_of_usage(*share)};
}

table::cell show_shared(const process_row& row, const style&) {
  if (row.is_unattributed && !row.usage.host_pool_bytes) return {};
  return size_or_missing(row, row.usage.host_pool_bytes, HMN_USAGE_HAS_HOST_POOL,
                         mark_of(row.usage.notes));
}

table::cell show_ram(const process_row& row, const style&) {
  return row.is_unattributed ? cell{} : size_cell(row.usage.host_resident_bytes);
}

table::cell show_device(const process_row& row, const style& as) {
  const auto age = staleness(row.usage.notes, row.usage.age_ns);
  const auto& device = row.on->device;
  cell out{escape_for_text(label_of(*row.on), as.ascii_only) + age};
  if (device.name) {
    const auto label = fmt::format("GPU {} [{}]", device.index, short_name(*row.on));
    out.shorter.push_back(escape_for_text(label, as.ascii_only) + age);
  }
  return out;
}

table::cell show_index(const process_row& row, const style&) {
  return {fmt::to_string(row.on->device.index) + staleness(row.usage.notes, row.usage.age_ns)};
}

table::cell show_type(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.kinds) return missing(row, HMN_USAGE_HAS_KINDS);
  const auto words = usage_kind_words(*row.usage.kinds);
  return {words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"))};
}

table::cell show_user(const process_row& row, const style& as) {
  return row.is_unattributed ? cell{} : text_cell(row.user, as);
}

table::cell show_load(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.busy_percent) return missing(row, HMN_USAGE_HAS_BUSY_PERCENT);
  return {fmt::format("{:.0f} %", *row.usage.busy_percent)};
}

table::cell show_container(const process_row& row, const style& as) {
  if (row.is_unattributed) return {};
  if (!row.usage.process_container) return {"-", tone::faint};
  return {escape_for_text(short_container(*row.usage.process_container), as.ascii_only)};
}

table::cell show_command(const process_row& row, const style& as) {
  return row.is_unattributed ? cell{} : text_cell(row.usage.process_command, as);
}

table::cell show_namespace_pid(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  return row.namespace_pid ? cell{fmt::to_string(*row.namespace_pid)} : unknown();
}

using align = table::align;

void write_pid(const process_row& row, json_object& out) {
  out.add("pid", row.is_unattributed ? std::nullopt : std::optional(row.usage.pid));
}

void write_name(const process_row& row, json_object& out) {
  out.add("name", row.usage.process_name);
}

void write_name_state(const process_row& row, json_object& out) {
  out.add("name_state", row.is_unattributed ? std::string_view("unattributed")
                                            : or_unknown(name_state_word(row.usage.name_state)));
}

void write_name_and_state(const process_row& row, json_object& out) {
  write_name(row, out);
  write_name_state(row, out);
}

void write_vram(const process_row& row, json_object& out) {
  out.add("used_bytes", row.usage.used_bytes);
}

void write_shared(const process_row& row, json_object& out) {
  out.add("shared_used_bytes", row.usage.host_pool_bytes);
}

void write_device(const process_row& row, json_object& out) {
  const auto& device = row.on->device;
  out.add("device_index", row.usage.device_index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

void write_ram(const process_row& row, json_object& out) {
  out.add("host_resident_bytes", row.usage.host_resident_bytes);
}

void write_uid(const process_row& row, json_object& out) {
  out.add("uid", row.usage.uid);
}

void write_start(const process_row& row, json_object& out) {
  out.add("start_unix_ns", row.usage.start_unix_ns);
}

void write_type(const process_row& row, json_object& out) {
  const auto& kinds = row.usage.kinds;
  out.add("kinds", kinds ? std::optional(usage_kind_words(*kinds)) : std::nullopt);
}

void write_instance(const process_row& row, json_object& out) {
  const auto& usage = row.usage;
  out.add("gpu_instance", usage.gpu_instance).add("compute_instance", usage.compute_instance);
}

void write_accounting(const process_row& row, json_object& out) {
  out.add("accounting", or_unknown(accounting_word(row.usage.accounting)));
}

void write_origin(const process_row& row, json_object& out) {
  out.add("backend", source_word(row.usage.backend))
      .add("age_ns", row.usage.age_ns)
      .add("notes", note_words(row.usage.notes));
}

void write_load(const process_row& row, json_object& out) {
  const auto& usage = row.usage;
  out.add("busy_percent", usage.busy_percent).add("busy_ns", usage.busy_ns);
}

void write_container(const process_row& row, json_object& out) {
  out.add("container", row.usage.process_container);
}

void write_user(const process_row& row, json_object& out) {
  out.add("user", row.user);
  write_uid(row, out);
}

void write_command(const process_row& row, json_object& out) {
  out.add("command", row.usage.process_command);
}

void write_namespace_pid(const process_row& row, json_object& out) {
  out.add("namespace_pid", row.namespace_pid);
}

void write_peak(const process_row& row, json_object& out) {
  out.add("peak_used_bytes", row.usage.peak_used_bytes);
}

void write_size(const process_row& row, json_object& out) {
  write_vram(row, out);
  write_accounting(row, out);
}

using key_writer = void (*)(const process_row&, json_object&);

struct column_kind {
  std::string_view name;
  std::string_view alias;
  const char* title;
  align side;
  bool shrinks;
  table::cell (*show)(const process_row&, const style&);
  key_writer write;
};

constexpr column_kind kinds[] = {
    {"pid", "", "PID", align::right, false, show_pid, write_pid},
    {"name", "", "NAME", align::left, true, show_name, write_name_and_state},
    {"vram", "used", "VRAM", align::right, false, show_vram, write_size},
    {"shared", "host", "SHARED", align::right, false, show_shared, write_shared},
    {"ram", "", "RAM", align::right, false, show_ram, write_ram},
    {"gpu", "", "GPU", align::right, false, show_index, write_device},
    {"user", "", "USER", align::left, true, show_user, write_user},
    {"command", "", "COMMAND", align::left, true, show_command, write_command},
    {"device", "", "DEVICE", align::left, true, show_device, write_device},
    {"type", "", "TYPE", align::left, false, show_type, write_type},
    {"load", "", "LOAD", align::right, false, show_load, write_load},
    {"container", "", "CONTAINER", align::left, false, show_container, write_container},
    {"nspid", "", "NSPID", align::right, false, show_namespace_pid, write_namespace_pid},
    {"peak", "", "PEAK", align::right, false, show_peak, write_peak},
};

// Default keys in the order of their introduction, on which scripts may rely.
constexpr key_writer default_keys[] = {
    write_pid,    write_name, write_vram,      write_shared, write_device,   write_name_state,
    write_ram,    write_uid,  write_start,     write_type,   write_instance, write_accounting,
    write_origin, write_load, write_container, write_peak};

constexpr column_kind bar{"", "", "", align::left, false, show_bar, nullptr};

std::vector<column_kind> chosen(const column_list& columns, const style& as) {
  std::vector<column_kind> out;
  for (const auto i : columns) out.push_back(kinds[i]);
  if (!out.empty()) return out;
  constexpr std::size_t default_count = 8, after_vram = 3;
  out.assign(kinds, kinds + default_count);
  if (has_bars(as)) out.insert(out.begin() + after_vram, bar);
  return out;
}

}  // namespace

std::string all_column_names() {
  std::string text;
  for (const auto& each : kinds) text.append(text.empty() ? "" : ", ").append(each.name);
  return text;
}

expected<column_list> parse_columns(std::string_view text) {
  column_list columns;
  for (const auto name : split_list(text)) {
    const auto found = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) {
      return !name.empty() && (each.name == name || each.alias == name);
    });
    if (found == std::end(kinds))
      return misused(fmt::format("--columns \"{}\": \"{}\" is not a column; columns: {}", text,
                                 name, all_column_names()));
    const auto position = static_cast<std::size_t>(found - std::begin(kinds));
    if (std::find(columns.begin(), columns.end(), position) != columns.end())
      return misused(fmt::format("--columns \"{}\": \"{}\" is listed twice", text, found->name));
    columns.push_back(position);
  }
  return columns;
}

table::cell size_or_missing(const process_row& row, std::optional<std::uint64_t> bytes,
                            std::uint32_t field, std::string_view mark) {
  return bytes ? size_cell(bytes, mark) : missing(row, field);
}

table::cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark) {
  return bytes ? cell{std::string(mark) + format_bytes(*bytes)} : unknown();
}

std::vector<table::cell> cells_of(const process_row& row,
                                  std::initializer_list<std::string_view> columns,
                                  const style& as) {
  std::vector<table::cell> cells;
  for (const auto name : columns)
    for (const auto& each : kinds)
      if (each.name == name) cells.push_back(each.show(row, as));
  return cells;
}

bool has_column(const column_list& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](std::size_t i) { return kinds[i].name == name; });
}

namespace {

table table_of(const std::vector<process_row>& rows, const std::vector<column_kind>& columns,
               const style& as) {
  std::vector<table::column> titles;
  for (const auto& each : columns)
    titles.push_back({each.title, each.side, each.shrinks, 8, each.name == "device"});
  table out(std::move(titles));
  for (const auto& row : rows) {
    std::vector<table::cell> cells;
    for (const auto& each : columns) cells.push_back(each.show(row, as));
    out.add(std::move(cells));
  }
  return out;
}

std::vector<json_object> objects_of(const std::vector<process_row>& rows,
                                    const column_list& columns, bool with_pools) {
  std::vector<json_object> objects;
  for (const auto& row : rows) {
    auto& out = objects.emplace_back();
    for (const auto i : columns) kinds[i].write(row, out);
    if (!columns.empty()) continue;
    for (const auto write : default_keys) write(row, out);
    if (with_pools) add_pools(row, out);
  }
  return objects;
}

}  // namespace

std::string process_table(const std::vector<process_row>& rows, const column_list& columns,
                          const style& as) {
  auto shown = chosen(columns, as);
  auto out = table_of(rows, shown, as);
  // Of the default columns, the command and then the user are left out where they do not fit.
  for (int left = 2; columns.empty() && as.width > 0 && left > 0 && !out.fits(as.width); --left) {
    shown.pop_back();
    out = table_of(rows, shown, as);
  }
  return out.text(as);
}

std::string process_json(const std::vector<process_row>& rows, const column_list& columns,
                         bool with_pools) {
  return json_document(objects_of(rows, columns, with_pools));
}

std::string process_csv(const std::vector<process_row>& rows, const column_list& columns) {
  process_row blank;
  blank.on = std::make_shared<const gpu>();
  return csv_document(objects_of({blank}, columns, false).front(),
                      objects_of(rows, columns, false));
}

namespace {

using hypomnesis::pool_kind;
using hypomnesis::usage;

struct amount {
  const char* key;
  const char* title;  // NULL: only in JSON
  std::optional<std::uint64_t> usage::*bytes;
  std::uint32_t field = 0;  // HMN_USAGE_HAS_*
};
constexpr amount amounts[] = {
    {"used_bytes", "USED", &usage::used_bytes, HMN_USAGE_HAS_USED},
    {"allocated_bytes", "ALLOCATED", &usage::allocated_bytes, HMN_USAGE_HAS_ALLOCATED},
    {"resident_bytes", "RESIDENT", &usage::resident_bytes, HMN_USAGE_HAS_RESIDENT},
    {"committed_bytes", "COMMITTED", &usage::committed_bytes, HMN_USAGE_HAS_COMMITTED},
    {"evicted_bytes", "EVICTED", &usage::evicted_bytes, HMN_USAGE_HAS_EVICTED},
    {"purgeable_bytes", nullptr, &usage::purgeable_bytes},
    {"shared_bytes", nullptr, &usage::shared_bytes},
};

// Amounts of a process in one pool.
struct pool_part {
  word pool;
  usage of;
  bool is_use_alone = false;  // no other amount is known of the pool
};

table::cell amount_cell(const process_row& row, const pool_part& part, const amount& which) {
  const auto& bytes = part.of.*which.bytes;
  if (!part.is_use_alone) return size_or_missing(row, bytes, which.field, mark_of(part.of.notes));
  if (which.field == HMN_USAGE_HAS_USED)
    return size_or_missing(row, bytes, HMN_USAGE_HAS_HOST_POOL, mark_of(part.of.notes));
  return {std::string(sign_of_missing(true)), tone::faint};
}

std::vector<pool_part> pool_parts_of(const process_row& row) {
  const auto& main = row.on->memory;
  const auto& [used, shared] = std::tie(row.usage.used_bytes, row.usage.host_pool_bytes);
  pool_part own{main ? pool_word(main->kind) : word(), row.usage};
  const bool is_in_ram =
      main && (main->kind == pool_kind::unified || main->kind == pool_kind::host);
  if (row.is_unattributed) own.of.used_bytes = row.use.main;
  if (row.is_unattributed || (is_in_ram && !shared)) return {own};
  if (row.is_split) {
    own = {pool_word(pool_kind::vram), {}, true};  // an APU's, whose other amounts include GTT
    own.of.notes = row.usage.notes;
    own.of.used_bytes = used;
  }
  pool_part host{pool_word(pool_kind::host), {}, true};
  host.of.notes = row.usage.notes;
  host.of.used_bytes = shared;
  return {own, host};
}

}  // namespace

std::string pool_table(const std::vector<process_row>& rows, const style& as) {
  std::vector<table::column> titles{{"PID", table::align::right}, {"NAME", {}, true}, {"POOL"}};
  for (const auto& each : amounts)
    if (each.title != nullptr) titles.push_back({each.title, table::align::right});
  titles.push_back({"DEVICE", {}, true});
  table out(std::move(titles));
  for (const auto& row : rows)
    for (const auto& part : pool_parts_of(row)) {
      auto cells = cells_of(row, {"pid", "name"}, as);
      cells.push_back({std::string(part.pool.value_or("?"))});
      for (const auto& each : amounts)
        if (each.title != nullptr) cells.push_back(amount_cell(row, part, each));
      cells.push_back(cells_of(row, {"device"}, as).front());
      out.add(std::move(cells));
    }
  return out.text(as);
}

void add_pools(const process_row& row, json_object& to) {
  std::vector<json_object> pools;
  for (const auto& part : pool_parts_of(row)) {
    auto& out = pools.emplace_back().add("pool", or_unknown(part.pool));
    for (const auto& each : amounts) out.add(each.key, part.of.*each.bytes);
  }
  to.add("pools", pools);
}

namespace {

cell name_cell(const usage_group& of, grouping by, const style& as) {
  if (by == grouping::device) return {escape_for_text(label_of(*of.on), as.ascii_only)};
  if (!of.is_known) return {"?", tone::faint};
  if (!of.name) return {"-", tone::faint};
  return {escape_for_text(by == grouping::container ? short_container(*of.name) : *of.name,
                          as.ascii_only)};
}

// Returns whether what the groups use is that of two pools.
bool has_host_sums(const std::vector<usage_group>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const auto& each) { return each.total.is_split(); });
}

cell total_cell(const std::optional<std::uint64_t>& bytes, bool is_at_least) {
  if (!bytes) return {"?", tone::faint};
  return {(is_at_least ? "at least " : "") + hypomnesis::format_bytes(*bytes)};
}

std::string title_of(grouping by) {
  std::string title(word_of(by));
  for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
  return title;
}

void write_id(const usage_group& of, grouping by, json_object& out) {
  if (by == grouping::user) {
    out.add("user", of.name).add("uid", of.is_known ? of.uid : std::nullopt);
    return;
  }
  if (by != grouping::device) {
    out.add(word_of(by), of.name).add("known", of.is_known);
    return;
  }
  const auto& device = of.on->device;
  out.add("device_index", device.index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

}  // namespace

std::string group_table(const std::vector<usage_group>& groups, grouping by, const style& as) {
  const bool has_devices = by != grouping::device;
  const bool has_host = has_host_sums(groups);
  std::vector<table::column> titles{
      {title_of(by), {}, true}, {"PROCESSES", align::right}, {"VRAM", align::right}};
  if (has_host) titles.push_back({"SHARED", align::right});
  if (has_devices) titles.push_back({"GPUS", {}, true});
  table out(std::move(titles));
  for (const auto& each : groups) {
    std::vector<cell> cells{name_cell(each, by, as),
                            {std::to_string(each.processes.size())},
                            total_cell(each.total.bytes(), each.total.is_at_least())};
    if (has_host)
      cells.push_back(total_cell(each.total.host_bytes(), each.total.is_host_at_least()));
    if (has_devices) cells.push_back({ranges_text({each.devices.begin(), each.devices.end()})});
    out.add(std::move(cells));
  }
  return out.text(as);
}

namespace {

std::vector<json_object> objects_of(const std::vector<usage_group>& groups, grouping by,
                                    bool has_host) {
  std::vector<json_object> objects;
  for (const auto& each : groups) {
    auto& out = objects.emplace_back();
    write_id(each, by, out);
    out.add("processes", each.processes.size())
        .add("used_bytes", each.total.bytes())
        .add("lower_bound", each.total.bytes() && each.total.is_at_least())
        .add("unknown_size", each.total.unknown_size());
    if (by != grouping::device)
      out.add("device_indexes",
              std::vector<std::uint32_t>(each.devices.begin(), each.devices.end()));
    if (!has_host) continue;
    const auto host = each.total.host_bytes();
    out.add("shared_used_bytes", host)
        .add("shared_lower_bound", host && each.total.is_host_at_least());
  }
  return objects;
}

}  // namespace

std::string group_json(const std::vector<usage_group>& groups, grouping by) {
  return json_document(objects_of(groups, by, has_host_sums(groups)));
}

std::string group_csv(const std::vector<usage_group>& groups, grouping by) {
  usage_group blank;
  blank.on = std::make_shared<const gpu>();
  const bool has_host = has_host_sums(groups);
  return csv_document(objects_of({blank}, by, has_host).front(), objects_of(groups, by, has_host));
}

}  // namespace hmn::cli
