// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/attention_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fit/amount.hpp"

namespace hmn::cli::fit {
namespace {

std::uint64_t kv_heads_of(config_keys& keys, std::uint64_t heads) {
  if (const auto given =
          keys.find({"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads"}))
    if (!(keys.is_any_of({"falcon"}) && !keys.truth("new_decoder_architecture").value_or(false)))
      return *given;
  if (keys.truth("multi_query_attention").value_or(false))
    return keys.whole({"multi_query_group_num"}, 1);
  return keys.truth("multi_query").value_or(false) ? 1 : heads;
}

}  // namespace

attention_shape attention_shape_of(config_keys& keys, std::uint64_t hidden_size) {
  attention_shape made;
  made.heads = keys.whole({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  if (made.heads == 0) return made;
  made.kv_heads = kv_heads_of(keys, made.heads);
  made.key_size =
      keys.whole({"head_dim", "kv_channels", "attention_head_dim"}, hidden_size / made.heads);
  if (made.key_size == 0)
    keys.refuse(
        fmt::format("{} heads: expected at most {}, the hidden size", made.heads, hidden_size));
  made.value_size = keys.whole({"v_head_dim"}, made.key_size);
  return made;
}

std::uint64_t hidden_size_of(config_keys& keys) {
  return keys.needed({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
}

std::uint64_t feed_forward_size_of(config_keys& keys) {
  const auto given = keys.whole({"intermediate_size_mlp", "intermediate_size", "ffn_hidden_size",
                                 "n_inner", "ffn_dim", "d_ff", "hidden_dim"},
                                times(4, hidden_size_of(keys)));
  return keys.is_any_of({"qwen"}) ? given / 2 : given;  // its key covers both matrices
}

expert_shape expert_shape_of(config_keys& keys) {
  expert_shape made;
  made.count =
      keys.whole({"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"});
  if (made.count <= 1) return {};
  made.size = keys.whole({"moe_intermediate_size", "intermediate_size", "ffn_hidden_size"});
  made.taken = std::min(made.count, keys.whole({"num_experts_per_tok", "num_experts_per_token",
                                                "moe_topk", "moe_top_k", "experts_per_token"},
                                               2));
  made.shared_size =
      keys.whole({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                  "shared_intermediate_size"},
                 times(keys.whole({"n_shared_experts", "num_shared_experts", "num_shared_expert"}),
                       made.size));
  if (keys.type().starts_with("llama4")) made.shared_size = made.size;
  return made;
}

}  // namespace hmn::cli::fit
