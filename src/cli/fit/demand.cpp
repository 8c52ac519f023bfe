// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/demand.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

using hypomnesis::dtype_id;

struct NamedPacking {
  std::string_view name;
  packing format;
};
// Packings of q8_0 and similar: a group of 32 has a scale of 16 bits, and a minimum in types that
// end in 1.
constexpr NamedPacking packings[] = {
    {"f32", {dtype_id::f32, 0, 0, 0}},   {"f16", {dtype_id::f16, 0, 0, 0}},
    {"bf16", {dtype_id::bf16, 0, 0, 0}}, {"f8", {dtype_id::f8e4m3, 0, 0, 0}},
    {"q8_0", {{}, 8, 32, 16}},           {"q5_1", {{}, 5, 32, 32}},
    {"q5_0", {{}, 5, 32, 16}},           {"q4_1", {{}, 4, 32, 32}},
    {"q4_0", {{}, 4, 32, 16}},           {"iq4_nl", {{}, 4, 32, 16}},
};

Failure estimate_error(const char* subject, hypomnesis::status_code status) {
  return make_failure(
      fmt::format("{}: {}: expected less than 2^64 bytes", subject, hypomnesis::name(status)));
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) noexcept {
  return saturating_product(divide_rounding_up(value, multiple), multiple);
}

// Tokens for which a runtime allocates keys and values of a layer.
struct CachedTokens {
  std::uint64_t cache = 0;
  std::uint64_t extra = 0;  // entries of the second cache
};

// Follows GGML_PAD(…, 256) in src/llama-context.cpp, src/llama-kv-cache-iswa.cpp and
// src/llama-kv-cache-dsv4.cpp of llama.cpp. A cache that sequences share has a window for each.
CachedTokens count_llama_cpp_tokens(const Layer& layer, const Demand& demand) {
  const auto all = round_up(demand.context, 256);
  const auto windows =
      saturating_product(layer.window, demand.context_is_shared ? demand.sequences : 1);
  const auto window_tokens = round_up(std::min(all, saturating_sum(windows, demand.ubatch)), 256);
  return {layer.window != 0 ? window_tokens : all,
          layer.tokens_per_extra == 1
              ? all
              : round_up(divide_rounding_up(all, layer.tokens_per_extra), 256)};
}

// Follows max_memory_usage_bytes in vllm/v1/kv_cache_interface.py, in blocks of 16 tokens: a window
// may begin inside a block.
CachedTokens count_vllm_tokens(const Layer& layer, const Demand& demand) {
  const auto context = demand.context;
  const auto ubatch = demand.ubatch;
  const auto all = round_up(context, 16);
  const auto window_tokens =
      layer.is_chunked
          ? round_up(std::min(saturating_sum(layer.window, ubatch), context), 16)
          : saturating_sum(
                round_up(std::min(saturating_sum(layer.window - 1, ubatch), context), 16), 16);
  return {layer.window != 0 ? window_tokens : all, divide_rounding_up(all, layer.tokens_per_extra)};
}

CachedTokens count_cached_tokens(Runtime runtime, const Layer& layer, const Demand& demand) {
  return runtime == Runtime::llama_cpp ? count_llama_cpp_tokens(layer, demand)
                                       : count_vllm_tokens(layer, demand);
}

hypomnesis::cache make_cache(const packing& kv_packing) {
  hypomnesis::cache cache;
  cache.dtype = kv_packing.dtype;
  cache.element_bits = kv_packing.element_bits;
  cache.group_size = kv_packing.group_size;
  cache.group_bits = kv_packing.group_bits;
  cache.layers = 1;
  return cache;
}

std::uint64_t estimate_latent_bytes(std::uint64_t size, const packing& kv_packing,
                                    std::uint64_t tokens, std::uint64_t batch) {
  auto cache = make_cache(kv_packing);
  cache.kind = hypomnesis::cache_kind::latent;
  cache.latent_dim = size;
  return hypomnesis::estimate_cache(cache, tokens, batch);
}

std::uint64_t estimate_full_bytes(const Layer& layer, const packing& kv_packing,
                                  std::uint64_t tokens, std::uint64_t batch) {
  auto keys = make_cache(kv_packing);
  keys.kind = hypomnesis::cache_kind::full;
  keys.kv_heads = layer.kv_heads;
  keys.row_dim = layer.key_size;
  auto values = keys;
  values.row_dim = layer.value_size != 0 ? layer.value_size : layer.key_size;
  return hypomnesis::estimate_sum({hypomnesis::estimate_cache(keys, tokens, batch),
                                   hypomnesis::estimate_cache(values, tokens, batch)});
}

// Keeps states in 32 bits regardless of the type of keys and values.
std::uint64_t estimate_state_bytes(const Layer& layer, std::uint64_t batch) {
  hypomnesis::cache cache;
  cache.kind = hypomnesis::cache_kind::state;
  cache.dtype = dtype_id::f32;
  cache.layers = 1;
  cache.state_elements = layer.state_size;
  return hypomnesis::estimate_cache(cache, 1, batch);
}

std::uint64_t count_values(const Layer& layer) {
  const bool has_values = layer.cache != CacheKind::none && layer.cache != CacheKind::latent;
  return has_values ? saturating_product(layer.kv_heads,
                                         layer.value_size != 0 ? layer.value_size : layer.key_size)
                    : 0;
}

// Without flash attention, llama.cpp keeps the values of each layer as wide as the widest.
std::vector<Layer> list_cached_layers(const Architecture& architecture, bool flash_attention) {
  auto layers = architecture.layers;
  if (architecture.runtime != Runtime::llama_cpp || flash_attention) return layers;
  std::uint64_t widest = 0;
  for (const auto& layer : layers) widest = std::max(widest, count_values(layer));
  for (auto& layer : layers)
    if (count_values(layer) != 0) layer.value_size = divide_rounding_up(widest, layer.kv_heads);
  return layers;
}

// llama.cpp keeps compressed keys for each sequence.
bool can_share_cache(const Architecture& architecture) {
  return std::ranges::all_of(architecture.layers,
                             [](const Layer& layer) { return layer.tokens_per_extra == 1; });
}

Expected<std::uint64_t> estimate_layer_bytes(const Layer& layer, const packing& kv_packing,
                                             const CachedTokens& tokens, const Demand& demand) {
  const auto batch = demand.context_is_shared ? 1 : demand.sequences;
  try {
    std::uint64_t bytes = 0;
    if (layer.cache == CacheKind::latent)
      bytes = estimate_latent_bytes(layer.key_size, kv_packing, tokens.cache, batch);
    else if (layer.cache != CacheKind::none)
      bytes = estimate_full_bytes(layer, kv_packing, tokens.cache, batch);
    if (layer.cache != CacheKind::none && layer.extra_size != 0)
      bytes = saturating_sum(
          bytes, estimate_latent_bytes(layer.extra_size, kv_packing, tokens.extra, batch));
    if (layer.state_size != 0)
      bytes = saturating_sum(bytes, estimate_state_bytes(layer, demand.sequences));
    return bytes;
  } catch (const hypomnesis::error& error) {
    return estimate_error("KV cache", error.status());
  }
}

std::uint64_t estimate_f32_bytes(std::uint64_t rows, std::uint64_t columns) {
  return hypomnesis::estimate_tensor({rows, columns}, dtype_id::f32);
}

// Range of what llama.cpp needs, in tenths of what is counted: as wide as its own answers are.
constexpr std::uint64_t least_working_tenths = 5;
constexpr std::uint64_t most_working_tenths = 14;

std::uint64_t estimate_most(std::uint64_t counted) {
  return saturating_product(counted / 10 + 1, most_working_tenths);
}

// Returns the size for one layer; layers reuse the same buffers.
std::uint64_t estimate_attention_bytes(const Architecture& architecture, std::uint64_t tokens) {
  std::uint64_t largest = 0;
  for (const auto& layer : architecture.layers) {
    if (layer.cache == CacheKind::none || architecture.head_count == 0) continue;
    hypomnesis::attention work;
    work.flags = hypomnesis::attention_flag::fused;
    work.dtype = dtype_id::f32;
    work.heads = architecture.head_count;
    work.kv_heads = std::min(std::max<std::uint64_t>(layer.kv_heads, 1), architecture.head_count);
    work.sequence = tokens;
    work.head_dim = std::max(layer.key_size, layer.value_size);
    largest = std::max(largest, hypomnesis::estimate_attention(work));
  }
  return largest;
}

// Tokens of llama.cpp's masks: one for all of the context, and one for windows.
std::uint64_t count_masked_tokens(const Architecture& architecture, const Demand& demand) {
  std::uint64_t windows = 0;
  for (const auto& layer : architecture.layers)
    if (layer.cache != CacheKind::none && layer.window != 0)
      windows = std::max(windows, count_llama_cpp_tokens(layer, demand).cache);
  return saturating_sum(demand.context, windows);
}

// Sets the working memory: the larger of a layer's buffers (with llama.cpp's mask, and the scores
// without flash attention) and the logits: of the last token of each sequence, at most of all
// tokens in llama.cpp. A device that has a part of the model copies what is in RAM, one tensor at a
// time.
std::optional<Failure> estimate_working_bytes(const Model& model, std::uint64_t tokens,
                                              bool flash_attention, Demand& demand) {
  const auto& architecture = *model.architecture;
  try {
    const auto stream = estimate_f32_bytes(tokens, architecture.hidden_size);
    const bool is_llama = architecture.runtime == Runtime::llama_cpp;
    const auto mask = is_llama
                          ? saturating_product(tokens, count_masked_tokens(architecture, demand),
                                               flash_attention ? 2 : 4)
                          : 0;
    const auto stored_scores =
        saturating_sum(flash_attention && !architecture.stores_scores ? 0 : architecture.head_count,
                       is_llama ? architecture.indexer_scores : 0);
    const auto scores =
        saturating_product(stored_scores, estimate_f32_bytes(tokens, demand.context));
    const auto attention = saturating_sum(estimate_attention_bytes(architecture, tokens), scores,
                                          estimate_f32_bytes(tokens, architecture.projected_size));
    const auto experts = is_llama ? saturating_product(2, architecture.experts_used, stream) : 0;
    const auto layer_buffers = saturating_sum(
        saturating_product(2, stream), mask, attention, experts,
        saturating_product(2, estimate_f32_bytes(tokens, architecture.feed_forward_size)));
    const auto estimate_logits = [&](std::uint64_t rows) {
      return saturating_sum(stream, estimate_f32_bytes(rows, architecture.vocabulary_size));
    };
    const auto last_tokens = std::min(tokens, demand.sequences);
    const auto least = std::max(layer_buffers, estimate_logits(last_tokens));
    const auto most = is_llama ? std::max(layer_buffers, estimate_logits(tokens)) : least;
    demand.least_working = least / 10 * least_working_tenths;
    demand.working = is_llama ? estimate_most(most) : hypomnesis::estimate_overhead(most);
    demand.split_working = *demand.working;
    if (!is_llama) return std::nullopt;
    demand.split_working = std::max(
        saturating_sum(estimate_most(layer_buffers), model.weights.largest), *demand.working);
    demand.ram_working = estimate_most(saturating_sum(saturating_product(2, stream), mask));
    return std::nullopt;
  } catch (const hypomnesis::error&) {
    return estimate_error("working memory", hypomnesis::status_code::overflow);
  }
}

std::uint64_t choose_context(const Architecture& architecture, const FitOptions& options) {
  if (options.context) return *options.context;
  return std::min(architecture.context_length.value_or(default_context), default_context);
}

void note_windows(Demand& demand, const Architecture& architecture) {
  std::uint64_t window = 0;
  std::size_t count = 0;
  for (const auto& layer : architecture.layers) {
    if (layer.cache == CacheKind::none || layer.window == 0) continue;
    window = std::max(window, layer.window);
    ++count;
  }
  if (count == 0) return;
  demand.assumptions.push_back(fmt::format("{} of {} tokens in {} of {} layers, and {} at once",
                                           architecture.layers[0].is_chunked ? "chunks" : "windows",
                                           window, count, architecture.layers.size(),
                                           demand.ubatch));
}

void append_assumptions(Demand& demand, const Notes& notes) {
  demand.precision = std::max(demand.precision, notes.precision);
  demand.assumptions.insert(demand.assumptions.end(), notes.lines.begin(), notes.lines.end());
}

std::string format_sequences(const Demand& demand, const FitOptions& options) {
  if (demand.context_is_shared)
    return fmt::format("{} slots that share {} tokens, as llama-server's; --batch 1 is one alone",
                       demand.sequences, demand.context);
  return fmt::format("{} {} of {} tokens, the cache full, kept as {}", demand.sequences,
                     demand.sequences == 1 ? "sequence" : "sequences", demand.context,
                     options.kv_type);
}

void note_assumptions(Demand& demand, const Model& model, const FitOptions& options,
                      std::uint64_t tokens) {
  const auto& architecture = *model.architecture;
  if (architecture.context_length && demand.context > *architecture.context_length)
    demand.warnings.push_back(fmt::format("--context {}: the model was made for {} tokens at most",
                                          demand.context, *architecture.context_length));
  if (model.weights_are_counted)
    demand.assumptions.push_back(fmt::format("weights are counted from the architecture{}{}",
                                             model.weight_type.empty() ? "" : ", as ",
                                             model.weight_type));
  demand.assumptions.push_back(format_sequences(demand, options));
  const bool is_llama = architecture.runtime == Runtime::llama_cpp;
  demand.assumptions.push_back(fmt::format(
      "as {} allocates it; {} tokens at once in 32 bits, {}, {} more for what is not counted",
      is_llama ? "llama.cpp" : "vLLM", tokens,
      options.flash_attention ? "fused attention" : "attention scores stored",
      is_llama ? "4 tenths" : "a tenth"));
  if (demand.ram_weights != 0)
    demand.assumptions.push_back(fmt::format(
        "{} of input embeddings stay in RAM{}", hypomnesis::format_bytes(demand.ram_weights),
        model.weights.output_copy != 0 ? ", and a copy on the GPU is the output" : ""));
  note_windows(demand, architecture);
  append_assumptions(demand, architecture.notes);
  append_assumptions(demand, model.notes);
}

// Refuses what llama.cpp refuses, in src/llama-context.cpp.
std::optional<Failure> check_llama_cpp_options(const Architecture& architecture,
                                               const FitOptions& options) {
  if (!is_cache_type_possible(architecture, options.kv_type))
    return make_usage_error(
        fmt::format("--kv-type \"{0}\": llama.cpp cannot store the keys and "
                    "values of this model in {0}: expected f16",
                    options.kv_type));
  if (!options.flash_attention && find_kv_packing(options.kv_type)->group_size != 0)
    return make_usage_error(
        fmt::format("--kv-type \"{}\" --no-flash-attention: llama.cpp stores values in this type "
                    "with flash attention only",
                    options.kv_type));
  return std::nullopt;
}

}  // namespace

std::optional<packing> find_kv_packing(std::string_view name) noexcept {
  for (const auto& entry : packings)
    if (entry.name == name) return entry.format;
  return std::nullopt;
}

std::string list_kv_types() {
  std::string names;
  for (const auto& entry : packings) names.append(names.empty() ? "" : ", ").append(entry.name);
  return names;
}

bool is_cache_type_possible(const Architecture& architecture, std::string_view name) {
  const auto group = find_kv_packing(name)->group_size;
  const auto is_divided = [group](std::uint64_t size) { return size % group == 0; };
  return name != "f8" && (group == 0 || (!architecture.stores_scores &&
                                         std::all_of(architecture.head_sizes.begin(),
                                                     architecture.head_sizes.end(), is_divided)));
}

std::uint64_t Demand::total() const {
  return saturating_sum(weights, cache.value_or(0), working.value_or(0));
}

Demand move_experts(Demand demand, std::uint64_t layers) {
  layers = std::min<std::uint64_t>(layers, demand.layer_experts.size());
  if (layers == 0) return demand;
  for (std::size_t i = 0; i < layers; ++i) {
    demand.layer_weights[i] -= demand.layer_experts[i];
    demand.ram_weights = saturating_sum(demand.ram_weights, demand.layer_experts[i]);
    demand.layer_experts[i] = 0;
  }
  if (demand.working) demand.working = demand.split_working;
  return demand;
}

Expected<Demand> estimate_demand(const Model& model, const FitOptions& options) {
  Demand demand;
  demand.layer_weights = model.weights.layers;
  demand.outside_weights = model.weights.outside;
  demand.weights = model.weights.total();
  demand.sequences = options.batch.value_or(1);
  demand.layer_caches.resize(demand.layer_weights.size());
  if (!model.architecture) {
    demand.assumptions.push_back(
        "no config.json is next to the weights: KV cache and working "
        "memory are not known");
    demand.precision = Precision::at_least;
    append_assumptions(demand, model.notes);
    return demand;
  }
  const auto& architecture = *model.architecture;
  const auto kv_packing = *find_kv_packing(options.kv_type);
  demand.context = choose_context(architecture, options);
  if (architecture.runtime == Runtime::llama_cpp) {
    if (auto failure = check_llama_cpp_options(architecture, options)) return *failure;
    demand.layer_experts = model.weights.experts;
    demand.ram_weights = model.weights.embeddings;
    demand.outside_weights =
        model.weights.outside - model.weights.embeddings + model.weights.output_copy;
    demand.output_is_first = true;
    demand.context_is_shared = !options.batch && can_share_cache(architecture);
    demand.sequences = options.batch.value_or(default_slots);
  }
  demand.ubatch = std::min(options.ubatch.value_or(default_ubatch(architecture.runtime)),
                           round_up(demand.context, 256));
  std::uint64_t sum = 0;
  const auto layers = list_cached_layers(architecture, options.flash_attention);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& layer = layers[i];
    const auto bytes = estimate_layer_bytes(
        layer, kv_packing, count_cached_tokens(architecture.runtime, layer, demand), demand);
    if (!bytes) return bytes.error();
    if (i < demand.layer_caches.size()) demand.layer_caches[i] = *bytes;
    sum = saturating_sum(sum, *bytes);
  }
  demand.cache = sum;
  const auto all_tokens =
      saturating_product(demand.context, demand.context_is_shared ? 1 : demand.sequences);
  const auto tokens = std::max(std::min(all_tokens, demand.ubatch), demand.sequences);
  if (auto failure = estimate_working_bytes(model, tokens, options.flash_attention, demand))
    return *failure;
  if (demand.total() == saturated_size)
    return estimate_error("the sum", hypomnesis::status_code::overflow);
  note_assumptions(demand, model, options, tokens);
  return demand;
}

}  // namespace hmn::cli::fit
