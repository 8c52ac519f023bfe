// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/fit/answer.hpp"
#include "cli/text/json.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
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

namespace {

using hypomnesis::format_bytes;

constexpr std::string_view weights_alone = "unknown: the weights alone fit";

// Formats "20 + 12".
std::string layers_of(const spread& placed) {
  std::string text;
  for (const auto& part : placed.parts)
    text += fmt::format("{}{}", text.empty() ? "" : " + ", part.layers);
  return text;
}

tone tone_of(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return tone::good;
    case verdict::partly:
      return tone::warning;
    case verdict::does_not_fit:
      return tone::bad;
    case verdict::unknown:
      break;
  }
  return tone::faint;
}

std::string ram_verdict_text(const answer& all) {
  if (!all.ram_usable) return "unknown";
  if (all.in_ram.is == verdict::fits) return "fits";
  return all.in_ram.is == verdict::unknown ? std::string(weights_alone) : "does not fit";
}

std::string bytes_or_unknown(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

std::string parameter_text(std::uint64_t count) {
  if (count >= 1'000'000'000)
    return fmt::format("{:.2f} billion", static_cast<double>(count) / 1e9);
  if (count >= 1'000'000) return fmt::format("{:.1f} million", static_cast<double>(count) / 1e6);
  return fmt::to_string(count);
}

std::string title(const answer& all, const style& as) {
  const auto& of = all.of;
  auto text = escape_for_text(of.name, as.ascii_only) + ": " + of.format;
  if (of.of.parameters != 0)
    text += fmt::format(", {} parameters", parameter_text(of.of.parameters));
  if (const auto count = of.of.layers.size(); count != 0)
    text += fmt::format(", {} {}", count, count == 1 ? "layer" : "layers");
  if (!of.stored.empty()) text += ", " + escape_for_text(of.stored, as.ascii_only);
  return text + "\n";
}

std::string precise(std::string size, precision is) {
  if (is == precision::at_least) return "at least " + size;
  return is == precision::about ? "about " + size : size;
}

std::string needs_table(const answer& all, const fit_options& asked, const style& as) {
  const auto& needs = all.needs;
  const auto cache = needs.is_whole() ? fmt::format("{} {} of {} tokens, {}", asked.batch,
                                                    asked.batch == 1 ? "sequence" : "sequences",
                                                    needs.context, asked.kv_type)
                                      : std::string();
  table rows({{"NEEDS"}, {"", table::align::right}, {"", table::align::left, true}});
  rows.add({{"weights"}, {format_bytes(needs.weights)}, {""}});
  rows.add({{"KV cache"}, {bytes_or_unknown(needs.cache)}, {cache}});
  rows.add({{"working memory"}, {bytes_or_unknown(needs.working)}, {""}});
  rows.add({{"total", tone::strong},
            {precise(format_bytes(needs.total()), needs.is), tone::strong},
            {""}});
  return rows.text(as);
}

std::optional<std::uint64_t> free_of(const device_answer& on) {
  if (!on.on.memory) return std::nullopt;
  return on.on.memory->free_bytes;
}

std::vector<table::cell> row_of(const answer& all, const device_answer& on, const style& as) {
  return {{escape_for_text(label_of(on.on), as.ascii_only)},
          {bytes_or_unknown(free_of(on))},
          {bytes_or_unknown(on.usable)},
          {escape_for_text(verdict_text(all, on), as.ascii_only), tone_of(on.placed.is)}};
}

std::vector<table::cell> together_row(const answer& all) {
  std::string label;
  std::optional<std::uint64_t> free = 0;
  std::size_t in_ram = 0;
  for (const auto i : all.together->devices) {
    const auto& each = all.devices[i];
    label += fmt::format("{}{}", label.empty() ? "GPUs " : ", ", each.on.device.index);
    const auto of = each.shares_ram && ++in_ram > 1 ? std::nullopt : free_of(each);
    free = free && of ? std::optional(*free + *of) : std::nullopt;
  }
  return {{label + " together"},
          {bytes_or_unknown(free)},
          {format_bytes(all.together->usable)},
          {together_text(all), tone_of(all.together->placed.whole.is)}};
}

std::string placement_table(const answer& all, const style& as) {
  table rows({{"MEMORY", table::align::left, true},
              {"FREE", table::align::right},
              {"USABLE", table::align::right},
              {"VERDICT"}});
  for (const auto& each : all.devices) rows.add(row_of(all, each, as));
  if (all.together) rows.add(together_row(all));
  rows.add({{"RAM"},
            {bytes_or_unknown(all.ram_usable)},
            {bytes_or_unknown(all.ram_usable)},
            {ram_verdict_text(all), tone_of(all.in_ram.is)}});
  return rows.text(as);
}

}  // namespace

verdict verdict_of(const answer& all) {
  auto best = verdict::unknown;
  const auto take = [&best](verdict is) {
    if (best == verdict::unknown || is < best) best = is;
  };
  if (all.together) return all.together->placed.whole.is;
  for (const auto& each : all.devices) take(each.placed.is);
  if (all.devices.empty()) take(all.in_ram.is);
  return best;
}

exit_code exit_code_of(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return exit_code::done;
    case verdict::partly:
      return exit_code::tight;
    case verdict::does_not_fit:
      return exit_code::does_not_fit;
    case verdict::unknown:
      break;
  }
  return exit_code::failed;
}

std::string_view verdict_word(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return "fits";
    case verdict::partly:
      return "partly";
    case verdict::does_not_fit:
      return "does_not_fit";
    case verdict::unknown:
      break;
  }
  return "unknown";
}

std::string_view precision_word(precision is) noexcept {
  switch (is) {
    case precision::at_least:
      return "at_least";
    case precision::about:
      return "about";
    case precision::counted:
      break;
  }
  return "counted";
}

std::string verdict_text(const answer& all, const device_answer& on) {
  if (!on.why_unknown.empty()) return "unknown: " + on.why_unknown;
  const auto layers = all.needs.layer_weights.size();
  switch (on.placed.is) {
    case verdict::fits:
      return "fits";
    case verdict::partly:
      if (on.placed.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPU", on.placed.layers, layers);
    case verdict::does_not_fit:
      return "does not fit";
    case verdict::unknown:
      break;
  }
  return std::string(weights_alone);
}

std::string together_text(const answer& all) {
  const auto& placed = all.together->placed;
  switch (placed.whole.is) {
    case verdict::fits:
      return fmt::format("fits: {} layers", layers_of(placed));
    case verdict::partly:
      if (placed.whole.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPUs", layers_of(placed),
                         all.needs.layer_weights.size());
    case verdict::does_not_fit:
      return "does not fit";
    case verdict::unknown:
      break;
  }
  return all.ram_usable ? std::string(weights_alone) : "unknown: free RAM is not known";
}

std::string answer_text(const answer& all, const fit_options& asked, const style& as) {
  auto text = title(all, as) + "\n" + needs_table(all, asked, as) + "\n" + placement_table(all, as);
  if (all.needs.assumptions.empty()) return text;
  text += "\nAssumed:\n";
  for (const auto& each : all.needs.assumptions)
    text += "- " + escape_for_text(each, as.ascii_only) + "\n";
  return text;
}

}  // namespace hmn::cli::fit
