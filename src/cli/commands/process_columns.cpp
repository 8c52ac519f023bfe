// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/process_cells.hpp"
#include "cli/text/json.hpp"
#include "cli/text/table.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using align = table::align;

void tell_pid(const process_row& row, json_object& out) {
  out.add("pid", row.is_unattributed ? std::nullopt : std::optional(row.usage.pid));
}

void tell_name(const process_row& row, json_object& out) {
  out.add("name", row.usage.process_name);
}

void tell_name_state(const process_row& row, json_object& out) {
  out.add("name_state", row.is_unattributed ? std::string_view("unattributed")
                                            : or_unknown(name_state_word(row.usage.name_state)));
}

void tell_name_and_state(const process_row& row, json_object& out) {
  tell_name(row, out);
  tell_name_state(row, out);
}

void tell_vram(const process_row& row, json_object& out) {
  out.add("used_bytes", row.usage.used_bytes);
}

void tell_shared(const process_row& row, json_object& out) {
  out.add("shared_used_bytes", row.usage.host_pool_bytes);
}

void tell_device(const process_row& row, json_object& out) {
  const auto& device = row.on->device;
  out.add("device_index", row.usage.device_index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

void tell_ram(const process_row& row, json_object& out) {
  out.add("host_resident_bytes", row.usage.host_resident_bytes);
}

void tell_uid(const process_row& row, json_object& out) {
  out.add("uid", row.usage.uid);
}

void tell_start(const process_row& row, json_object& out) {
  out.add("start_unix_ns", row.usage.start_unix_ns);
}

void tell_type(const process_row& row, json_object& out) {
  const auto& kinds = row.usage.kinds;
  out.add("kinds", kinds ? std::optional(usage_kind_words(*kinds)) : std::nullopt);
}

void tell_instance(const process_row& row, json_object& out) {
  const auto& usage = row.usage;
  out.add("gpu_instance", usage.gpu_instance).add("compute_instance", usage.compute_instance);
}

void tell_accounting(const process_row& row, json_object& out) {
  out.add("accounting", or_unknown(accounting_word(row.usage.accounting)));
}

void tell_origin(const process_row& row, json_object& out) {
  out.add("source", source_word(row.usage.backend))
      .add("age_ns", row.usage.age_ns)
      .add("notes", note_words(row.usage.notes));
}

void tell_load(const process_row& row, json_object& out) {
  const auto& usage = row.usage;
  out.add("busy_percent", usage.busy_percent).add("busy_ns", usage.busy_ns);
}

void tell_container(const process_row& row, json_object& out) {
  out.add("container", row.usage.process_container);
}

void tell_user(const process_row& row, json_object& out) {
  out.add("user", row.user);
  tell_uid(row, out);
}

void tell_command(const process_row& row, json_object& out) {
  out.add("command", row.usage.process_command);
}

void tell_namespace_pid(const process_row& row, json_object& out) {
  out.add("namespace_pid", row.namespace_pid);
}

void tell_peak(const process_row& row, json_object& out) {
  out.add("peak_used_bytes", row.usage.peak_used_bytes);
}

void tell_size(const process_row& row, json_object& out) {
  tell_vram(row, out);
  tell_accounting(row, out);
}

using teller = void (*)(const process_row&, json_object&);

struct column_kind {
  std::string_view name;
  std::string_view alias;
  const char* title;
  align side;
  bool shrinks;
  table::cell (*show)(const process_row&, const style&);
  teller tell;
};

constexpr column_kind kinds[] = {
    {"pid", "", "PID", align::right, false, show_pid, tell_pid},
    {"name", "", "NAME", align::left, true, show_name, tell_name_and_state},
    {"vram", "used", "VRAM", align::right, false, show_vram, tell_size},
    {"shared", "host", "SHARED", align::right, false, show_shared, tell_shared},
    {"ram", "", "RAM", align::right, false, show_ram, tell_ram},
    {"device", "gpu", "DEVICE", align::left, true, show_device, tell_device},
    {"type", "", "TYPE", align::left, false, show_type, tell_type},
    {"user", "", "USER", align::left, true, show_user, tell_user},
    {"load", "", "LOAD", align::right, false, show_load, tell_load},
    {"container", "", "CONTAINER", align::left, false, show_container, tell_container},
    {"nspid", "", "NSPID", align::right, false, show_namespace_pid, tell_namespace_pid},
    {"command", "", "COMMAND", align::left, true, show_command, tell_command},
    {"peak", "", "PEAK", align::right, false, show_peak, tell_peak},
};

// In the order in which they were added to the command: scripts may rely on it.
constexpr teller usual_keys[] = {tell_pid,    tell_name,       tell_vram,      tell_shared,
                                 tell_device, tell_name_state, tell_ram,       tell_uid,
                                 tell_start,  tell_type,       tell_instance,  tell_accounting,
                                 tell_origin, tell_load,       tell_container, tell_peak};

constexpr column_kind bar{"", "", "", align::left, false, show_bar, nullptr};

std::vector<column_kind> chosen(const column_list& columns, const style& as) {
  std::vector<column_kind> out;
  for (const auto i : columns) out.push_back(kinds[i]);
  if (!out.empty()) return out;
  constexpr std::size_t usual = 6, after_vram = 3;
  out.assign(kinds, kinds + usual);
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
  for (std::string_view rest = text; rest.data() != nullptr;) {
    const auto comma = rest.find(',');
    const auto name = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto found = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) {
      return !name.empty() && (each.name == name || each.alias == name);
    });
    if (found == std::end(kinds))
      return misused(fmt::format("--columns \"{}\": \"{}\" is no column; there are {}", text, name,
                                 all_column_names()));
    const auto position = static_cast<std::size_t>(found - std::begin(kinds));
    if (std::find(columns.begin(), columns.end(), position) != columns.end())
      return misused(fmt::format("--columns \"{}\": \"{}\" stands twice", text, found->name));
    columns.push_back(position);
  }
  return columns;
}

bool has_column(const column_list& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](std::size_t i) { return kinds[i].name == name; });
}

std::string process_table(const std::vector<process_row>& rows, const column_list& columns,
                          const style& as) {
  const auto all = chosen(columns, as);
  std::vector<table::column> titles;
  for (const auto& each : all) titles.push_back({each.title, each.side, each.shrinks});
  table out(std::move(titles));
  for (const auto& row : rows) {
    std::vector<table::cell> cells;
    for (const auto& each : all) cells.push_back(each.show(row, as));
    out.add(std::move(cells));
  }
  return out.text(as);
}

std::string process_json(const std::vector<process_row>& rows, const column_list& columns) {
  std::vector<json_object> objects;
  for (const auto& row : rows) {
    auto& out = objects.emplace_back();
    for (const auto i : columns) kinds[i].tell(row, out);
    if (!columns.empty()) continue;
    for (const auto tell : usual_keys) tell(row, out);
  }
  return json_document(objects);
}

}  // namespace hmn::cli
