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

using Cell = Table::Cell;

Cell unknown() {
  return {"?", Tone::faint};
}

// Returns the sign of a missing value; `field` is one of HMN_USAGE_HAS_*.
Cell missing(const ProcessRow& row, std::uint32_t field) {
  return {std::string(sign_of_missing(row.lacks(field))), Tone::faint};
}

Cell text_cell(const std::optional<std::string>& text, const Style& as) {
  return text ? Cell{escape_for_text(*text, as.ascii_only)} : unknown();
}

// Returns the length of a bar for the width of the terminal.
unsigned bar_cells(const Style& as) {
  if (!as.terminal) return 0;
  if (as.width == 0 || as.width >= 100) return 10;
  return as.width >= 72 ? 6 : 0;
}

std::optional<double> share_of_device(const ProcessRow& row) {
  const auto& pool = row.on->memory;
  if (!row.use.main || !pool || !pool->total_bytes) return std::nullopt;
  return fraction_of(*row.use.main, *pool->total_bytes);
}

bool has_bars(const Style& as) {
  return bar_cells(as) > 0;
}

Table::Cell show_pid(const ProcessRow& row, const Style&) {
  return row.is_unattributed ? Cell{"-"} : Cell{fmt::to_string(row.usage.pid)};
}

Table::Cell show_name(const ProcessRow& row, const Style& as) {
  if (row.is_unattributed) return {"(unattributed)", Tone::faint};
  if (row.usage.process_name) return text_cell(row.usage.process_name, as);
  return {sign_of_missing_name(row.usage), Tone::faint};
}

Table::Cell show_vram(const ProcessRow& row, const Style&) {
  if (row.is_unattributed && row.usage.host_pool_bytes) return {};
  return size_or_missing(row, row.usage.used_bytes, HMN_USAGE_HAS_USED, mark_of(row.usage.notes));
}

Table::Cell show_peak(const ProcessRow& row, const Style&) {
  return size_or_missing(row, row.usage.peak_used_bytes, HMN_USAGE_HAS_PEAK_USED);
}

Table::Cell show_bar(const ProcessRow& row, const Style& as) {
  const auto share = share_of_device(row);
  if (!share) return {};
  return {draw_bar(*share, bar_cells(as), as.unicode), tone_of_usage(*share)};
}

Table::Cell show_shared(const ProcessRow& row, const Style&) {
  if (row.is_unattributed && !row.usage.host_pool_bytes) return {};
  return size_or_missing(row, row.usage.host_pool_bytes, HMN_USAGE_HAS_HOST_POOL,
                         mark_of(row.usage.notes));
}

Table::Cell show_ram(const ProcessRow& row, const Style&) {
  return row.is_unattributed ? Cell{} : size_cell(row.usage.host_resident_bytes);
}

Table::Cell show_device(const ProcessRow& row, const Style& as) {
  const auto age = staleness(row.usage.notes, row.usage.age_ns);
  const auto& device = row.on->device;
  Cell out{escape_for_text(label_of(*row.on), as.ascii_only) + age};
  if (device.name) {
    const auto label = fmt::format("GPU {} [{}]", device.index, short_name(*row.on));
    out.shorter.push_back(escape_for_text(label, as.ascii_only) + age);
  }
  return out;
}

Table::Cell show_index(const ProcessRow& row, const Style&) {
  return {fmt::to_string(row.on->device.index) + staleness(row.usage.notes, row.usage.age_ns)};
}

Table::Cell show_type(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.kinds) return missing(row, HMN_USAGE_HAS_KINDS);
  const auto words = usage_kind_words(*row.usage.kinds);
  return {words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"))};
}

Table::Cell show_user(const ProcessRow& row, const Style& as) {
  return row.is_unattributed ? Cell{} : text_cell(row.user, as);
}

Table::Cell show_load(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.busy_percent) return missing(row, HMN_USAGE_HAS_BUSY_PERCENT);
  return {fmt::format("{:.0f} %", *row.usage.busy_percent)};
}

Table::Cell show_container(const ProcessRow& row, const Style& as) {
  if (row.is_unattributed) return {};
  if (!row.usage.process_container) return {"-", Tone::faint};
  return {escape_for_text(short_container(*row.usage.process_container), as.ascii_only)};
}

Table::Cell show_command(const ProcessRow& row, const Style& as) {
  return row.is_unattributed ? Cell{} : text_cell(row.usage.process_command, as);
}

Table::Cell show_namespace_pid(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  return row.namespace_pid ? Cell{fmt::to_string(*row.namespace_pid)} : unknown();
}

using Align = Table::Align;

void write_pid(const ProcessRow& row, JsonObject& out) {
  out.add("pid", row.is_unattributed ? std::nullopt : std::optional(row.usage.pid));
}

void write_name(const ProcessRow& row, JsonObject& out) {
  out.add("name", row.usage.process_name);
}

void write_name_state(const ProcessRow& row, JsonObject& out) {
  out.add("name_state", row.is_unattributed ? std::string_view("unattributed")
                                            : or_unknown(name_state_word(row.usage.name_state)));
}

void write_name_and_state(const ProcessRow& row, JsonObject& out) {
  write_name(row, out);
  write_name_state(row, out);
}

void write_vram(const ProcessRow& row, JsonObject& out) {
  out.add("used_bytes", row.usage.used_bytes);
}

void write_shared(const ProcessRow& row, JsonObject& out) {
  out.add("shared_used_bytes", row.usage.host_pool_bytes);
}

void write_device(const ProcessRow& row, JsonObject& out) {
  const auto& device = row.on->device;
  out.add("device_index", row.usage.device_index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

void write_ram(const ProcessRow& row, JsonObject& out) {
  out.add("host_resident_bytes", row.usage.host_resident_bytes);
}

void write_uid(const ProcessRow& row, JsonObject& out) {
  out.add("uid", row.usage.uid);
}

void write_start(const ProcessRow& row, JsonObject& out) {
  out.add("start_unix_ns", row.usage.start_unix_ns);
}

void write_type(const ProcessRow& row, JsonObject& out) {
  const auto& kinds = row.usage.kinds;
  out.add("kinds", kinds ? std::optional(usage_kind_words(*kinds)) : std::nullopt);
}

void write_instance(const ProcessRow& row, JsonObject& out) {
  const auto& usage = row.usage;
  out.add("gpu_instance", usage.gpu_instance).add("compute_instance", usage.compute_instance);
}

void write_accounting(const ProcessRow& row, JsonObject& out) {
  out.add("accounting", or_unknown(accounting_word(row.usage.accounting)));
}

void write_origin(const ProcessRow& row, JsonObject& out) {
  out.add("backend", source_word(row.usage.backend))
      .add("age_ns", row.usage.age_ns)
      .add("notes", note_words(row.usage.notes));
}

void write_load(const ProcessRow& row, JsonObject& out) {
  const auto& usage = row.usage;
  out.add("busy_percent", usage.busy_percent).add("busy_ns", usage.busy_ns);
}

void write_container(const ProcessRow& row, JsonObject& out) {
  out.add("container", row.usage.process_container);
}

void write_user(const ProcessRow& row, JsonObject& out) {
  out.add("user", row.user);
  write_uid(row, out);
}

void write_command(const ProcessRow& row, JsonObject& out) {
  out.add("command", row.usage.process_command);
}

void write_namespace_pid(const ProcessRow& row, JsonObject& out) {
  out.add("namespace_pid", row.namespace_pid);
}

void write_peak(const ProcessRow& row, JsonObject& out) {
  out.add("peak_used_bytes", row.usage.peak_used_bytes);
}

void write_size(const ProcessRow& row, JsonObject& out) {
  write_vram(row, out);
  write_accounting(row, out);
}

using KeyWriter = void (*)(const ProcessRow&, JsonObject&);

struct ColumnKind {
  std::string_view name;
  std::string_view alias;
  const char* title;
  Align side;
  bool shrinks;
  Table::Cell (*show)(const ProcessRow&, const Style&);
  KeyWriter write;
};

constexpr ColumnKind kinds[] = {
    {"pid", "", "PID", Align::right, false, show_pid, write_pid},
    {"name", "", "NAME", Align::left, true, show_name, write_name_and_state},
    {"vram", "used", "VRAM", Align::right, false, show_vram, write_size},
    {"shared", "host", "SHARED", Align::right, false, show_shared, write_shared},
    {"ram", "", "RAM", Align::right, false, show_ram, write_ram},
    {"gpu", "", "GPU", Align::right, false, show_index, write_device},
    {"user", "", "USER", Align::left, true, show_user, write_user},
    {"command", "", "COMMAND", Align::left, true, show_command, write_command},
    {"device", "", "DEVICE", Align::left, true, show_device, write_device},
    {"type", "", "TYPE", Align::left, false, show_type, write_type},
    {"load", "", "LOAD", Align::right, false, show_load, write_load},
    {"container", "", "CONTAINER", Align::left, false, show_container, write_container},
    {"nspid", "", "NSPID", Align::right, false, show_namespace_pid, write_namespace_pid},
    {"peak", "", "PEAK", Align::right, false, show_peak, write_peak},
};

// Default keys in the order of their introduction, on which scripts may rely.
constexpr KeyWriter default_keys[] = {
    write_pid,    write_name, write_vram,      write_shared, write_device,   write_name_state,
    write_ram,    write_uid,  write_start,     write_type,   write_instance, write_accounting,
    write_origin, write_load, write_container, write_peak};

constexpr ColumnKind bar{"", "", "", Align::left, false, show_bar, nullptr};

std::vector<ColumnKind> chosen(const ColumnList& columns, const Style& as) {
  std::vector<ColumnKind> out;
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

Expected<ColumnList> parse_columns(std::string_view text) {
  ColumnList columns;
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

Table::Cell size_or_missing(const ProcessRow& row, std::optional<std::uint64_t> bytes,
                            std::uint32_t field, std::string_view mark) {
  return bytes ? size_cell(bytes, mark) : missing(row, field);
}

Table::Cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark) {
  return bytes ? Cell{std::string(mark) + format_bytes(*bytes)} : unknown();
}

std::vector<Table::Cell> cells_of(const ProcessRow& row,
                                  std::initializer_list<std::string_view> columns,
                                  const Style& as) {
  std::vector<Table::Cell> cells;
  for (const auto name : columns)
    for (const auto& each : kinds)
      if (each.name == name) cells.push_back(each.show(row, as));
  return cells;
}

bool has_column(const ColumnList& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](std::size_t i) { return kinds[i].name == name; });
}

namespace {

Table table_of(const std::vector<ProcessRow>& rows, const std::vector<ColumnKind>& columns,
               const Style& as) {
  std::vector<Table::Column> titles;
  for (const auto& each : columns)
    titles.push_back({each.title, each.side, each.shrinks, 8, each.name == "device"});
  Table out(std::move(titles));
  for (const auto& row : rows) {
    std::vector<Table::Cell> cells;
    for (const auto& each : columns) cells.push_back(each.show(row, as));
    out.add(std::move(cells));
  }
  return out;
}

std::vector<JsonObject> objects_of(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                   bool with_pools) {
  std::vector<JsonObject> objects;
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

std::string process_table(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                          const Style& as) {
  auto shown = chosen(columns, as);
  auto out = table_of(rows, shown, as);
  // Of the default columns, the command and then the user are left out where they do not fit.
  for (int left = 2; columns.empty() && as.width > 0 && left > 0 && !out.fits(as.width); --left) {
    shown.pop_back();
    out = table_of(rows, shown, as);
  }
  return out.text(as);
}

std::string process_json(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                         bool with_pools) {
  return json_document(objects_of(rows, columns, with_pools));
}

std::string process_csv(const std::vector<ProcessRow>& rows, const ColumnList& columns) {
  ProcessRow blank;
  blank.on = std::make_shared<const Gpu>();
  return csv_document(objects_of({blank}, columns, false).front(),
                      objects_of(rows, columns, false));
}

namespace {

using hypomnesis::pool_kind;
using hypomnesis::usage;

struct Amount {
  const char* key;
  const char* title;  // NULL: only in JSON
  std::optional<std::uint64_t> usage::*bytes;
  std::uint32_t field = 0;  // HMN_USAGE_HAS_*
};
constexpr Amount amounts[] = {
    {"used_bytes", "USED", &usage::used_bytes, HMN_USAGE_HAS_USED},
    {"allocated_bytes", "ALLOCATED", &usage::allocated_bytes, HMN_USAGE_HAS_ALLOCATED},
    {"resident_bytes", "RESIDENT", &usage::resident_bytes, HMN_USAGE_HAS_RESIDENT},
    {"committed_bytes", "COMMITTED", &usage::committed_bytes, HMN_USAGE_HAS_COMMITTED},
    {"evicted_bytes", "EVICTED", &usage::evicted_bytes, HMN_USAGE_HAS_EVICTED},
    {"purgeable_bytes", nullptr, &usage::purgeable_bytes},
    {"shared_bytes", nullptr, &usage::shared_bytes},
};

// Amounts of a process in one pool.
struct PoolPart {
  Word pool;
  usage of;
  bool is_use_alone = false;  // no other amount is known of the pool
};

Table::Cell amount_cell(const ProcessRow& row, const PoolPart& part, const Amount& which) {
  const auto& bytes = part.of.*which.bytes;
  if (!part.is_use_alone) return size_or_missing(row, bytes, which.field, mark_of(part.of.notes));
  if (which.field == HMN_USAGE_HAS_USED)
    return size_or_missing(row, bytes, HMN_USAGE_HAS_HOST_POOL, mark_of(part.of.notes));
  return {std::string(sign_of_missing(true)), Tone::faint};
}

std::vector<PoolPart> pool_parts_of(const ProcessRow& row) {
  const auto& main = row.on->memory;
  const auto& [used, shared] = std::tie(row.usage.used_bytes, row.usage.host_pool_bytes);
  PoolPart own{main ? pool_word(main->kind) : Word(), row.usage};
  const bool is_in_ram =
      main && (main->kind == pool_kind::unified || main->kind == pool_kind::host);
  if (row.is_unattributed) own.of.used_bytes = row.use.main;
  if (row.is_unattributed || (is_in_ram && !shared)) return {own};
  if (row.is_split) {
    own = {pool_word(pool_kind::vram), {}, true};  // an APU's, whose other amounts include GTT
    own.of.notes = row.usage.notes;
    own.of.used_bytes = used;
  }
  PoolPart host{pool_word(pool_kind::host), {}, true};
  host.of.notes = row.usage.notes;
  host.of.used_bytes = shared;
  return {own, host};
}

}  // namespace

std::string pool_table(const std::vector<ProcessRow>& rows, const Style& as) {
  std::vector<Table::Column> titles{{"PID", Table::Align::right}, {"NAME", {}, true}, {"POOL"}};
  for (const auto& each : amounts)
    if (each.title != nullptr) titles.push_back({each.title, Table::Align::right});
  titles.push_back({"DEVICE", {}, true});
  Table out(std::move(titles));
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

void add_pools(const ProcessRow& row, JsonObject& to) {
  std::vector<JsonObject> pools;
  for (const auto& part : pool_parts_of(row)) {
    auto& out = pools.emplace_back().add("pool", or_unknown(part.pool));
    for (const auto& each : amounts) out.add(each.key, part.of.*each.bytes);
  }
  to.add("pools", pools);
}

namespace {

Cell name_cell(const UsageGroup& of, Grouping by, const Style& as) {
  if (by == Grouping::device) return {escape_for_text(label_of(*of.on), as.ascii_only)};
  if (!of.is_known) return {"?", Tone::faint};
  if (!of.name) return {"-", Tone::faint};
  return {escape_for_text(by == Grouping::container ? short_container(*of.name) : *of.name,
                          as.ascii_only)};
}

// Returns whether what the groups use is that of two pools.
bool has_host_sums(const std::vector<UsageGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const auto& each) { return each.total.is_split(); });
}

Cell total_cell(const std::optional<std::uint64_t>& bytes, bool is_at_least) {
  if (!bytes) return {"?", Tone::faint};
  return {(is_at_least ? "at least " : "") + hypomnesis::format_bytes(*bytes)};
}

std::string title_of(Grouping by) {
  std::string title(word_of(by));
  for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
  return title;
}

void write_id(const UsageGroup& of, Grouping by, JsonObject& out) {
  if (by == Grouping::user) {
    out.add("user", of.name).add("uid", of.is_known ? of.uid : std::nullopt);
    return;
  }
  if (by != Grouping::device) {
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

std::string group_table(const std::vector<UsageGroup>& groups, Grouping by, const Style& as) {
  const bool has_devices = by != Grouping::device;
  const bool has_host = has_host_sums(groups);
  std::vector<Table::Column> titles{
      {title_of(by), {}, true}, {"PROCESSES", Align::right}, {"VRAM", Align::right}};
  if (has_host) titles.push_back({"SHARED", Align::right});
  if (has_devices) titles.push_back({"GPUS", {}, true});
  Table out(std::move(titles));
  for (const auto& each : groups) {
    std::vector<Cell> cells{name_cell(each, by, as),
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

std::vector<JsonObject> objects_of(const std::vector<UsageGroup>& groups, Grouping by,
                                   bool has_host) {
  std::vector<JsonObject> objects;
  for (const auto& each : groups) {
    auto& out = objects.emplace_back();
    write_id(each, by, out);
    out.add("processes", each.processes.size())
        .add("used_bytes", each.total.bytes())
        .add("lower_bound", each.total.bytes() && each.total.is_at_least())
        .add("unknown_size", each.total.unknown_size());
    if (by != Grouping::device)
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

std::string group_json(const std::vector<UsageGroup>& groups, Grouping by) {
  return json_document(objects_of(groups, by, has_host_sums(groups)));
}

std::string group_csv(const std::vector<UsageGroup>& groups, Grouping by) {
  UsageGroup blank;
  blank.on = std::make_shared<const Gpu>();
  const bool has_host = has_host_sums(groups);
  return csv_document(objects_of({blank}, by, has_host).front(), objects_of(groups, by, has_host));
}

}  // namespace hmn::cli
