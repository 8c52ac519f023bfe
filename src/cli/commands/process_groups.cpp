// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_groups.hpp"

#include "cli/text/escape.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"

namespace hmn::cli {
namespace {

using align = table::align;
using cell = table::cell;

cell name_cell(const usage_group& of, grouping by, const style& as) {
  if (by == grouping::device) return {escape_for_text(label_of(*of.on), as.ascii_only)};
  if (!of.is_known) return {"?", tone::faint};
  if (!of.name) return {"-", tone::faint};
  return {escape_for_text(by == grouping::container ? short_container(*of.name) : *of.name,
                          as.ascii_only)};
}

cell total_cell(const usage_tally& of) {
  const auto bytes = of.bytes();
  if (!bytes) return {"?", tone::faint};
  return {(of.is_at_least() ? "at least " : "") + hypomnesis::format_bytes(*bytes)};
}

const char* title_of(grouping by) {
  if (by == grouping::device) return "DEVICE";
  return by == grouping::user ? "USER" : "CONTAINER";
}

void write_id(const usage_group& of, grouping by, json_object& out) {
  if (by == grouping::user) {
    out.add("user", of.name).add("uid", of.is_known ? of.uid : std::nullopt);
    return;
  }
  if (by == grouping::container) {
    out.add("container", of.name).add("known", of.is_known);
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
  std::vector<table::column> titles{
      {title_of(by), {}, true}, {"PROCESSES", align::right}, {"VRAM", align::right}};
  if (has_devices) titles.push_back({"GPUS", {}, true});
  table out(std::move(titles));
  for (const auto& each : groups) {
    std::vector<cell> cells{
        name_cell(each, by, as), {std::to_string(each.processes.size())}, total_cell(each.total)};
    if (has_devices) cells.push_back({ranges_text({each.devices.begin(), each.devices.end()})});
    out.add(std::move(cells));
  }
  return out.text(as);
}

std::string group_json(const std::vector<usage_group>& groups, grouping by) {
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
  }
  return json_document(objects);
}

}  // namespace hmn::cli
