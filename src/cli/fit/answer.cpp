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
  const auto if_placed = [&](std::uint64_t value) {
    return is_placed(device.placement.verdict) ? std::optional(value) : std::nullopt;
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
  const auto if_placed = [&](std::uint64_t value) {
    return is_placed(placement.whole.verdict) ? std::optional(value) : std::nullopt;
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
      .add("path", answer.path)
      .add("format", model.format)
      .add("architecture", architecture)
      .add("parameters",
           model.weights.parameters == 0 ? std::nullopt : std::optional(model.weights.parameters))
      .add("layers", std::uint64_t{model.weights.layers.size()})
      .add("context_length", context);
  return object;
}

std::vector<JsonObject> make_choice_objects(const Answer& answer) {
  const bool has_context = answer.model.architecture.has_value();
  std::vector<JsonObject> objects;
  for (const auto& choice : answer.choices) {
    JsonObject object;
    object.add("text", choice.text)
        .add("kv_type", choice.kv_type)
        .add("context", has_context ? std::optional(choice.context) : std::nullopt)
        .add("gpu_layers", choice.gpu_layers)
        .add("expert_layers_in_ram", choice.expert_layers)
        .add("gpu_bytes", choice.device_bytes)
        .add("ram_bytes", choice.ram_bytes)
        .add("longest_context", choice.longest_context)
        .add("flags", choice.flags.empty() ? std::nullopt : std::optional(choice.flags));
    objects.push_back(object);
  }
  return objects;
}

std::vector<JsonObject> make_file_objects(const Answer& answer) {
  std::vector<JsonObject> objects;
  for (const auto& file : answer.files) {
    JsonObject object;
    object.add("file", file.name)
        .add("weights_bytes", file.weights)
        .add("bits_per_weight", file.bits)
        .add("verdict", verdict_word(file.verdict));
    objects.push_back(object);
  }
  return objects;
}

std::vector<std::uint32_t> list_target_indexes(const Answer& answer) {
  std::vector<std::uint32_t> indexes;
  for (const auto i : answer.target) indexes.push_back(answer.devices[i].gpu.device.index);
  return indexes;
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
      .add("batch", demand.sequences)
      .add("context_is_shared", demand.context_is_shared)
      .add("ubatch", demand.is_complete() ? std::optional(demand.ubatch) : std::nullopt)
      .add("kv_type", options.kv_type)
      .add("flash_attention", options.flash_attention)
      .add("weights_bytes", demand.weights)
      .add("kv_cache_bytes", demand.cache)
      .add("working_bytes", demand.working)
      .add("least_working_bytes",
           demand.working ? std::optional(demand.least_working) : std::nullopt)
      .add("total_bytes", demand.total())
      .add("precision", precision_word(demand.precision))
      .add("reserve_bytes", reserve_bytes)
      .add("devices", devices)
      .add("together", make_combined_object(answer))
      .add("ram_usable_bytes", answer.ram_usable)
      .add("ram_verdict", verdict_word(answer.ram_placement.verdict))
      .add("runtime",
           answer.model.architecture ? std::optional(runtime_name(answer.model)) : std::nullopt)
      .add("option_devices", list_target_indexes(answer))
      .add("options", make_choice_objects(answer))
      .add("bits_per_weight", count_bits_per_weight(answer.model))
      .add("fitting_bits_per_weight", answer.fitting_bits)
      .add("files", make_file_objects(answer))
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

// Formats "17000MiB", rounded up.
std::string format_size_argument(std::uint64_t bytes) {
  return fmt::format("{}MiB", divide_rounding_up(bytes, 1u << 20));
}

// Formats "16.3 to 16.4 GiB", and a single size where both ends look alike.
std::string format_range(std::uint64_t low, std::uint64_t high) {
  const auto first = format_bytes(low);
  const auto last = format_bytes(high);
  if (first == last) return last;
  const auto unit = first.find(' ');
  const bool is_same_unit = unit != std::string::npos && last.ends_with(first.substr(unit));
  return (is_same_unit ? first.substr(0, unit) : first) + " to " + last;
}

std::string format_tokens(const Demand& demand) {
  if (demand.context_is_shared)
    return fmt::format("{} tokens, which {} slots share", demand.context, demand.sequences);
  return demand.sequences == 1
             ? fmt::format("{} tokens", demand.context)
             : fmt::format("{} sequences of {} tokens", demand.sequences, demand.context);
}

// Returns how a size is known: "exact" is what a file's tensors and llama.cpp's own allocations
// give.
std::string_view describe_source(const Answer& answer, bool is_counted) {
  if (answer.demand.precision != Precision::counted) return "as far as known";
  return is_counted ? "counted" : "exact";
}

std::string format_demand(const Answer& answer, const FitOptions& options, const Style& style) {
  const auto& demand = answer.demand;
  const auto weights = fmt::format("eights {} ({})", format_bytes(demand.weights),
                                   describe_source(answer, answer.model.weights_are_counted));
  if (!demand.is_complete())
    return paint("Needs " + qualify_size(format_bytes(demand.total()), demand.precision),
                 Tone::strong, style.colour) +
           fmt::format(": w{}; cache and working memory are not known\n", weights);
  const auto least = demand.total() - *demand.working + demand.least_working;
  const bool is_vllm = answer.model.architecture->runtime == Runtime::vllm;
  return paint("Needs " + qualify_size(format_range(least, demand.total()), demand.precision),
               Tone::strong, style.colour) +
         fmt::format(" for {}\nW{}, {} cache {} ({}), working memory {}\n", format_tokens(demand),
                     weights, options.kv_type, format_bytes(*demand.cache),
                     describe_source(answer, is_vllm),
                     format_range(demand.least_working, *demand.working));
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

constexpr std::size_t max_device_rows = 4;
constexpr std::size_t max_file_rows = 6;
constexpr std::size_t max_note_lines = 3;

bool is_target(const Answer& answer, std::size_t device) {
  return std::find(answer.target.begin(), answer.target.end(), device) != answer.target.end();
}

std::string format_placement_table(const Answer& answer, const FitOptions& options,
                                   const Style& style) {
  Table table({{"MEMORY", Table::Align::left, true},
               {"FREE", Table::Align::right},
               {"USABLE", Table::Align::right},
               {"VERDICT"}});
  const bool shows_all = options.explains || answer.devices.size() <= max_device_rows;
  std::size_t rows = 0;
  std::size_t omitted = 0;
  for (std::size_t i = 0; i < answer.devices.size(); ++i) {
    const bool has_room = rows + 1 < max_device_rows || (!answer.combined && is_target(answer, i));
    if (shows_all || has_room) {
      table.add(make_device_row(answer, answer.devices[i], style));
      ++rows;
    } else {
      ++omitted;
    }
  }
  if (omitted != 0) table.add({{fmt::format("{} more: --why", omitted)}, {""}, {""}, {""}});
  if (answer.combined) table.add(make_combined_row(answer));
  table.add({{"RAM"},
             {format_bytes_or_unknown(answer.ram_usable)},
             {format_bytes_or_unknown(answer.ram_usable)},
             {format_ram_verdict(answer), choose_tone(answer.ram_placement.verdict)}});
  return table.text(style);
}

std::string format_bits(const std::optional<double>& bits) {
  return bits ? fmt::format("{:.1f}", *bits) : "?";
}

std::string format_file_table(const Answer& answer, const FitOptions& options, const Style& style) {
  Table table({{"FILE", Table::Align::left, true},
               {"BITS PER WEIGHT", Table::Align::right},
               {"WEIGHTS", Table::Align::right},
               {"VERDICT"}});
  const auto rows =
      options.explains ? answer.files.size() : std::min(answer.files.size(), max_file_rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& file = answer.files[i];
    const std::string verdict = file.verdict == Verdict::fits           ? "fits"
                                : file.verdict == Verdict::partly       ? "fits in part"
                                : file.verdict == Verdict::does_not_fit ? "does not fit"
                                                                        : "unknown";
    table.add({{escape_for_text(file.name, style.ascii_only)},
               {format_bits(file.bits)},
               {format_bytes(file.weights)},
               {i == 0 ? verdict + ", used below" : verdict, choose_tone(file.verdict)}});
  }
  auto text = table.text(style);
  if (rows < answer.files.size())
    text += fmt::format("{} more: --why\n", answer.files.size() - rows);
  return text + "\n";
}

std::string format_target(const Answer& answer) {
  if (answer.target.empty()) return "RAM";
  std::string text = answer.target.size() == 1 ? "GPU " : "GPUS ";
  for (std::size_t i = 0; i < answer.target.size(); ++i)
    text +=
        fmt::format("{}{}", i == 0 ? "" : ", ", answer.devices[answer.target[i]].gpu.device.index);
  return text;
}

// Flags are to be copied: a table that is too wide has them on lines of their own.
std::string format_choice_table(const Answer& answer, const Style& style) {
  if (answer.choices.empty())
    return choose_verdict(answer) == Verdict::does_not_fit
               ? "\nNo way to run it in this memory was found, even with a smaller cache and a "
                 "shorter context.\n"
               : "";
  const auto make_table = [&](bool has_flags) {
    std::vector<Table::Column> columns = {{"OPTION"},
                                          {format_target(answer), Table::Align::right},
                                          {"RAM", Table::Align::right},
                                          {"LONGEST CONTEXT", Table::Align::right}};
    if (answer.target.empty()) columns.erase(columns.begin() + 1);
    if (has_flags) columns.push_back({std::string(runtime_name(answer.model))});
    Table table(columns);
    for (const auto& choice : answer.choices) {
      std::vector<Table::Cell> row = {
          {choice.text},
          {format_bytes(choice.device_bytes)},
          {format_bytes(choice.ram_bytes)},
          {choice.longest_context ? fmt::to_string(*choice.longest_context) : "?"}};
      if (answer.target.empty()) row.erase(row.begin() + 1);
      if (has_flags) row.push_back({choice.flags.empty() ? "-" : choice.flags});
      table.add(std::move(row));
    }
    return table;
  };
  if (const auto table = make_table(true); style.width == 0 || table.fits(style.width))
    return "\n" + table.text(style);
  auto text =
      "\n" + make_table(false).text(style) + std::string(runtime_name(answer.model)) + ":\n";
  for (const auto& choice : answer.choices)
    if (!choice.flags.empty()) text += "  " + choice.flags + "\n";
  return text;
}

std::string format_fitting_bits(const Answer& answer) {
  if (!answer.fitting_bits || answer.target.size() != 1) return {};
  return fmt::format("A file with about {} bits per weight would fit on GPU {} ({} now).\n",
                     format_bits(answer.fitting_bits),
                     answer.devices[answer.target.front()].gpu.device.index,
                     format_bits(count_bits_per_weight(answer.model)));
}

// llama.cpp and vLLM use all GPUs that they see.
std::string format_selection(const Answer& answer) {
  if (answer.target.size() != 1 || answer.devices.size() < 2 || answer.choices.empty()) return {};
  const auto index = answer.devices[answer.target.front()].gpu.device.index;
  return fmt::format("GPU {0} alone: hmn wait --free {1} --device {0} COMMAND\n", index,
                     format_size_argument(answer.choices.front().device_bytes + reserve_bytes));
}

// Lines on why the size is not exact, and where the others are.
std::string format_doubts(const Answer& answer, const Style& style) {
  std::string text;
  std::vector<std::string> lines;
  if (answer.demand.precision != Precision::counted) {
    if (answer.model.architecture) lines = answer.model.architecture->notes.lines;
    lines.insert(lines.end(), answer.model.notes.lines.begin(), answer.model.notes.lines.end());
  }
  if (lines.empty() && !answer.model.architecture && !answer.demand.assumptions.empty())
    lines.push_back(answer.demand.assumptions.front());
  for (std::size_t i = 0; i < std::min(lines.size(), max_note_lines); ++i)
    text += "- " + escape_for_text(lines[i], style.ascii_only) + "\n";
  return text + "--why lists what is assumed.\n";
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
  auto text = format_title(answer, style) + format_demand(answer, options, style) + "\n";
  if (!answer.files.empty()) text = format_file_table(answer, options, style) + text;
  text += format_placement_table(answer, options, style) + format_choice_table(answer, style) +
          format_fitting_bits(answer) + format_selection(answer);
  if (!options.explains) return text + format_doubts(answer, style);
  text += "\nAssumed:\n";
  for (const auto& assumption : answer.demand.assumptions)
    text += "- " + escape_for_text(assumption, style.ascii_only) + "\n";
  return text;
}

}  // namespace hmn::cli::fit
