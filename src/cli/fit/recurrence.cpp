// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/recurrence.hpp"

#include "cli/fit/amount.hpp"

namespace hmn::cli::fit {
namespace {

// Returns Mamba's inner width. Does not use `expand` if the width is given (it is 16 in
// Falcon-Mamba).
std::uint64_t inner_size(config_keys& keys, std::uint64_t hidden) {
  if (const auto given = keys.whole({"mamba_d_ssm"})) return given;
  const auto heads = keys.whole({"mamba_num_heads", "mamba_n_heads"});
  const auto head = keys.value({"mamba_head_dim", "mamba_d_head"});
  if (heads != 0 && head != nullptr && head->whole()) return times(heads, *head->whole());
  if (keys.is_any_of({"mamba", "falcon_mamba"}))
    if (const auto given = keys.whole({"intermediate_size"})) return given;
  return times(keys.whole({"mamba_expand", "expand"}, 2), hidden);
}

std::uint64_t kernel_size(config_keys& keys) {
  return keys.whole({"mamba_d_conv", "conv_kernel", "conv_kernel_size"}, 4);
}

// Counts Mamba: https://arxiv.org/abs/2312.00752
recurrence mamba(config_keys& keys, std::uint64_t hidden) {
  const auto inner = inner_size(keys, hidden);
  const auto state = keys.whole({"mamba_d_state", "state_size"}, 16);
  const auto kernel = kernel_size(keys);
  const auto* given_rank = keys.value({"mamba_dt_rank", "time_step_rank"});
  const auto rank = given_rank != nullptr ? given_rank->whole().value_or(divided_up(hidden, 16))
                                          : divided_up(hidden, 16);
  recurrence made;
  made.state_size = times(inner, plus(state, kernel));
  made.matrices = plus(times(3, hidden, inner),  // in, of twice the width, and out
                       times(inner, plus(rank, times(2, state))), times(rank, inner));
  made.vectors = times(inner, plus(kernel, state, 3));
  return made;
}

// Counts Mamba-2, whose heads share Mamba's values for each channel:
// https://arxiv.org/abs/2405.21060
recurrence mamba2(config_keys& keys, std::uint64_t heads, std::uint64_t hidden) {
  const auto inner = inner_size(keys, hidden);
  const auto state = keys.whole({"mamba_d_state", "state_size", "ssm_state_size"}, 128);
  const auto kernel = kernel_size(keys);
  const auto shared = times(2, keys.whole({"mamba_n_groups", "n_groups"}, 1), state);
  recurrence made;
  made.state_size = plus(times(inner, state), times(plus(inner, shared), kernel));
  made.matrices = plus(times(hidden, plus(times(2, inner), shared, heads)), times(inner, hidden));
  made.vectors = plus(times(plus(inner, shared), kernel + 1), times(3, heads), inner);
  return made;
}

// Counts the gated delta net of Qwen3-Next; without its keys, linear attention with the common
// heads.
recurrence linear(config_keys& keys, std::uint64_t hidden) {
  const auto heads = keys.whole({"num_attention_heads"}, 1);
  const auto values = keys.whole({"linear_num_value_heads"}, heads);
  const auto head = keys.whole({"head_dim"}, heads == 0 ? 0 : hidden / heads);
  const auto key_size = keys.whole({"linear_key_head_dim"}, head);
  const auto value_size = keys.whole({"linear_value_head_dim"}, head);
  const auto kernel = keys.whole({"linear_conv_kernel_dim"});
  const auto all_keys = times(keys.whole({"linear_num_key_heads"}, heads), key_size);
  const auto all_values = times(values, value_size);
  const auto channels = plus(times(2, all_keys), all_values);
  recurrence made;
  made.state_size = plus(times(values, key_size, value_size), times(channels, kernel));
  made.matrices =
      plus(times(hidden, plus(channels, all_values, times(2, values))), times(all_values, hidden));
  made.vectors = plus(times(channels, kernel), times(2, values), value_size);
  return made;
}

// Counts the gated short convolution of LFM2.
recurrence convolution(config_keys& keys, std::uint64_t hidden) {
  const auto kernel = keys.whole({"conv_L_cache"}, 3);
  return {times(hidden, kernel), times(4, hidden, hidden), times(hidden, kernel)};
}

}  // namespace

recurrence recurrence_of(config_keys& keys, mixer mix, std::uint64_t hidden_size) {
  if (mix == mixer::linear) return linear(keys, hidden_size);
  if (mix == mixer::convolution) return convolution(keys, hidden_size);
  if (mix != mixer::mamba && mix != mixer::both) return {};
  const auto heads = keys.is_any_of({"mamba2"}) ? keys.whole({"num_heads"}, 1)
                                                : keys.whole({"mamba_n_heads", "mamba_num_heads"});
  return heads != 0 ? mamba2(keys, heads, hidden_size) : mamba(keys, hidden_size);
}

}  // namespace hmn::cli::fit
