// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/answer.hpp"
#include "cli/text/json.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli::fit {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

json_object object_of(const hypomnesis::pool& pool) {
  json_object out;
  out.add("kind", or_unknown(pool_word(pool.kind)))
      .add("is_main", pool.is_main)
      .add("total_bytes", pool.total_bytes)
      .add("free_bytes", pool.free_bytes)
      .add("usable_bytes", pool.usable_bytes)
      .add("budget_bytes", pool.budget_bytes);
  return out;
}

json_object object_of(const answer& all, const device_answer& on) {
  const bool placed = on.placed.is == verdict::fits || on.placed.is == verdict::partly;
  const auto if_placed = [placed](std::uint64_t value) {
    return placed ? std::optional(value) : std::nullopt;
  };
  std::vector<json_object> pools;
  for (const auto& each : on.pools) pools.push_back(object_of(each));
  json_object out;
  out.add("device_index", on.on.device.index)
      .add("device_name", on.on.device.name)
      .add("device_uuid", on.on.device.uuid)
      .add("pci_bus_id", on.on.device.pci_bus_id)
      .add("shares_ram", on.shares_ram)
      .add("usable_bytes", on.usable)
      .add("verdict", verdict_word(on.placed.is))
      .add("text", verdict_text(all, on))
      .add("gpu_layers", if_placed(on.placed.layers))
      .add("gpu_bytes", if_placed(on.placed.device_bytes))
      .add("ram_bytes", if_placed(on.placed.ram_bytes))
      .add("pools", pools);
  return out;
}

std::optional<json_object> together_object(const answer& all) {
  if (!all.together) return std::nullopt;
  const auto& devices = all.together->devices;
  const auto& placed = all.together->placed;
  const bool is_placed = placed.whole.is == verdict::fits || placed.whole.is == verdict::partly;
  const auto if_placed = [is_placed](std::uint64_t value) {
    return is_placed ? std::optional(value) : std::nullopt;
  };
  std::vector<json_object> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    json_object part;
    part.add("device_index", all.devices[devices[i]].on.device.index)
        .add("gpu_layers", if_placed(placed.parts[i].layers))
        .add("gpu_bytes", if_placed(placed.parts[i].device_bytes));
    parts.push_back(part);
  }
  json_object out;
  out.add("verdict", verdict_word(placed.whole.is))
      .add("text", together_text(all))
      .add("gpu_layers", if_placed(placed.whole.layers))
      .add("gpu_bytes", if_placed(placed.whole.device_bytes))
      .add("ram_bytes", if_placed(placed.whole.ram_bytes))
      .add("parts", parts);
  return out;
}

json_object model_object(const answer& all) {
  const auto& of = all.of;
  std::optional<std::string> architecture;
  std::optional<std::uint64_t> context;
  if (of.shape) architecture = of.shape->type;
  if (of.shape) context = of.shape->context_length;
  json_object out;
  out.add("name", of.name)
      .add("format", of.format)
      .add("architecture", architecture)
      .add("parameters", of.of.parameters == 0 ? std::nullopt : std::optional(of.of.parameters))
      .add("layers", std::uint64_t{of.of.layers.size()})
      .add("context_length", context);
  return out;
}

}  // namespace

std::string answer_json(const answer& all, const fit_options& asked) {
  const auto& needs = all.needs;
  std::vector<json_object> devices;
  for (const auto& each : all.devices) devices.push_back(object_of(all, each));
  json_object out;
  out.add("schema", 1u)
      .add("verdict", verdict_word(verdict_of(all)))
      .add("model", model_object(all))
      .add("context", needs.is_whole() ? std::optional(needs.context) : std::nullopt)
      .add("batch", asked.batch)
      .add("ubatch", needs.is_whole() ? std::optional(needs.ubatch) : std::nullopt)
      .add("kv_type", asked.kv_type)
      .add("weights_bytes", needs.weights)
      .add("kv_cache_bytes", needs.cache)
      .add("working_bytes", needs.working)
      .add("total_bytes", needs.total())
      .add("precision", precision_word(needs.is))
      .add("reserve_bytes", reserve_bytes)
      .add("devices", devices)
      .add("together", together_object(all))
      .add("ram_usable_bytes", all.ram_usable)
      .add("ram_verdict", verdict_word(all.in_ram.is))
      .add("assumptions", views_of(needs.assumptions))
      .add("warnings", views_of(needs.warnings));
  return out.text() + "\n";
}

}  // namespace hmn::cli::fit
