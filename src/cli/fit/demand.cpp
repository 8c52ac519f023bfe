// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/demand.hpp"

#include <fmt/format.h>
#include <hypomnesis.h>

#include <algorithm>

#include "cli/fit/amount.hpp"
#include "cli/fit/kv_type.hpp"
#include "cli/handles.hpp"
#include "cli/text/size.hpp"

namespace hmn::cli::fit {
namespace {

failure uncountable(const char* what, hmn_status status) {
  return failed(
      fmt::format("{}: {}: expected less than 2^64 bytes", what, hmn_status_name(status)));
}

hmn_cache cache_of(const layer& of, const packing& as) {
  auto made = sized<hmn_cache>();
  made.dtype = as.dtype;
  made.element_bits = as.bits;
  made.group_size = as.group;
  made.group_bits = as.group_bits;
  made.layers = 1;
  if (of.cache == cache_kind::latent) {
    made.kind = HMN_CACHE_LATENT;
    made.latent_dim = of.key_size;
    return made;
  }
  made.kind = of.cache == cache_kind::window ? HMN_CACHE_WINDOW : HMN_CACHE_FULL;
  made.kv_heads = of.kv_heads;
  made.key_dim = of.key_size;
  made.value_dim = of.value_size;
  made.window = of.window;
  return made;
}

// States stay in 32 bits whatever keys and values are kept as.
hmn_cache state_of(const layer& of) {
  auto made = sized<hmn_cache>();
  made.kind = HMN_CACHE_STATE;
  made.dtype = HMN_DTYPE_F32;
  made.layers = 1;
  made.state_elements = of.state_size;
  return made;
}

expected<std::uint64_t> layer_bytes(const layer& of, const packing& as, std::uint64_t context,
                                    std::uint64_t batch) {
  std::uint64_t cache = 0;
  std::uint64_t state = 0;
  if (of.cache != cache_kind::none) {
    const auto kept = cache_of(of, as);
    const auto status = hmn_estimate_cache(&kept, context, batch, &cache, nullptr);
    if (status != HMN_OK) return uncountable("KV cache", status);
  }
  if (of.state_size != 0) {
    const auto kept = state_of(of);
    const auto status = hmn_estimate_cache(&kept, context, batch, &state, nullptr);
    if (status != HMN_OK) return uncountable("state", status);
  }
  return plus(cache, state);
}

std::uint64_t f32_bytes(std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t shape[] = {rows, columns};
  std::uint64_t bytes = 0;
  return hmn_estimate_tensor(shape, 2, HMN_DTYPE_F32, &bytes, nullptr) == HMN_OK ? bytes : too_much;
}

// Of one layer; layers take turns in the same buffers.
std::uint64_t attention_bytes(const architecture& shape, std::uint64_t tokens) {
  std::uint64_t most = 0;
  for (const auto& each : shape.layers) {
    if (each.cache == cache_kind::none || shape.head_count == 0) continue;
    auto work = sized<hmn_attention>();
    work.flags = HMN_ATTENTION_FUSED;
    work.dtype = HMN_DTYPE_F32;
    work.heads = shape.head_count;
    work.kv_heads = std::min(each.kv_heads, shape.head_count);
    work.sequence = tokens;
    work.head_dim = std::max(each.key_size, each.value_size);
    std::uint64_t bytes = 0;
    if (hmn_estimate_attention(&work, &bytes, nullptr) != HMN_OK) return too_much;
    most = std::max(most, bytes);
  }
  return most;
}

expected<std::uint64_t> working_bytes(const architecture& shape, std::uint64_t tokens) {
  const auto stream = times(2, f32_bytes(tokens, shape.hidden_size));
  const auto widest = std::max({attention_bytes(shape, tokens),
                                times(2, f32_bytes(tokens, shape.feed_forward_size)),
                                f32_bytes(tokens, shape.vocabulary_size)});
  const auto sum = plus(stream, widest);
  std::uint64_t bytes = 0;
  const auto status = hmn_estimate_overhead(sum, 0, &bytes, nullptr);
  if (status != HMN_OK || sum == too_much) return uncountable("working memory", HMN_E_OVERFLOW);
  return bytes;
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
        "no config.json lies beside the weights: KV cache and working "
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
  if (made.total() == too_much) return uncountable("the sum", HMN_E_OVERFLOW);
  note(made, of, asked, tokens);
  return made;
}

}  // namespace hmn::cli::fit
