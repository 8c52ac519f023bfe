// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/parameters.hpp"

#include "cli/fit/amount.hpp"
#include "cli/fit/attention_shape.hpp"
#include "cli/fit/recurrence.hpp"

namespace hmn::cli::fit {
namespace {

// Models with two matrices in the network of a layer, without a third as a gate.
constexpr std::string_view without_gate[] = {
    "gpt2", "gpt_neo", "gpt_neox",   "gptj",      "gpt_bigcode", "falcon",   "bloom",     "mpt",
    "opt",  "phi",     "starcoder2", "persimmon", "codegen",     "nemotron", "nemotron_h"};
// Models whose default is one shared matrix for input and output.
constexpr std::string_view tied_by_default[] = {
    "gpt2",    "gpt_bigcode", "falcon",      "bloom",        "mpt",   "opt",
    "gemma",   "gemma2",      "gemma3_text", "gemma3n_text", "mamba", "cohere",
    "cohere2", "starcoder2",  "minicpm",     "minicpm3"};
constexpr std::string_view with_query_biases[] = {
    "qwen2",    "qwen2_moe", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_vl", "qwen2_5_vl", "gpt2",
    "gpt_neox", "opt",       "bloom",         "gpt_bigcode",     "phi",      "starcoder2", "qwen"};

class counter {
 public:
  explicit counter(config_keys& keys)
      : keys_(keys),
        hidden_(hidden_size_of(keys)),
        shape_(attention_shape_of(keys, hidden_)),
        experts_(expert_shape_of(keys)),
        gates_(keys.is_any_of(without_gate) ? 2 : 3) {}

  parameter_count layer(const block& of) {
    parameter_count made;
    made.plain = times(keys_.is_any_of({"gemma2", "gemma3_text"}) ? 4 : 2, hidden_);
    if (of.mix == mixer::latent) latent(made);
    if (of.mix == mixer::attention || of.mix == mixer::window || of.mix == mixer::both)
      attention(made);
    const auto other = recurrence_of(keys_, of.mix, hidden_);
    made.matrices = plus(made.matrices, other.matrices);
    made.plain = plus(made.plain, other.vectors);
    feed(of.feed, made);
    made.matrices = plus(made.matrices, times(2, hidden_, per_layer_size()));
    return made;
  }

  parameter_count outside(const std::vector<block>& blocks) {
    parameter_count made;
    const auto vocabulary = keys_.needed({"vocab_size", "padded_vocab_size"});
    const auto tied = keys_.truth("tie_word_embeddings").value_or(keys_.is_any_of(tied_by_default));
    made.plain = plus(times(tied ? 1 : 2, vocabulary, hidden_), hidden_);
    if (keys_.is_any_of({"gpt2", "gpt_bigcode", "opt"}))
      made.plain =
          plus(made.plain, times(keys_.whole({"n_positions", "max_position_embeddings"}), hidden_));
    const auto rows = keys_.whole({"vocab_size_per_layer_input"}, vocabulary);
    made.plain = plus(made.plain, times(plus(rows, hidden_), blocks.size(), per_layer_size()));
    for (auto more = keys_.whole({"num_nextn_predict_layers"}); more > 0 && more <= 8; --more)
      predictor(blocks.back(), vocabulary, made);
    return made;
  }

 private:
  // Returns the size of Gemma 3n's embedding of each layer, widened by two matrices.
  std::uint64_t per_layer_size() { return keys_.whole({"hidden_size_per_layer_input"}); }

  void attention(parameter_count& to) {
    const auto queries = times(shape_.heads, shape_.key_size);
    const auto rest = times(shape_.kv_heads, plus(shape_.key_size, shape_.value_size));
    const auto gate = keys_.is_any_of({"qwen3_next"}) ? queries : 0;
    to.matrices = plus(to.matrices, times(hidden_, plus(queries, rest, gate)),
                       times(shape_.heads, shape_.value_size, hidden_));
    if (keys_.truth("attention_bias").value_or(keys_.is_any_of(with_query_biases)))
      to.plain = plus(to.plain, queries, rest);
  }

  // Counts DeepSeek-V2's latent attention: https://arxiv.org/abs/2405.04434
  void latent(parameter_count& to) {
    const auto rank = keys_.whole({"kv_lora_rank"});
    const auto rope = keys_.whole({"qk_rope_head_dim"});
    const auto nope = keys_.whole({"qk_nope_head_dim"});
    const auto value = shape_.value_size;
    const auto query_rank = keys_.whole({"q_lora_rank"});
    const auto queries = times(shape_.heads, plus(nope, rope));
    to.matrices =
        plus(to.matrices,
             query_rank == 0 ? times(hidden_, queries) : times(query_rank, plus(hidden_, queries)),
             times(hidden_, plus(rank, rope)), times(rank, shape_.heads, plus(nope, value)));
    to.matrices = plus(to.matrices, times(shape_.heads, value, hidden_));
    to.plain = plus(to.plain, rank, query_rank);
  }

  void feed(forward kind, parameter_count& to) {
    if (kind == forward::dense)
      to.matrices = plus(to.matrices, times(gates_, hidden_, feed_forward_size_of(keys_)));
    if (kind != forward::experts) return;
    to.experts = plus(to.experts, times(gates_, hidden_, experts_.size, experts_.count));
    to.matrices = plus(to.matrices, times(gates_, hidden_, experts_.shared_size));
    to.plain = plus(to.plain, times(hidden_, experts_.count));
  }

  // Counts an additional layer that predicts a token, with copies of embedding and output.
  void predictor(const block& like, std::uint64_t vocabulary, parameter_count& to) {
    const auto more = layer(like);
    to.matrices = plus(to.matrices, more.matrices, times(2, hidden_, hidden_));
    to.experts = plus(to.experts, more.experts);
    to.plain = plus(to.plain, more.plain, times(2, vocabulary, hidden_));
  }

  config_keys& keys_;
  std::uint64_t hidden_;
  attention_shape shape_;
  expert_shape experts_;
  std::uint64_t gates_;
};

}  // namespace

std::uint64_t parameter_count::all() const {
  return plus(matrices, experts, plain);
}

counted_parameters count_parameters(config_keys& keys, const std::vector<block>& blocks) {
  counted_parameters made;
  counter of(keys);
  for (const auto& each : blocks) made.layers.push_back(of.layer(each));
  if (!blocks.empty()) made.outside = of.outside(blocks);
  return made;
}

}  // namespace hmn::cli::fit
