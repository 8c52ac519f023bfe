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

JsonObject object_of(const hypomnesis::pool& pool) {
  JsonObject out;
  out.add("kind", or_unknown(pool_word(pool.kind)))
      .add("is_main", pool.is_main)
      .add("total_bytes", pool.total_bytes)
      .add("free_bytes", pool.free_bytes)
      .add("usable_bytes", pool.usable_bytes)
      .add("budget_bytes", pool.budget_bytes);
  return out;
}

JsonObject object_of(const Answer& all, const DeviceAnswer& on) {
  const bool placed = on.placed.is == Verdict::fits || on.placed.is == Verdict::partly;
  const auto if_placed = [placed](std::uint64_t value) {
    return placed ? std::optional(value) : std::nullopt;
  };
  std::vector<JsonObject> pools;
  for (const auto& each : on.pools) pools.push_back(object_of(each));
  JsonObject out;
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

std::optional<JsonObject> together_object(const Answer& all) {
  if (!all.together) return std::nullopt;
  const auto& devices = all.together->devices;
  const auto& placed = all.together->placed;
  const bool is_placed = placed.whole.is == Verdict::fits || placed.whole.is == Verdict::partly;
  const auto if_placed = [is_placed](std::uint64_t value) {
    return is_placed ? std::optional(value) : std::nullopt;
  };
  std::vector<JsonObject> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    JsonObject part;
    part.add("device_index", all.devices[devices[i]].on.device.index)
        .add("gpu_layers", if_placed(placed.parts[i].layers))
        .add("gpu_bytes", if_placed(placed.parts[i].device_bytes));
    parts.push_back(part);
  }
  JsonObject out;
  out.add("verdict", verdict_word(placed.whole.is))
      .add("text", together_text(all))
      .add("gpu_layers", if_placed(placed.whole.layers))
      .add("gpu_bytes", if_placed(placed.whole.device_bytes))
      .add("ram_bytes", if_placed(placed.whole.ram_bytes))
      .add("parts", parts);
  return out;
}

JsonObject model_object(const Answer& all) {
  const auto& of = all.of;
  std::optional<std::string> architecture;
  std::optional<std::uint64_t> context;
  if (of.shape) architecture = of.shape->type;
  if (of.shape) context = of.shape->context_length;
  JsonObject out;
  out.add("name", of.name)
      .add("format", of.format)
      .add("architecture", architecture)
      .add("parameters", of.of.parameters == 0 ? std::nullopt : std::optional(of.of.parameters))
      .add("layers", std::uint64_t{of.of.layers.size()})
      .add("context_length", context);
  return out;
}

}  // namespace

std::string answer_json(const Answer& all, const FitOptions& asked) {
  const auto& needs = all.needs;
  std::vector<JsonObject> devices;
  for (const auto& each : all.devices) devices.push_back(object_of(all, each));
  JsonObject out;
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
std::string layers_of(const Spread& placed) {
  std::string text;
  for (const auto& part : placed.parts)
    text += fmt::format("{}{}", text.empty() ? "" : " + ", part.layers);
  return text;
}

Tone tone_of(Verdict is) noexcept {
  switch (is) {
    case Verdict::fits:
      return Tone::good;
    case Verdict::partly:
      return Tone::warning;
    case Verdict::does_not_fit:
      return Tone::bad;
    case Verdict::unknown:
      break;
  }
  return Tone::faint;
}

std::string ram_verdict_text(const Answer& all) {
  if (!all.ram_usable) return "unknown";
  if (all.in_ram.is == Verdict::fits) return "fits";
  return all.in_ram.is == Verdict::unknown ? std::string(weights_alone) : "does not fit";
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

std::string title(const Answer& all, const Style& as) {
  const auto& of = all.of;
  auto text = escape_for_text(of.name, as.ascii_only) + ": " + of.format;
  if (of.of.parameters != 0)
    text += fmt::format(", {} parameters", parameter_text(of.of.parameters));
  if (const auto count = of.of.layers.size(); count != 0)
    text += fmt::format(", {} {}", count, count == 1 ? "layer" : "layers");
  if (!of.stored.empty()) text += ", " + escape_for_text(of.stored, as.ascii_only);
  return text + "\n";
}

std::string precise(std::string size, Precision is) {
  if (is == Precision::at_least) return "at least " + size;
  return is == Precision::about ? "about " + size : size;
}

std::string needs_table(const Answer& all, const FitOptions& asked, const Style& as) {
  const auto& needs = all.needs;
  const auto cache = needs.is_whole() ? fmt::format("{} {} of {} tokens, {}", asked.batch,
                                                    asked.batch == 1 ? "sequence" : "sequences",
                                                    needs.context, asked.kv_type)
                                      : std::string();
  Table rows({{"NEEDS"}, {"", Table::Align::right}, {"", Table::Align::left, true}});
  rows.add({{"weights"}, {format_bytes(needs.weights)}, {""}});
  rows.add({{"KV cache"}, {bytes_or_unknown(needs.cache)}, {cache}});
  rows.add({{"working memory"}, {bytes_or_unknown(needs.working)}, {""}});
  rows.add({{"total", Tone::strong},
            {precise(format_bytes(needs.total()), needs.is), Tone::strong},
            {""}});
  return rows.text(as);
}

std::optional<std::uint64_t> free_of(const DeviceAnswer& on) {
  if (!on.on.memory) return std::nullopt;
  return on.on.memory->free_bytes;
}

std::vector<Table::Cell> row_of(const Answer& all, const DeviceAnswer& on, const Style& as) {
  return {{escape_for_text(label_of(on.on), as.ascii_only)},
          {bytes_or_unknown(free_of(on))},
          {bytes_or_unknown(on.usable)},
          {escape_for_text(verdict_text(all, on), as.ascii_only), tone_of(on.placed.is)}};
}

std::vector<Table::Cell> together_row(const Answer& all) {
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

std::string placement_table(const Answer& all, const Style& as) {
  Table rows({{"MEMORY", Table::Align::left, true},
              {"FREE", Table::Align::right},
              {"USABLE", Table::Align::right},
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

Verdict verdict_of(const Answer& all) {
  auto best = Verdict::unknown;
  const auto take = [&best](Verdict is) {
    if (best == Verdict::unknown || is < best) best = is;
  };
  if (all.together) return all.together->placed.whole.is;
  for (const auto& each : all.devices) take(each.placed.is);
  if (all.devices.empty()) take(all.in_ram.is);
  return best;
}

ExitCode exit_code_of(Verdict is) noexcept {
  switch (is) {
    case Verdict::fits:
      return ExitCode::done;
    case Verdict::partly:
      return ExitCode::tight;
    case Verdict::does_not_fit:
      return ExitCode::does_not_fit;
    case Verdict::unknown:
      break;
  }
  return ExitCode::failed;
}

std::string_view verdict_word(Verdict is) noexcept {
  switch (is) {
    case Verdict::fits:
      return "fits";
    case Verdict::partly:
      return "partly";
    case Verdict::does_not_fit:
      return "does_not_fit";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

std::string_view precision_word(Precision is) noexcept {
  switch (is) {
    case Precision::at_least:
      return "at_least";
    case Precision::about:
      return "about";
    case Precision::counted:
      break;
  }
  return "counted";
}

std::string verdict_text(const Answer& all, const DeviceAnswer& on) {
  if (!on.why_unknown.empty()) return "unknown: " + on.why_unknown;
  const auto layers = all.needs.layer_weights.size();
  switch (on.placed.is) {
    case Verdict::fits:
      return "fits";
    case Verdict::partly:
      if (on.placed.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPU", on.placed.layers, layers);
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::unknown:
      break;
  }
  return std::string(weights_alone);
}

std::string together_text(const Answer& all) {
  const auto& placed = all.together->placed;
  switch (placed.whole.is) {
    case Verdict::fits:
      return fmt::format("fits: {} layers", layers_of(placed));
    case Verdict::partly:
      if (placed.whole.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPUs", layers_of(placed),
                         all.needs.layer_weights.size());
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::unknown:
      break;
  }
  return all.ram_usable ? std::string(weights_alone) : "unknown: free RAM is not known";
}

std::string answer_text(const Answer& all, const FitOptions& asked, const Style& as) {
  auto text = title(all, as) + "\n" + needs_table(all, asked, as) + "\n" + placement_table(all, as);
  if (all.needs.assumptions.empty()) return text;
  text += "\nAssumed:\n";
  for (const auto& each : all.needs.assumptions)
    text += "- " + escape_for_text(each, as.ascii_only) + "\n";
  return text;
}

}  // namespace hmn::cli::fit
