// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/demand.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/fit/amount.hpp"
#include "cli/fit/storage.hpp"

namespace hmn::cli::fit {
namespace {

using hypomnesis::dtype_id;

failure uncountable(const char* what, hypomnesis::status_code why) {
  return failed(fmt::format("{}: {}: expected less than 2^64 bytes", what, hypomnesis::name(why)));
}

hypomnesis::cache cache_of(const layer& of, const packing& as) {
  hypomnesis::cache made;
  made.dtype = as.dtype;
  made.element_bits = as.element_bits;
  made.group_size = as.group_size;
  made.group_bits = as.group_bits;
  made.layers = 1;
  if (of.cache == cache_kind::latent) {
    made.kind = hypomnesis::cache_kind::latent;
    made.latent_dim = of.key_size;
    return made;
  }
  made.kind = of.cache == cache_kind::window ? hypomnesis::cache_kind::window
                                             : hypomnesis::cache_kind::full;
  made.kv_heads = of.kv_heads;
  made.key_dim = of.key_size;
  made.value_dim = of.value_size;
  made.window = of.window;
  return made;
}

// Keeps states in 32 bits regardless of the type of keys and values.
hypomnesis::cache state_of(const layer& of) {
  hypomnesis::cache made;
  made.kind = hypomnesis::cache_kind::state;
  made.dtype = dtype_id::f32;
  made.layers = 1;
  made.state_elements = of.state_size;
  return made;
}

expected<std::uint64_t> layer_bytes(const layer& of, const packing& as, std::uint64_t context,
                                    std::uint64_t batch) {
  const char* what = "KV cache";
  try {
    std::uint64_t bytes = 0;
    if (of.cache != cache_kind::none)
      bytes = hypomnesis::estimate_cache(cache_of(of, as), context, batch);
    what = "state";
    if (of.state_size != 0)
      bytes = plus(bytes, hypomnesis::estimate_cache(state_of(of), context, batch));
    return bytes;
  } catch (const hypomnesis::error& why) {
    return uncountable(what, why.status());
  }
}

std::uint64_t f32_bytes(std::uint64_t rows, std::uint64_t columns) {
  return hypomnesis::estimate_tensor({rows, columns}, dtype_id::f32);
}

// Returns the size for one layer; layers reuse the same buffers.
std::uint64_t attention_bytes(const architecture& shape, std::uint64_t tokens) {
  std::uint64_t most = 0;
  for (const auto& each : shape.layers) {
    if (each.cache == cache_kind::none || shape.head_count == 0) continue;
    hypomnesis::attention work;
    work.flags = hypomnesis::attention_flag::fused;
    work.dtype = dtype_id::f32;
    work.heads = shape.head_count;
    work.kv_heads = std::min(each.kv_heads, shape.head_count);
    work.sequence = tokens;
    work.head_dim = std::max(each.key_size, each.value_size);
    most = std::max(most, hypomnesis::estimate_attention(work));
  }
  return most;
}

expected<std::uint64_t> working_bytes(const architecture& shape, std::uint64_t tokens) {
  try {
    const auto stream = times(2, f32_bytes(tokens, shape.hidden_size));
    const auto widest = std::max({attention_bytes(shape, tokens),
                                  times(2, f32_bytes(tokens, shape.feed_forward_size)),
                                  f32_bytes(tokens, shape.vocabulary_size)});
    return hypomnesis::estimate_overhead(plus(stream, widest));
  } catch (const hypomnesis::error&) {
    return uncountable("working memory", hypomnesis::status_code::overflow);
  }
}

std::uint64_t context_of(const architecture& shape, const fit_options& asked) {
  if (asked.context) return *asked.context;
  return std::min(shape.context_length.value_or(usual_context), usual_context);
}

void note(demand& made, const model& of, const fit_options& asked, std::uint64_t tokens) {
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
  made.assumptions.push_back(fmt::format(
      "{} tokens at once in 32 bits, fused attention, a tenth more for alignment", tokens));
  made.assumptions.insert(made.assumptions.end(), shape.assumptions.begin(),
                          shape.assumptions.end());
}

}  // namespace

std::uint64_t demand::total() const {
  return plus(weights, cache.value_or(0), working.value_or(0));
}

expected<demand> demand_of(const model& of, const fit_options& asked) {
  demand made;
  made.layer_weights = of.of.layers;
  made.outside_weights = of.of.outside;
  made.weights = of.of.total();
  made.layer_caches.resize(made.layer_weights.size());
  if (!of.shape) {
    made.assumptions.push_back(
        "no config.json is next to the weights: KV cache and working "
        "memory are not known");
    return made;
  }
  const auto kept_as = *kv_packing_of(asked.kv_type);
  made.context = context_of(*of.shape, asked);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < of.shape->layers.size(); ++i) {
    const auto bytes = layer_bytes(of.shape->layers[i], kept_as, made.context, asked.batch);
    if (!bytes) return bytes.why();
    if (i < made.layer_caches.size()) made.layer_caches[i] = *bytes;
    sum = plus(sum, *bytes);
  }
  made.cache = sum;
  const auto tokens =
      std::max(std::min(times(made.context, asked.batch), tokens_at_once), asked.batch);
  const auto working = working_bytes(*of.shape, tokens);
  if (!working) return working.why();
  made.working = *working;
  if (made.total() == too_much) return uncountable("the sum", hypomnesis::status_code::overflow);
  note(made, of, asked, tokens);
  return made;
}

}  // namespace hmn::cli::fit
