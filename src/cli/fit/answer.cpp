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

std::vector<std::string_view> make_views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

JsonObject make_pool_object(const hypomnesis::pool& pool) {
  JsonObject object;
  object.add("kind", or_unknown(pool_word(pool.kind)))
      .add("is_main", pool.is_main)
      .add("total_bytes", pool.total_bytes)
      .add("free_bytes", pool.free_bytes)
      .add("usable_bytes", pool.usable_bytes)
      .add("budget_bytes", pool.budget_bytes);
  return object;
}

JsonObject make_device_object(const Answer& answer, const DeviceAnswer& device) {
  const bool is_placed =
      device.placement.verdict == Verdict::fits || device.placement.verdict == Verdict::partly;
  const auto if_placed = [is_placed](std::uint64_t value) {
    return is_placed ? std::optional(value) : std::nullopt;
  };
  std::vector<JsonObject> pools;
  for (const auto& pool : device.pools) pools.push_back(make_pool_object(pool));
  JsonObject object;
  object.add("device_index", device.gpu.device.index)
      .add("device_name", device.gpu.device.name)
      .add("device_uuid", device.gpu.device.uuid)
      .add("pci_bus_id", device.gpu.device.pci_bus_id)
      .add("shares_ram", device.shares_ram)
      .add("usable_bytes", device.usable)
      .add("verdict", verdict_word(device.placement.verdict))
      .add("text", format_verdict(answer, device))
      .add("gpu_layers", if_placed(device.placement.layers))
      .add("gpu_bytes", if_placed(device.placement.device_bytes))
      .add("ram_bytes", if_placed(device.placement.ram_bytes))
      .add("pools", pools);
  return object;
}

std::optional<JsonObject> make_combined_object(const Answer& answer) {
  if (!answer.combined) return std::nullopt;
  const auto& devices = answer.combined->devices;
  const auto& placement = answer.combined->placement;
  const bool is_placed =
      placement.whole.verdict == Verdict::fits || placement.whole.verdict == Verdict::partly;
  const auto if_placed = [is_placed](std::uint64_t value) {
    return is_placed ? std::optional(value) : std::nullopt;
  };
  std::vector<JsonObject> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    JsonObject part;
    part.add("device_index", answer.devices[devices[i]].gpu.device.index)
        .add("gpu_layers", if_placed(placement.parts[i].layers))
        .add("gpu_bytes", if_placed(placement.parts[i].device_bytes));
    parts.push_back(part);
  }
  JsonObject object;
  object.add("verdict", verdict_word(placement.whole.verdict))
      .add("text", format_combined_verdict(answer))
      .add("gpu_layers", if_placed(placement.whole.layers))
      .add("gpu_bytes", if_placed(placement.whole.device_bytes))
      .add("ram_bytes", if_placed(placement.whole.ram_bytes))
      .add("parts", parts);
  return object;
}

JsonObject make_model_object(const Answer& answer) {
  const auto& model = answer.model;
  std::optional<std::string> architecture;
  std::optional<std::uint64_t> context;
  if (model.architecture) architecture = model.architecture->type;
  if (model.architecture) context = model.architecture->context_length;
  JsonObject object;
  object.add("name", model.name)
      .add("format", model.format)
      .add("architecture", architecture)
      .add("parameters",
           model.weights.parameters == 0 ? std::nullopt : std::optional(model.weights.parameters))
      .add("layers", std::uint64_t{model.weights.layers.size()})
      .add("context_length", context);
  return object;
}

}  // namespace

std::string format_answer_json(const Answer& answer, const FitOptions& options) {
  const auto& demand = answer.demand;
  std::vector<JsonObject> devices;
  for (const auto& device : answer.devices) devices.push_back(make_device_object(answer, device));
  JsonObject object;
  object.add("schema", 1u)
      .add("verdict", verdict_word(choose_verdict(answer)))
      .add("model", make_model_object(answer))
      .add("context", demand.is_complete() ? std::optional(demand.context) : std::nullopt)
      .add("batch", options.batch)
      .add("ubatch", demand.is_complete() ? std::optional(demand.ubatch) : std::nullopt)
      .add("kv_type", options.kv_type)
      .add("weights_bytes", demand.weights)
      .add("kv_cache_bytes", demand.cache)
      .add("working_bytes", demand.working)
      .add("total_bytes", demand.total())
      .add("precision", precision_word(demand.precision))
      .add("reserve_bytes", reserve_bytes)
      .add("devices", devices)
      .add("together", make_combined_object(answer))
      .add("ram_usable_bytes", answer.ram_usable)
      .add("ram_verdict", verdict_word(answer.ram_placement.verdict))
      .add("assumptions", make_views(demand.assumptions))
      .add("warnings", make_views(demand.warnings));
  return object.text() + "\n";
}

namespace {

using hypomnesis::format_bytes;

constexpr std::string_view only_weights_fit = "unknown: the weights alone fit";

// Formats "20 + 12".
std::string format_layers(const CombinedPlacement& placement) {
  std::string text;
  for (const auto& part : placement.parts)
    text += fmt::format("{}{}", text.empty() ? "" : " + ", part.layers);
  return text;
}

Tone choose_tone(Verdict verdict) noexcept {
  switch (verdict) {
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

std::string format_ram_verdict(const Answer& answer) {
  if (!answer.ram_usable) return "unknown";
  if (answer.ram_placement.verdict == Verdict::fits) return "fits";
  return answer.ram_placement.verdict == Verdict::unknown ? std::string(only_weights_fit)
                                                          : "does not fit";
}

std::string format_bytes_or_unknown(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

std::string format_parameter_count(std::uint64_t count) {
  if (count >= 1'000'000'000)
    return fmt::format("{:.2f} billion", static_cast<double>(count) / 1e9);
  if (count >= 1'000'000) return fmt::format("{:.1f} million", static_cast<double>(count) / 1e6);
  return fmt::to_string(count);
}

std::string format_title(const Answer& answer, const Style& style) {
  const auto& model = answer.model;
  auto text = escape_for_text(model.name, style.ascii_only) + ": " + model.format;
  if (model.weights.parameters != 0)
    text += fmt::format(", {} parameters", format_parameter_count(model.weights.parameters));
  if (const auto count = model.weights.layers.size(); count != 0)
    text += fmt::format(", {} {}", count, count == 1 ? "layer" : "layers");
  if (!model.weight_type.empty())
    text += ", " + escape_for_text(model.weight_type, style.ascii_only);
  return text + "\n";
}

std::string qualify_size(std::string size, Precision precision) {
  if (precision == Precision::at_least) return "at least " + size;
  return precision == Precision::about ? "about " + size : size;
}

std::string format_demand_table(const Answer& answer, const FitOptions& options,
                                const Style& style) {
  const auto& demand = answer.demand;
  const auto cache = demand.is_complete()
                         ? fmt::format("{} {} of {} tokens, {}", options.batch,
                                       options.batch == 1 ? "sequence" : "sequences",
                                       demand.context, options.kv_type)
                         : std::string();
  Table table({{"NEEDS"}, {"", Table::Align::right}, {"", Table::Align::left, true}});
  table.add({{"weights"}, {format_bytes(demand.weights)}, {""}});
  table.add({{"KV cache"}, {format_bytes_or_unknown(demand.cache)}, {cache}});
  table.add({{"working memory"}, {format_bytes_or_unknown(demand.working)}, {""}});
  table.add({{"total", Tone::strong},
             {qualify_size(format_bytes(demand.total()), demand.precision), Tone::strong},
             {""}});
  return table.text(style);
}

std::optional<std::uint64_t> get_free_bytes(const DeviceAnswer& device) {
  if (!device.gpu.memory) return std::nullopt;
  return device.gpu.memory->free_bytes;
}

std::vector<Table::Cell> make_device_row(const Answer& answer, const DeviceAnswer& device,
                                         const Style& style) {
  return {{escape_for_text(format_gpu_label(device.gpu), style.ascii_only)},
          {format_bytes_or_unknown(get_free_bytes(device))},
          {format_bytes_or_unknown(device.usable)},
          {escape_for_text(format_verdict(answer, device), style.ascii_only),
           choose_tone(device.placement.verdict)}};
}

std::vector<Table::Cell> make_combined_row(const Answer& answer) {
  std::string label;
  std::optional<std::uint64_t> free = 0;
  std::size_t ram_device_count = 0;
  for (const auto i : answer.combined->devices) {
    const auto& device = answer.devices[i];
    label += fmt::format("{}{}", label.empty() ? "GPUs " : ", ", device.gpu.device.index);
    const auto device_free =
        device.shares_ram && ++ram_device_count > 1 ? std::nullopt : get_free_bytes(device);
    free = free && device_free ? std::optional(*free + *device_free) : std::nullopt;
  }
  return {{label + " together"},
          {format_bytes_or_unknown(free)},
          {format_bytes(answer.combined->usable)},
          {format_combined_verdict(answer), choose_tone(answer.combined->placement.whole.verdict)}};
}

std::string format_placement_table(const Answer& answer, const Style& style) {
  Table table({{"MEMORY", Table::Align::left, true},
               {"FREE", Table::Align::right},
               {"USABLE", Table::Align::right},
               {"VERDICT"}});
  for (const auto& device : answer.devices) table.add(make_device_row(answer, device, style));
  if (answer.combined) table.add(make_combined_row(answer));
  table.add({{"RAM"},
             {format_bytes_or_unknown(answer.ram_usable)},
             {format_bytes_or_unknown(answer.ram_usable)},
             {format_ram_verdict(answer), choose_tone(answer.ram_placement.verdict)}});
  return table.text(style);
}

}  // namespace

Verdict choose_verdict(const Answer& answer) {
  auto best = Verdict::unknown;
  const auto consider = [&best](Verdict verdict) {
    if (best == Verdict::unknown || verdict < best) best = verdict;
  };
  if (answer.combined) return answer.combined->placement.whole.verdict;
  for (const auto& device : answer.devices) consider(device.placement.verdict);
  if (answer.devices.empty()) consider(answer.ram_placement.verdict);
  return best;
}

ExitCode choose_exit_code(Verdict verdict) noexcept {
  switch (verdict) {
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

std::string_view verdict_word(Verdict verdict) noexcept {
  switch (verdict) {
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

std::string_view precision_word(Precision precision) noexcept {
  switch (precision) {
    case Precision::at_least:
      return "at_least";
    case Precision::about:
      return "about";
    case Precision::counted:
      break;
  }
  return "counted";
}

std::string format_verdict(const Answer& answer, const DeviceAnswer& device) {
  if (!device.unknown_reason.empty()) return "unknown: " + device.unknown_reason;
  const auto layers = answer.demand.layer_weights.size();
  switch (device.placement.verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::partly:
      if (device.placement.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPU", device.placement.layers, layers);
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::unknown:
      break;
  }
  return std::string(only_weights_fit);
}

std::string format_combined_verdict(const Answer& answer) {
  const auto& placement = answer.combined->placement;
  switch (placement.whole.verdict) {
    case Verdict::fits:
      return fmt::format("fits: {} layers", format_layers(placement));
    case Verdict::partly:
      if (placement.whole.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPUs", format_layers(placement),
                         answer.demand.layer_weights.size());
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::unknown:
      break;
  }
  return answer.ram_usable ? std::string(only_weights_fit) : "unknown: free RAM is not known";
}

std::string format_answer_text(const Answer& answer, const FitOptions& options,
                               const Style& style) {
  auto text = format_title(answer, style) + "\n" + format_demand_table(answer, options, style) +
              "\n" + format_placement_table(answer, style);
  if (answer.demand.assumptions.empty()) return text;
  text += "\nAssumed:\n";
  for (const auto& assumption : answer.demand.assumptions)
    text += "- " + escape_for_text(assumption, style.ascii_only) + "\n";
  return text;
}

}  // namespace hmn::cli::fit
