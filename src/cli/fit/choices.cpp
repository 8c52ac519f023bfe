// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/choices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

constexpr std::uint64_t context_step = 256;
constexpr std::uint64_t min_context = 2048;  // of an option with a shorter one
constexpr double min_bits = 1.5;             // per weight, of the smallest types
constexpr std::uint64_t gib = 1u << 30;
// Of a GPU, taken by vLLM by default.
constexpr std::uint64_t vllm_default_percent = 90;

CombinedPlacement place_on_target(const Demand& demand, const Target& target) {
  if (target.devices.empty()) return {place_in_ram(demand, target.ram), {}};
  if (target.devices.size() > 1) return place_across_devices(demand, target.devices);
  const auto placement = place_on_device(demand, target.devices.front());
  return {placement, {placement}};
}

// Returns the largest number up to `max` for which the question, true for small numbers only, is
// true.
template <class Question>
std::uint64_t find_largest(std::uint64_t max, Question is_true) {
  std::uint64_t good = 0;
  for (auto bad = max + 1; bad - good > 1;) {
    const auto middle = good + (bad - good) / 2;
    (is_true(middle) ? good : bad) = middle;
  }
  return good;
}

class ChoiceList {
 public:
  ChoiceList(const Model& model, const Demand& demand, const FitOptions& options,
             const Target& target)
      : model_(model), demand_(demand), options_(options), target_(target) {}

  std::vector<Choice> list() {
    add(options_.kv_type, demand_);
    if (!choices_.empty() && is_whole(choices_.front())) return std::move(choices_);
    const auto type = find_smaller_type();
    if (type) add_with_type(*type);
    if (!target_.devices.empty()) {
      const auto expert_layers = count_expert_layers(demand_);
      if (expert_layers)
        add(options_.kv_type, move_experts(demand_, *expert_layers), *expert_layers);
      if (type) add_experts_with_type(*type, expert_layers);
      if (is_vllm()) add_offload();
    }
    add_shorter_context();
    if (choices_.empty()) add_shortest_need(type.value_or(options_.kv_type));
    std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
      return device_share(a) > device_share(b);
    });
    return std::move(choices_);
  }

 private:
  bool is_vllm() const { return model_.architecture->runtime == Runtime::vllm; }
  std::uint64_t layer_count() const { return demand_.layer_weights.size(); }
  bool is_whole(const Choice& choice) const {
    return target_.devices.empty() ||
           (choice.gpu_layers == layer_count() && choice.expert_layers == 0);
  }
  static double device_share(const Choice& choice) {
    const auto bytes = static_cast<double>(choice.device_bytes);
    return bytes / std::max(bytes + static_cast<double>(choice.ram_bytes), 1.0);
  }

  // Returns none if the numbers are too large.
  std::optional<Demand> estimate(std::uint64_t context, const std::string& kv_type) const {
    auto options = options_;
    options.context = context;
    options.kv_type = kv_type;
    auto demand = estimate_demand(model_, options);
    if (!demand) return std::nullopt;
    return *std::move(demand);
  }

  // Returns the type of cache to suggest, if the requested one is larger.
  std::optional<std::string> find_smaller_type() const {
    if (options_.kv_type != "f16" && options_.kv_type != "bf16" && options_.kv_type != "f32")
      return std::nullopt;
    if (is_vllm()) return "f8";
    if (!options_.flash_attention || !is_cache_type_possible(*model_.architecture, "q8_0"))
      return std::nullopt;
    return "q8_0";
  }

  bool runs_with(const Demand& demand, std::uint64_t layers) const {
    if (target_.devices.size() != 1) {
      const auto placement = place_on_target(demand, target_);
      return is_placed(placement.whole.verdict) && placement.whole.layers >= layers;
    }
    const auto& device = target_.devices.front();
    return layers == demand.layer_weights.size()
               ? has_memory(device, place_whole(demand), false)
               : has_memory(device, place_layers(demand, layers), true);
  }

  std::uint64_t find_longest_context(const std::string& kv_type, std::uint64_t layers,
                                     std::uint64_t expert_layers, std::uint64_t max) const {
    const auto steps = max / context_step;
    const auto longest = find_largest(steps, [&](std::uint64_t step) {
      const auto demand = estimate(step * context_step, kv_type);
      return demand && runs_with(move_experts(*demand, expert_layers), layers);
    });
    return longest == steps ? max : longest * context_step;
  }

  std::uint64_t max_context() const {
    return std::max(model_.architecture->context_length.value_or(demand_.context), demand_.context);
  }

  void add(const std::string& kv_type, const Demand& demand, std::uint64_t expert_layers = 0) {
    const auto placement = place_on_target(demand, target_);
    if (!is_placed(placement.whole.verdict)) return;
    const auto& whole = placement.whole;
    if (expert_layers != 0 && whole.verdict != Verdict::fits) return;
    Choice choice;
    choice.kv_type = kv_type;
    choice.context = demand.context;
    choice.gpu_layers = target_.devices.empty() ? 0 : whole.layers;
    choice.expert_layers = expert_layers;
    choice.device_bytes = whole.device_bytes;
    choice.ram_bytes = whole.ram_bytes;
    choice.text = describe(choice);
    choice.flags =
        is_vllm() ? format_vllm_flags(choice) : format_llama_cpp_flags(choice, placement);
    choice.longest_context =
        std::max(demand.context,
                 find_longest_context(kv_type, choice.gpu_layers, expert_layers, max_context()));
    choices_.push_back(std::move(choice));
  }

  void add_with_type(const std::string& kv_type) {
    const auto demand = estimate(demand_.context, kv_type);
    if (!demand) return;
    const auto before = choices_.empty() ? 0 : choices_.front().gpu_layers;
    const bool is_first = choices_.empty();
    const auto placement = place_on_target(*demand, target_);
    if (is_first || placement.whole.layers > before) add(kv_type, *demand);
  }

  // Returns for how few of the layers it suffices to leave the experts in RAM; none for a model
  // without experts, and if it is not enough for all.
  std::optional<std::uint64_t> count_expert_layers(const Demand& demand) const {
    const auto& experts = demand.layer_experts;
    const auto has_experts = [](std::uint64_t bytes) { return bytes != 0; };
    const auto runs = [&](std::uint64_t layers) {
      return place_on_target(move_experts(demand, layers), target_).whole.verdict == Verdict::fits;
    };
    if (std::none_of(experts.begin(), experts.end(), has_experts) || !runs(experts.size()))
      return std::nullopt;
    return experts.size() - find_largest(experts.size() - 1, [&](std::uint64_t on_device) {
             return runs(experts.size() - on_device);
           });
  }

  void add_experts_with_type(const std::string& kv_type,
                             std::optional<std::uint64_t> requested_layers) {
    const auto demand = estimate(demand_.context, kv_type);
    const auto layers = demand ? count_expert_layers(*demand) : std::nullopt;
    if (layers && (!requested_layers || *layers < *requested_layers))
      add(kv_type, move_experts(*demand, *layers), *layers);
  }

  // All of the model as requested, but for the context.
  void add_shorter_context() {
    const auto layers = target_.devices.empty() ? 0 : layer_count();
    const auto context = find_longest_context(options_.kv_type, layers, 0, demand_.context - 1);
    const auto demand = context < min_context
                            ? std::nullopt
                            : estimate(context / context_step * context_step, options_.kv_type);
    if (!demand) return;
    const auto count = choices_.size();
    add(options_.kv_type, *demand);
    if (choices_.size() > count) choices_.back().text += ", shorter context";
  }

  // Any placement, with a smaller cache and the longest context that fits.
  void add_shortest_need(const std::string& kv_type) {
    const auto steps = find_largest(demand_.context / context_step, [&](std::uint64_t step) {
      const auto demand = estimate(step * context_step, kv_type);
      return demand && is_placed(place_on_target(*demand, target_).whole.verdict);
    });
    const auto context = steps * context_step;
    const auto demand = context < min_context ? std::nullopt : estimate(context, kv_type);
    if (demand) add(kv_type, *demand);
    if (!choices_.empty()) choices_.back().text += ", shorter context";
  }

  // vLLM keeps a part of the weights in RAM, and cache and working memory on the device.
  void add_offload() {
    if (target_.devices.size() != 1) return;
    const auto& device = target_.devices.front();
    if (device.is_shared || !device.ram || demand_.total() <= *device.device) return;
    const auto excess = divide_rounding_up(demand_.total() - *device.device, gib);
    if (excess * gib > std::min(demand_.weights, *device.ram)) return;
    Choice choice;
    choice.kv_type = options_.kv_type;
    choice.context = demand_.context;
    choice.gpu_layers = layer_count();
    choice.device_bytes = demand_.total() - excess * gib;
    choice.ram_bytes = excess * gib;
    choice.text = fmt::format("{} GiB of the weights in RAM", excess);
    choice.flags = format_vllm_flags(choice);
    if (choice.flags.empty()) return;
    choice.flags += fmt::format(" --cpu-offload-gb {}", excess);
    const auto is_enough = [&](std::uint64_t step) {
      const auto demand = estimate(step * context_step, options_.kv_type);
      return demand && demand->total() - excess * gib <= *device.device;
    };
    choice.longest_context = std::max(
        demand_.context, find_largest(max_context() / context_step, is_enough) * context_step);
    std::erase_if(choices_, [&](const Choice& other) { return other.flags.empty(); });
    choices_.push_back(std::move(choice));
  }

  std::string describe(const Choice& choice) const {
    const auto* const devices = target_.devices.size() > 1 ? "GPUs" : "GPU";
    std::string text;
    if (choice.gpu_layers == 0)
      text = "all in RAM";
    else if (choice.expert_layers != 0)
      text = fmt::format("experts of {} {} in RAM", choice.expert_layers,
                         choice.expert_layers == 1 ? "layer" : "layers");
    else if (choice.gpu_layers == layer_count())
      text = fmt::format("all on the {}", devices);
    else
      text = fmt::format("{} of {} layers on the {}", choice.gpu_layers, layer_count(), devices);
    if (choice.kv_type != options_.kv_type) text += fmt::format(", {} cache", choice.kv_type);
    return text;
  }

  // The names are those of common/arg.cpp of llama.cpp.
  std::string format_llama_cpp_flags(const Choice& choice,
                                     const CombinedPlacement& placement) const {
    std::uint64_t tokens = choice.context;
    if (options_.batch) tokens = saturating_product(tokens, *options_.batch);
    auto flags = fmt::format("-c {}", tokens);
    if (options_.batch) flags += fmt::format(" -np {}", *options_.batch);
    if (options_.ubatch) flags += fmt::format(" -ub {}", *options_.ubatch);
    if (choice.gpu_layers == 0)
      flags += " --device none";
    else if (choice.gpu_layers == layer_count())  // and the output; 99 is what people type
      flags += fmt::format(" -ngl {}", std::max<std::uint64_t>(layer_count() + 1, 99));
    else
      flags += fmt::format(" -ngl {}", choice.gpu_layers + 1);
    if (choice.expert_layers != 0) flags += fmt::format(" --n-cpu-moe {}", choice.expert_layers);
    if (placement.parts.size() > 1 && choice.gpu_layers != 0) flags += format_split(placement);
    if (choice.kv_type != "f16") flags += fmt::format(" -ctk {0} -ctv {0}", choice.kv_type);
    if (!options_.flash_attention) flags += " -fa off";
    return flags;
  }

  // Layers of each device; the last one has the output, too, which counts as one.
  static std::string format_split(const CombinedPlacement& placement) {
    std::string text;
    for (std::size_t i = 0; i < placement.parts.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? " -ts " : ",",
                          placement.parts[i].layers + (i + 1 == placement.parts.size() ? 1 : 0));
    return text;
  }

  // The names are those of https://docs.vllm.ai/en/v0.5.3/models/engine_args.html. Without the last
  // one, vLLM takes nine tenths of a GPU.
  std::string format_vllm_flags(const Choice& choice) const {
    const bool is_float = choice.kv_type == "f16" || choice.kv_type == "bf16";
    if (choice.gpu_layers != layer_count() || (!is_float && choice.kv_type != "f8")) return {};
    auto flags = fmt::format("--max-model-len {}", choice.context);
    if (options_.batch) flags += fmt::format(" --max-num-seqs {}", *options_.batch);
    if (options_.ubatch) flags += fmt::format(" --max-num-batched-tokens {}", *options_.ubatch);
    if (!is_float) flags += " --kv-cache-dtype fp8";
    if (target_.devices.size() > 1)
      flags += fmt::format(" --pipeline-parallel-size {}", target_.devices.size());
    const auto percent = find_needed_percent(choice);
    if (percent > vllm_default_percent)
      flags += fmt::format(" --gpu-memory-utilization {:.2f}", static_cast<double>(percent) / 100);
    return flags;
  }
  std::uint64_t find_needed_percent(const Choice& choice) const {
    const auto total = target_.device_totals.size() == 1 ? target_.device_totals.front() : 0;
    if (total == 0) return 0;
    return divide_rounding_up(saturating_product(choice.device_bytes + reserve_bytes, 100), total);
  }

  const Model& model_;
  const Demand& demand_;
  const FitOptions& options_;
  const Target& target_;
  std::vector<Choice> choices_;
};

}  // namespace

std::vector<Choice> list_choices(const Model& model, const Demand& demand,
                                 const FitOptions& options, const Target& target) {
  if (!demand.is_complete() || demand.layer_weights.empty()) return {};
  return ChoiceList(model, demand, options, target).list();
}

std::optional<double> count_bits_per_weight(const Model& model) {
  if (model.weights.parameters == 0) return std::nullopt;
  return static_cast<double>(model.weights.total()) * 8 /
         static_cast<double>(model.weights.parameters);
}

std::optional<double> find_fitting_bits(const Model& model, const Demand& demand,
                                        const Target& target) {
  const auto bits = count_bits_per_weight(model);
  if (!bits || !demand.is_complete() || target.devices.size() != 1) return std::nullopt;
  const auto& device = target.devices.front();
  const auto cache_and_working = saturating_sum(*demand.cache, *demand.working);
  auto weights = demand.outside_weights;
  for (const auto layer : demand.layer_weights) weights = saturating_sum(weights, layer);
  if (!device.device || weights == 0 || cache_and_working >= *device.device) return std::nullopt;
  const auto fitting_bits = *bits * static_cast<double>(*device.device - cache_and_working) /
                            static_cast<double>(weights);
  return fitting_bits < min_bits ? std::nullopt : std::optional(fitting_bits);
}

std::string_view runtime_name(const Model& model) noexcept {
  return model.architecture && model.architecture->runtime == Runtime::llama_cpp ? "llama.cpp"
                                                                                 : "vLLM";
}

}  // namespace hmn::cli::fit
