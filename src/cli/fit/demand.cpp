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
  packing as;
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

Failure uncountable(const char* what, hypomnesis::status_code why) {
  return failed(fmt::format("{}: {}: expected less than 2^64 bytes", what, hypomnesis::name(why)));
}

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) noexcept {
  return times(divided_up(value, to), to);
}

// Tokens for which a runtime allocates keys and values of a layer.
struct KeptTokens {
  std::uint64_t cache = 0;
  std::uint64_t extra = 0;  // entries of the second cache
};

// By GGML_PAD(…, 256) in src/llama-context.cpp, src/llama-kv-cache-iswa.cpp and
// src/llama-kv-cache-dsv4.cpp of llama.cpp.
KeptTokens kept_by_llama_cpp(const Layer& of, std::uint64_t context, std::uint64_t ubatch) {
  const auto all = rounded_up(context, 256);
  const auto of_window = rounded_up(std::min(all, plus(of.window, ubatch)), 256);
  return {of.window != 0 ? of_window : all,
          of.extra_every == 1 ? all : rounded_up(divided_up(all, of.extra_every), 256)};
}

// By max_memory_usage_bytes in vllm/v1/kv_cache_interface.py, in blocks of 16 tokens: a window may
// begin inside a block.
KeptTokens kept_by_vllm(const Layer& of, std::uint64_t context, std::uint64_t ubatch) {
  const auto all = rounded_up(context, 16);
  const auto of_window =
      of.is_chunked ? rounded_up(std::min(plus(of.window, ubatch), context), 16)
                    : plus(rounded_up(std::min(plus(of.window - 1, ubatch), context), 16), 16);
  return {of.window != 0 ? of_window : all, divided_up(all, of.extra_every)};
}

KeptTokens kept(const Architecture& shape, const Layer& of, std::uint64_t context,
                std::uint64_t ubatch) {
  return shape.by == Runtime::llama_cpp ? kept_by_llama_cpp(of, context, ubatch)
                                        : kept_by_vllm(of, context, ubatch);
}

hypomnesis::cache cache_as(const packing& as) {
  hypomnesis::cache made;
  made.dtype = as.dtype;
  made.element_bits = as.element_bits;
  made.group_size = as.group_size;
  made.group_bits = as.group_bits;
  made.layers = 1;
  return made;
}

std::uint64_t latent_bytes(std::uint64_t size, const packing& as, std::uint64_t tokens,
                           std::uint64_t batch) {
  auto made = cache_as(as);
  made.kind = hypomnesis::cache_kind::latent;
  made.latent_dim = size;
  return hypomnesis::estimate_cache(made, tokens, batch);
}

std::uint64_t full_bytes(const Layer& of, const packing& as, std::uint64_t tokens,
                         std::uint64_t batch) {
  auto keys = cache_as(as);
  keys.kind = hypomnesis::cache_kind::full;
  keys.kv_heads = of.kv_heads;
  keys.row_dim = of.key_size;
  auto values = keys;
  values.row_dim = of.value_size != 0 ? of.value_size : of.key_size;
  return hypomnesis::estimate_sum({hypomnesis::estimate_cache(keys, tokens, batch),
                                   hypomnesis::estimate_cache(values, tokens, batch)});
}

// Keeps states in 32 bits regardless of the type of keys and values.
std::uint64_t state_bytes(const Layer& of, std::uint64_t batch) {
  hypomnesis::cache made;
  made.kind = hypomnesis::cache_kind::state;
  made.dtype = dtype_id::f32;
  made.layers = 1;
  made.state_elements = of.state_size;
  return hypomnesis::estimate_cache(made, 1, batch);
}

Expected<std::uint64_t> layer_bytes(const Layer& of, const packing& as, const KeptTokens& tokens,
                                    std::uint64_t batch) {
  try {
    std::uint64_t bytes = 0;
    if (of.cache == CacheKind::latent)
      bytes = latent_bytes(of.key_size, as, tokens.cache, batch);
    else if (of.cache != CacheKind::none)
      bytes = full_bytes(of, as, tokens.cache, batch);
    if (of.cache != CacheKind::none && of.extra_size != 0)
      bytes = plus(bytes, latent_bytes(of.extra_size, as, tokens.extra, batch));
    if (of.state_size != 0) bytes = plus(bytes, state_bytes(of, batch));
    return bytes;
  } catch (const hypomnesis::error& why) {
    return uncountable("KV cache", why.status());
  }
}

std::uint64_t f32_bytes(std::uint64_t rows, std::uint64_t columns) {
  return hypomnesis::estimate_tensor({rows, columns}, dtype_id::f32);
}

// Returns the size for one layer; layers reuse the same buffers.
std::uint64_t attention_bytes(const Architecture& shape, std::uint64_t tokens) {
  std::uint64_t most = 0;
  for (const auto& each : shape.layers) {
    if (each.cache == CacheKind::none || shape.head_count == 0) continue;
    hypomnesis::attention work;
    work.flags = hypomnesis::attention_flag::fused;
    work.dtype = dtype_id::f32;
    work.heads = shape.head_count;
    work.kv_heads = std::min(std::max<std::uint64_t>(each.kv_heads, 1), shape.head_count);
    work.sequence = tokens;
    work.head_dim = std::max(each.key_size, each.value_size);
    most = std::max(most, hypomnesis::estimate_attention(work));
  }
  return most;
}

// A layer's buffers, with llama.cpp's mask, or the logits: of all tokens in llama.cpp, of the last
// one of each sequence in vLLM.
Expected<std::uint64_t> working_bytes(const Architecture& shape, std::uint64_t tokens,
                                      std::uint64_t context, std::uint64_t batch) {
  try {
    const auto stream = f32_bytes(tokens, shape.hidden_size);
    const bool is_llama = shape.by == Runtime::llama_cpp;
    const auto mask = is_llama ? times(tokens, context, 2) : 0;  // in 16 bits
    const auto in_layer = plus(times(2, stream), attention_bytes(shape, tokens), mask,
                               f32_bytes(tokens, shape.projected_size),
                               times(2, f32_bytes(tokens, shape.feed_forward_size)));
    const auto rows = is_llama ? tokens : std::min(tokens, batch);
    const auto logits = plus(stream, f32_bytes(rows, shape.vocabulary_size));
    return hypomnesis::estimate_overhead(std::max(in_layer, logits));
  } catch (const hypomnesis::error&) {
    return uncountable("working memory", hypomnesis::status_code::overflow);
  }
}

std::uint64_t context_of(const Architecture& shape, const FitOptions& asked) {
  if (asked.context) return *asked.context;
  return std::min(shape.context_length.value_or(usual_context), usual_context);
}

void note_windows(Demand& made, const Architecture& shape) {
  std::uint64_t window = 0;
  std::size_t count = 0;
  for (const auto& each : shape.layers) {
    if (each.cache == CacheKind::none || each.window == 0) continue;
    window = std::max(window, each.window);
    ++count;
  }
  if (count == 0) return;
  made.assumptions.push_back(fmt::format("{} of {} tokens in {} of {} layers, and {} at once",
                                         shape.layers[0].is_chunked ? "chunks" : "windows", window,
                                         count, shape.layers.size(), made.ubatch));
}

void take(Demand& made, const Notes& noted) {
  made.is = std::max(made.is, noted.is);
  made.assumptions.insert(made.assumptions.end(), noted.lines.begin(), noted.lines.end());
}

void note(Demand& made, const Model& of, const FitOptions& asked, std::uint64_t tokens) {
  const auto& shape = *of.shape;
  if (shape.context_length && made.context > *shape.context_length)
    made.warnings.push_back(fmt::format("--context {}: the model was made for {} tokens at most",
                                        made.context, *shape.context_length));
  if (of.weights_are_counted)
    made.assumptions.push_back(fmt::format("weights are counted from the architecture{}{}",
                                           of.stored.empty() ? "" : ", as ", of.stored));
  made.assumptions.push_back(fmt::format("{} {} of {} tokens, the cache full, kept as {}",
                                         asked.batch, asked.batch == 1 ? "sequence" : "sequences",
                                         made.context, asked.kv_type));
  made.assumptions.push_back(
      fmt::format("as {} allocates it; {} tokens at once in 32 bits, fused attention, a tenth more "
                  "for alignment",
                  shape.by == Runtime::llama_cpp ? "llama.cpp" : "vLLM", tokens));
  note_windows(made, shape);
  take(made, shape.noted);
  take(made, of.noted);
}

}  // namespace

std::optional<packing> kv_packing_of(std::string_view name) noexcept {
  for (const auto& each : packings)
    if (each.name == name) return each.as;
  return std::nullopt;
}

std::string kv_type_names() {
  std::string all;
  for (const auto& each : packings) all.append(all.empty() ? "" : ", ").append(each.name);
  return all;
}

std::uint64_t Demand::total() const {
  return plus(weights, cache.value_or(0), working.value_or(0));
}

Expected<Demand> demand_of(const Model& of, const FitOptions& asked) {
  Demand made;
  made.layer_weights = of.of.layers;
  made.outside_weights = of.of.outside;
  made.weights = of.of.total();
  made.layer_caches.resize(made.layer_weights.size());
  if (!of.shape) {
    made.assumptions.push_back(
        "no config.json is next to the weights: KV cache and working "
        "memory are not known");
    made.is = Precision::at_least;
    take(made, of.noted);
    return made;
  }
  const auto& shape = *of.shape;
  const auto kept_as = *kv_packing_of(asked.kv_type);
  made.context = context_of(shape, asked);
  made.ubatch =
      std::min(asked.ubatch.value_or(usual_ubatch(shape.by)), rounded_up(made.context, 256));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    const auto& each = shape.layers[i];
    const auto bytes =
        layer_bytes(each, kept_as, kept(shape, each, made.context, made.ubatch), asked.batch);
    if (!bytes) return bytes.why();
    if (i < made.layer_caches.size()) made.layer_caches[i] = *bytes;
    sum = plus(sum, *bytes);
  }
  made.cache = sum;
  const auto tokens =
      std::max(std::min(times(made.context, asked.batch), made.ubatch), asked.batch);
  const auto working = working_bytes(shape, tokens, made.context, asked.batch);
  if (!working) return working.why();
  made.working = *working;
  if (made.total() == too_much) return uncountable("the sum", hypomnesis::status_code::overflow);
  note(made, of, asked, tokens);
  return made;
}

}  // namespace hmn::cli::fit
