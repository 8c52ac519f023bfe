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

Cell format_unknown() {
  return {"?", Tone::faint};
}

// Formats a missing value; `field` is one of HMN_USAGE_HAS_*.
Cell format_missing(const ProcessRow& row, std::uint32_t field) {
  return {std::string(missing_sign(row.lacks(field))), Tone::faint};
}

Cell format_text(const std::optional<std::string>& text, const Style& style) {
  return text ? Cell{escape_for_text(*text, style.ascii_only)} : format_unknown();
}

// Returns the length of a bar for the width of the terminal.
unsigned choose_bar_width(const Style& style) {
  if (!style.terminal) return 0;
  if (style.width == 0 || style.width >= 100) return 10;
  return style.width >= 72 ? 6 : 0;
}

std::optional<double> compute_device_share(const ProcessRow& row) {
  const auto& pool = row.gpu->memory;
  if (!row.pool_use.main || !pool || !pool->total_bytes) return std::nullopt;
  return compute_fraction(*row.pool_use.main, *pool->total_bytes);
}

bool has_bars(const Style& style) {
  return choose_bar_width(style) > 0;
}

Table::Cell show_pid(const ProcessRow& row, const Style&) {
  return row.is_unattributed ? Cell{"-"} : Cell{fmt::to_string(row.usage.pid)};
}

Table::Cell show_name(const ProcessRow& row, const Style& style) {
  if (row.is_unattributed) return {"(unattributed)", Tone::faint};
  if (row.usage.process_name) return format_text(row.usage.process_name, style);
  return {format_missing_name(row.usage), Tone::faint};
}

Table::Cell show_vram(const ProcessRow& row, const Style&) {
  if (row.is_unattributed && row.usage.host_pool_bytes) return {};
  return format_size_or_missing(row, row.usage.used_bytes, HMN_USAGE_HAS_USED,
                                accuracy_mark(row.usage.notes));
}

Table::Cell show_peak(const ProcessRow& row, const Style&) {
  return format_size_or_missing(row, row.usage.peak_used_bytes, HMN_USAGE_HAS_PEAK_USED);
}

Table::Cell show_bar(const ProcessRow& row, const Style& style) {
  const auto share = compute_device_share(row);
  if (!share) return {};
  return {draw_bar(*share, choose_bar_width(style), style.unicode), choose_usage_tone(*share)};
}

Table::Cell show_shared(const ProcessRow& row, const Style&) {
  if (row.is_unattributed && !row.usage.host_pool_bytes) return {};
  return format_size_or_missing(row, row.usage.host_pool_bytes, HMN_USAGE_HAS_HOST_POOL,
                                accuracy_mark(row.usage.notes));
}

Table::Cell show_ram(const ProcessRow& row, const Style&) {
  return row.is_unattributed ? Cell{} : format_size(row.usage.host_resident_bytes);
}

Table::Cell show_device(const ProcessRow& row, const Style& style) {
  const auto age = format_stale_suffix(row.usage.notes, row.usage.age_ns);
  const auto& device = row.gpu->device;
  Cell result{escape_for_text(format_gpu_label(*row.gpu), style.ascii_only) + age};
  if (device.name) {
    const auto label = fmt::format("GPU {} [{}]", device.index, shorten_name(*row.gpu));
    result.shorter.push_back(escape_for_text(label, style.ascii_only) + age);
  }
  return result;
}

Table::Cell show_index(const ProcessRow& row, const Style&) {
  return {fmt::to_string(row.gpu->device.index) +
          format_stale_suffix(row.usage.notes, row.usage.age_ns)};
}

Table::Cell show_type(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.kinds) return format_missing(row, HMN_USAGE_HAS_KINDS);
  const auto words = usage_kind_words(*row.usage.kinds);
  return {words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"))};
}

Table::Cell show_user(const ProcessRow& row, const Style& style) {
  return row.is_unattributed ? Cell{} : format_text(row.user, style);
}

Table::Cell show_load(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.busy_percent) return format_missing(row, HMN_USAGE_HAS_BUSY_PERCENT);
  return {fmt::format("{:.0f} %", *row.usage.busy_percent)};
}

Table::Cell show_container(const ProcessRow& row, const Style& style) {
  if (row.is_unattributed) return {};
  if (!row.usage.process_container) return {"-", Tone::faint};
  return {escape_for_text(shorten_container(*row.usage.process_container), style.ascii_only)};
}

Table::Cell show_command(const ProcessRow& row, const Style& style) {
  return row.is_unattributed ? Cell{} : format_text(row.usage.process_command, style);
}

Table::Cell show_namespace_pid(const ProcessRow& row, const Style&) {
  if (row.is_unattributed) return {};
  return row.namespace_pid ? Cell{fmt::to_string(*row.namespace_pid)} : format_unknown();
}

using Align = Table::Align;

void write_pid(const ProcessRow& row, JsonObject& object) {
  object.add("pid", row.is_unattributed ? std::nullopt : std::optional(row.usage.pid));
}

void write_name(const ProcessRow& row, JsonObject& object) {
  object.add("name", row.usage.process_name);
}

void write_name_state(const ProcessRow& row, JsonObject& object) {
  object.add("name_state", row.is_unattributed ? std::string_view("unattributed")
                                               : or_unknown(name_state_word(row.usage.name_state)));
}

void write_name_and_state(const ProcessRow& row, JsonObject& object) {
  write_name(row, object);
  write_name_state(row, object);
}

void write_vram(const ProcessRow& row, JsonObject& object) {
  object.add("used_bytes", row.usage.used_bytes);
}

void write_shared(const ProcessRow& row, JsonObject& object) {
  object.add("shared_used_bytes", row.usage.host_pool_bytes);
}

void write_device(const ProcessRow& row, JsonObject& object) {
  const auto& device = row.gpu->device;
  object.add("device_index", row.usage.device_index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

void write_ram(const ProcessRow& row, JsonObject& object) {
  object.add("host_resident_bytes", row.usage.host_resident_bytes);
}

void write_uid(const ProcessRow& row, JsonObject& object) {
  object.add("uid", row.usage.uid);
}

void write_start(const ProcessRow& row, JsonObject& object) {
  object.add("start_unix_ns", row.usage.start_unix_ns);
}

void write_type(const ProcessRow& row, JsonObject& object) {
  const auto& kinds = row.usage.kinds;
  object.add("kinds", kinds ? std::optional(usage_kind_words(*kinds)) : std::nullopt);
}

void write_instance(const ProcessRow& row, JsonObject& object) {
  const auto& usage = row.usage;
  object.add("gpu_instance", usage.gpu_instance).add("compute_instance", usage.compute_instance);
}

void write_accounting(const ProcessRow& row, JsonObject& object) {
  object.add("accounting", or_unknown(accounting_word(row.usage.accounting)));
}

void write_source(const ProcessRow& row, JsonObject& object) {
  object.add("backend", source_word(row.usage.backend))
      .add("age_ns", row.usage.age_ns)
      .add("notes", note_words(row.usage.notes));
}

void write_load(const ProcessRow& row, JsonObject& object) {
  const auto& usage = row.usage;
  object.add("busy_percent", usage.busy_percent).add("busy_ns", usage.busy_ns);
}

void write_container(const ProcessRow& row, JsonObject& object) {
  object.add("container", row.usage.process_container);
}

void write_user(const ProcessRow& row, JsonObject& object) {
  object.add("user", row.user);
  write_uid(row, object);
}

void write_command(const ProcessRow& row, JsonObject& object) {
  object.add("command", row.usage.process_command);
}

void write_namespace_pid(const ProcessRow& row, JsonObject& object) {
  object.add("namespace_pid", row.namespace_pid);
}

void write_peak(const ProcessRow& row, JsonObject& object) {
  object.add("peak_used_bytes", row.usage.peak_used_bytes);
}

void write_size(const ProcessRow& row, JsonObject& object) {
  write_vram(row, object);
  write_accounting(row, object);
}

using KeyWriter = void (*)(const ProcessRow&, JsonObject&);

struct ColumnDefinition {
  std::string_view name;
  std::string_view alias;
  const char* title;
  Align alignment;
  bool shrinks;
  Table::Cell (*show)(const ProcessRow&, const Style&);
  KeyWriter write;
};

constexpr ColumnDefinition column_definitions[] = {
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

// Writers of the default keys, in the order of their introduction: scripts may rely on it.
constexpr KeyWriter default_writers[] = {
    write_pid,    write_name, write_vram,      write_shared, write_device,   write_name_state,
    write_ram,    write_uid,  write_start,     write_type,   write_instance, write_accounting,
    write_source, write_load, write_container, write_peak};

constexpr ColumnDefinition bar_column{"", "", "", Align::left, false, show_bar, nullptr};

std::vector<ColumnDefinition> choose_columns(const ColumnList& columns, const Style& style) {
  std::vector<ColumnDefinition> definitions;
  for (const auto i : columns) definitions.push_back(column_definitions[i]);
  if (!definitions.empty()) return definitions;
  constexpr std::size_t default_count = 8, after_vram = 3;
  definitions.assign(column_definitions, column_definitions + default_count);
  if (has_bars(style)) definitions.insert(definitions.begin() + after_vram, bar_column);
  return definitions;
}

}  // namespace

std::string format_column_names() {
  std::string text;
  for (const auto& column : column_definitions)
    text.append(text.empty() ? "" : ", ").append(column.name);
  return text;
}

Expected<ColumnList> parse_columns(std::string_view text) {
  ColumnList columns;
  for (const auto name : split_list(text)) {
    const auto it = std::find_if(
        std::begin(column_definitions), std::end(column_definitions), [&](const auto& column) {
          return !name.empty() && (column.name == name || column.alias == name);
        });
    if (it == std::end(column_definitions))
      return make_usage_error(fmt::format("--columns \"{}\": \"{}\" is not a column; columns: {}",
                                          text, name, format_column_names()));
    const auto position = static_cast<std::size_t>(it - std::begin(column_definitions));
    if (std::find(columns.begin(), columns.end(), position) != columns.end())
      return make_usage_error(
          fmt::format("--columns \"{}\": \"{}\" is listed twice", text, it->name));
    columns.push_back(position);
  }
  return columns;
}

Table::Cell format_size_or_missing(const ProcessRow& row, std::optional<std::uint64_t> bytes,
                                   std::uint32_t field, std::string_view mark) {
  return bytes ? format_size(bytes, mark) : format_missing(row, field);
}

Table::Cell format_size(std::optional<std::uint64_t> bytes, std::string_view mark) {
  return bytes ? Cell{std::string(mark) + format_bytes(*bytes)} : format_unknown();
}

std::vector<Table::Cell> format_cells(const ProcessRow& row,
                                      std::initializer_list<std::string_view> columns,
                                      const Style& style) {
  std::vector<Table::Cell> cells;
  for (const auto name : columns)
    for (const auto& column : column_definitions)
      if (column.name == name) cells.push_back(column.show(row, style));
  return cells;
}

bool has_column(const ColumnList& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](std::size_t i) { return column_definitions[i].name == name; });
}

namespace {

Table make_table(const std::vector<ProcessRow>& rows, const std::vector<ColumnDefinition>& columns,
                 const Style& style) {
  std::vector<Table::Column> titles;
  for (const auto& column : columns)
    titles.push_back({column.title, column.alignment, column.shrinks, 8, column.name == "device"});
  Table table(std::move(titles));
  for (const auto& row : rows) {
    std::vector<Table::Cell> cells;
    for (const auto& column : columns) cells.push_back(column.show(row, style));
    table.add(std::move(cells));
  }
  return table;
}

std::vector<JsonObject> make_objects(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                     bool include_pools) {
  std::vector<JsonObject> objects;
  for (const auto& row : rows) {
    auto& object = objects.emplace_back();
    for (const auto i : columns) column_definitions[i].write(row, object);
    if (!columns.empty()) continue;
    for (const auto write : default_writers) write(row, object);
    if (include_pools) add_pools(row, object);
  }
  return objects;
}

}  // namespace

std::string format_process_table(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                 const Style& style) {
  auto definitions = choose_columns(columns, style);
  auto table = make_table(rows, definitions, style);
  // Of the default columns, the command and then the user are removed if they do not fit.
  for (int removable = 2;
       columns.empty() && style.width > 0 && removable > 0 && !table.fits(style.width);
       --removable) {
    definitions.pop_back();
    table = make_table(rows, definitions, style);
  }
  return table.text(style);
}

std::string format_process_json(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                bool include_pools) {
  return format_json_array(make_objects(rows, columns, include_pools));
}

std::string format_process_csv(const std::vector<ProcessRow>& rows, const ColumnList& columns) {
  ProcessRow blank;
  blank.gpu = std::make_shared<const Gpu>();
  return format_csv(make_objects({blank}, columns, false).front(),
                    make_objects(rows, columns, false));
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
struct PoolAmounts {
  Word pool;
  usage values;
  bool has_only_used = false;  // no other amount is known of the pool
};

Table::Cell format_pool_amount(const ProcessRow& row, const PoolAmounts& pool_amounts,
                               const Amount& amount) {
  const auto& bytes = pool_amounts.values.*amount.bytes;
  if (!pool_amounts.has_only_used)
    return format_size_or_missing(row, bytes, amount.field,
                                  accuracy_mark(pool_amounts.values.notes));
  if (amount.field == HMN_USAGE_HAS_USED)
    return format_size_or_missing(row, bytes, HMN_USAGE_HAS_HOST_POOL,
                                  accuracy_mark(pool_amounts.values.notes));
  return {std::string(missing_sign(true)), Tone::faint};
}

std::vector<PoolAmounts> split_by_pool(const ProcessRow& row) {
  const auto& main = row.gpu->memory;
  const auto& [used, shared] = std::tie(row.usage.used_bytes, row.usage.host_pool_bytes);
  PoolAmounts own{main ? pool_word(main->kind) : Word(), row.usage};
  const bool is_in_ram =
      main && (main->kind == pool_kind::unified || main->kind == pool_kind::host);
  if (row.is_unattributed) own.values.used_bytes = row.pool_use.main;
  if (row.is_unattributed || (is_in_ram && !shared)) return {own};
  if (row.is_split) {
    own = {pool_word(pool_kind::vram), {}, true};  // an APU's, whose other amounts include GTT
    own.values.notes = row.usage.notes;
    own.values.used_bytes = used;
  }
  PoolAmounts host{pool_word(pool_kind::host), {}, true};
  host.values.notes = row.usage.notes;
  host.values.used_bytes = shared;
  return {own, host};
}

}  // namespace

std::string format_pool_table(const std::vector<ProcessRow>& rows, const Style& style) {
  std::vector<Table::Column> titles{{"PID", Table::Align::right}, {"NAME", {}, true}, {"POOL"}};
  for (const auto& amount : amounts)
    if (amount.title != nullptr) titles.push_back({amount.title, Table::Align::right});
  titles.push_back({"DEVICE", {}, true});
  Table table(std::move(titles));
  for (const auto& row : rows)
    for (const auto& pool_amounts : split_by_pool(row)) {
      auto cells = format_cells(row, {"pid", "name"}, style);
      cells.push_back({std::string(pool_amounts.pool.value_or("?"))});
      for (const auto& amount : amounts)
        if (amount.title != nullptr) cells.push_back(format_pool_amount(row, pool_amounts, amount));
      cells.push_back(format_cells(row, {"device"}, style).front());
      table.add(std::move(cells));
    }
  return table.text(style);
}

void add_pools(const ProcessRow& row, JsonObject& object) {
  std::vector<JsonObject> pools;
  for (const auto& pool_amounts : split_by_pool(row)) {
    auto& pool = pools.emplace_back().add("pool", or_unknown(pool_amounts.pool));
    for (const auto& amount : amounts) pool.add(amount.key, pool_amounts.values.*amount.bytes);
  }
  object.add("pools", pools);
}

namespace {

Cell format_group_name(const UsageGroup& group, Grouping grouping, const Style& style) {
  if (grouping == Grouping::device)
    return {escape_for_text(format_gpu_label(*group.gpu), style.ascii_only)};
  if (!group.is_known) return {"?", Tone::faint};
  if (!group.name) return {"-", Tone::faint};
  return {escape_for_text(
      grouping == Grouping::container ? shorten_container(*group.name) : *group.name,
      style.ascii_only)};
}

// Returns whether the groups use two pools.
bool has_host_sums(const std::vector<UsageGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const auto& group) { return group.total.is_split(); });
}

Cell format_total(const std::optional<std::uint64_t>& bytes, bool is_at_least) {
  if (!bytes) return {"?", Tone::faint};
  return {(is_at_least ? "at least " : "") + hypomnesis::format_bytes(*bytes)};
}

std::string format_title(Grouping grouping) {
  std::string title(grouping_word(grouping));
  for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
  return title;
}

void write_id(const UsageGroup& group, Grouping grouping, JsonObject& object) {
  if (grouping == Grouping::user) {
    object.add("user", group.name).add("uid", group.is_known ? group.uid : std::nullopt);
    return;
  }
  if (grouping != Grouping::device) {
    object.add(grouping_word(grouping), group.name).add("known", group.is_known);
    return;
  }
  const auto& device = group.gpu->device;
  object.add("device_index", device.index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

}  // namespace

std::string format_group_table(const std::vector<UsageGroup>& groups, Grouping grouping,
                               const Style& style) {
  const bool has_devices = grouping != Grouping::device;
  const bool has_host = has_host_sums(groups);
  std::vector<Table::Column> titles{
      {format_title(grouping), {}, true}, {"PROCESSES", Align::right}, {"VRAM", Align::right}};
  if (has_host) titles.push_back({"SHARED", Align::right});
  if (has_devices) titles.push_back({"GPUS", {}, true});
  Table table(std::move(titles));
  for (const auto& group : groups) {
    std::vector<Cell> cells{format_group_name(group, grouping, style),
                            {std::to_string(group.processes.size())},
                            format_total(group.total.bytes(), group.total.is_at_least())};
    if (has_host)
      cells.push_back(format_total(group.total.host_bytes(), group.total.is_host_at_least()));
    if (has_devices) cells.push_back({format_ranges({group.devices.begin(), group.devices.end()})});
    table.add(std::move(cells));
  }
  return table.text(style);
}

namespace {

std::vector<JsonObject> make_group_objects(const std::vector<UsageGroup>& groups, Grouping grouping,
                                           bool has_host) {
  std::vector<JsonObject> objects;
  for (const auto& group : groups) {
    auto& object = objects.emplace_back();
    write_id(group, grouping, object);
    object.add("processes", group.processes.size())
        .add("used_bytes", group.total.bytes())
        .add("lower_bound", group.total.bytes() && group.total.is_at_least())
        .add("unknown_size", group.total.unknown_count());
    if (grouping != Grouping::device)
      object.add("device_indexes",
                 std::vector<std::uint32_t>(group.devices.begin(), group.devices.end()));
    if (!has_host) continue;
    const auto host = group.total.host_bytes();
    object.add("shared_used_bytes", host)
        .add("shared_lower_bound", host && group.total.is_host_at_least());
  }
  return objects;
}

}  // namespace

std::string format_group_json(const std::vector<UsageGroup>& groups, Grouping grouping) {
  return format_json_array(make_group_objects(groups, grouping, has_host_sums(groups)));
}

std::string format_group_csv(const std::vector<UsageGroup>& groups, Grouping grouping) {
  UsageGroup blank;
  blank.gpu = std::make_shared<const Gpu>();
  const bool has_host = has_host_sums(groups);
  return format_csv(make_group_objects({blank}, grouping, has_host).front(),
                    make_group_objects(groups, grouping, has_host));
}

}  // namespace hmn::cli
