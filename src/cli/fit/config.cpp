// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fit/amount.hpp"
#include "cli/fit/attention_shape.hpp"
#include "cli/fit/block_plan.hpp"
#include "cli/fit/config_keys.hpp"
#include "cli/fit/json_tree.hpp"
#include "cli/fit/recurrence.hpp"

namespace hmn::cli::fit {
namespace {

// Model types whose parameters are counted after their own code; others are counted as Llama.
constexpr std::string_view known_types[] = {
    "llama",     "mistral",    "mixtral",     "qwen2",       "qwen2_moe",    "qwen3",
    "qwen3_moe", "qwen3_next", "gemma",       "gemma2",      "gemma3_text",  "phi",
    "phi3",      "phimoe",     "deepseek_v2", "deepseek_v3", "gpt_oss",      "gpt2",
    "gpt_neox",  "gptj",       "gpt_bigcode", "falcon",      "bloom",        "mpt",
    "opt",       "starcoder2", "mamba",       "mamba2",      "falcon_mamba", "jamba",
    "bamba",     "nemotron",   "nemotron_h",  "cohere",      "cohere2",      "olmo",
    "olmo2",     "olmoe",      "stablelm",    "granite",     "granitemoe",   "lfm2",
    "smollm3",   "glm4",       "internlm2",   "baichuan",    "yi",           "exaone4",
    "ernie4_5",  "seed_oss",   "llama4_text", "qwen2_vl",    "qwen2_5_vl",   "minicpm",
    "minicpm3",  "qwen",       "dbrx",
};
// Encoders, which process all tokens at once and have no cache.
constexpr std::string_view encoders[] = {
    "bert",    "roberta", "xlm-roberta", "camembert",  "distilbert", "albert",
    "electra", "deberta", "deberta-v2",  "modernbert", "nomic_bert", "mpnet",
};

// Takes the larger value, as the length may already include the extension; an upper bound is safe.
std::uint64_t context_length_of(config_keys& keys) {
  const auto given = keys.whole({"max_position_embeddings", "n_positions", "max_sequence_length",
                                 "max_seq_len", "seq_length", "n_ctx", "model_max_length"});
  const auto* scaling = keys.object({"rope_scaling", "rope_parameters"});
  if (scaling == nullptr) return given;
  const auto* original = scaling->find("original_max_position_embeddings");
  const auto* factor = scaling->find("factor");
  const auto from = original != nullptr ? original->whole().value_or(0) : 0;
  const auto by = factor != nullptr ? factor->number().value_or(1) : 1;
  if (from == 0 || from > 1u << 31 || !(by > 1) || by > 1e6) return given;
  return std::max(given, static_cast<std::uint64_t>(static_cast<double>(from) * by));
}

class config_reader {
 public:
  explicit config_reader(config_keys& keys) : keys_(keys) {}

  expected<model_config> read() {
    if (keys_.truth("is_encoder_decoder").value_or(false))
      keys_.refuse("\"is_encoder_decoder\" is true: expected a model that is a decoder alone");
    if (keys_.is_any_of(encoders) && !keys_.truth("is_decoder").value_or(false))
      keys_.refuse(fmt::format(
          "model type \"{}\" is an encoder: expected a model that is a decoder", keys_.type()));
    made_.shape.type = keys_.type();
    hidden_ = hidden_size_of(keys_);
    shape_ = attention_shape_of(keys_, hidden_);
    const auto blocks = plan_blocks(keys_, made_.shape.assumptions);
    for (const auto& each : blocks) made_.shape.layers.push_back(layer_of(each));
    share_caches();
    sizes();
    if (keys_.wrong().empty()) made_.parameters = count_parameters(keys_, blocks);
    made_.stored = storage_of(keys_);
    note_what_is_unknown();
    if (!keys_.wrong().empty()) return failed(keys_.wrong());
    return std::move(made_);
  }

 private:
  layer layer_of(const block& of) {
    layer made;
    made.state_size = recurrence_of(keys_, of.mix, hidden_).state_size;
    if (of.mix == mixer::latent) {
      made.cache = cache_kind::latent;
      made.key_size = plus(keys_.needed({"kv_lora_rank"}), keys_.needed({"qk_rope_head_dim"}));
    }
    const bool attends =
        of.mix == mixer::attention || of.mix == mixer::window || of.mix == mixer::both;
    if (!attends) return made;
    keys_.needed({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    made.cache = of.window != 0 ? cache_kind::window : cache_kind::full;
    made.kv_heads = shape_.kv_heads;
    made.key_size = shape_.key_size;
    made.value_size = shape_.value_size;
    made.window = of.window;
    return made;
  }

  // Handles Gemma 3n, whose last layers reuse the caches of earlier ones.
  void share_caches() {
    auto& layers = made_.shape.layers;
    const auto shared =
        std::min<std::uint64_t>(keys_.whole({"num_kv_shared_layers"}), layers.size());
    for (std::uint64_t i = 0; i < shared; ++i)
      layers[layers.size() - 1 - i].cache = cache_kind::none;
  }

  void sizes() {
    auto& shape = made_.shape;
    shape.hidden_size = hidden_;
    shape.head_count = shape_.heads;
    const auto experts = expert_shape_of(keys_);
    shape.feed_forward_size = std::max(
        feed_forward_size_of(keys_), plus(times(experts.size, experts.taken), experts.shared_size));
    shape.vocabulary_size = keys_.whole({"vocab_size", "padded_vocab_size"});
    if (const auto context = context_length_of(keys_)) shape.context_length = context;
  }

  void note_what_is_unknown() {
    for (const std::string_view part : {"vision_config", "audio_config", "visual"})
      if (keys_.object({part}) != nullptr)
        made_.stored.assumptions.push_back(fmt::format("\"{}\" is not counted", part));
    if (keys_.is_any_of(known_types)) return;
    made_.shape.assumptions.push_back(
        keys_.type().empty()
            ? "the configuration names no model type: counted as Llama's kin"
            : fmt::format("model type \"{}\" is not known: counted as Llama's kin", keys_.type()));
  }

  config_keys& keys_;
  model_config made_;
  std::uint64_t hidden_ = 0;
  attention_shape shape_;
};

}  // namespace

expected<model_config> parse_config(std::string text) {
  const auto tree = parse_json(std::move(text), {100'000, 16});
  if (!tree) return tree.why();
  if (tree->members() == nullptr) return failed("expected a JSON object");
  config_keys keys(*tree);
  return config_reader(keys).read();
}

}  // namespace hmn::cli::fit
