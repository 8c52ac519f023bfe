// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each key that is read matters: if it is removed, renamed, shortened or doubled, the answer
// changes, or a line reports what is missing. The keys are those of published files, with values
// smaller models.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "cli/fit/config.hpp"
#include "cli/fit/demand.hpp"
#include "cli/fit/gguf.hpp"
#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

struct FileKey {
  std::string name;
  std::vector<std::uint32_t> values;  // a single one is a number unless is_list
  bool is_list = false;
};
using KeyList = std::vector<FileKey>;

FileKey list_key(std::string name, std::vector<std::uint32_t> values) {
  return {std::move(name), std::move(values), true};
}

struct ModelKeys {
  const char* type;
  KeyList keys;
};

const std::vector<std::uint32_t> alternating = {1, 0, 1, 0, 1, 0, 1, 0};

// 8 layers; without the keys that change numbers only.
const ModelKeys gguf_files[] = {
    {"llama4",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {2}},
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"expert_count", {16}},
      {"expert_used_count", {1}},
      {"expert_feed_forward_length", {128}}}},
    {"gemma3",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {2}},
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"attention.sliding_window", {512}}}},
    {"gemma4",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {2, 1, 2, 1, 2, 1, 2, 1}),
      {"attention.key_length", {64}},
      {"attention.value_length", {64}},
      {"attention.key_length_swa", {32}},
      {"attention.value_length_swa", {32}},
      {"attention.sliding_window", {512}},
      list_key("attention.sliding_window_pattern", alternating),
      {"attention.shared_kv_layers", {2}}}},
    {"qwen35moe",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {2}},
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"feed_forward_length", {64}},
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_feed_forward_length", {64}},
      {"ssm.conv_kernel", {4}},
      {"ssm.state_size", {16}},
      {"ssm.group_count", {4}},
      {"ssm.inner_size", {128}},
      {"full_attention_interval", {4}},
      {"nextn_predict_layers", {1}}}},
    {"deepseek2",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {1}},
      {"attention.key_length", {40}},
      {"attention.key_length_mla", {24}},
      {"attention.value_length_mla", {16}},
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_count", {1}}}},
    {"deepseek4",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {64}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {1}},
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"attention.sliding_window", {128}},
      {"attention.indexer.key_length", {16}},
      list_key("attention.compress_ratios", {0, 0, 4, 128, 4, 128, 4, 128}),
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_count", {1}}}},
    {"glm-dsa",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {1}},
      {"attention.key_length", {40}},
      {"attention.key_length_mla", {24}},
      {"attention.value_length_mla", {16}},
      {"attention.indexer.key_length", {16}},
      list_key("attention.indexer.types", {1, 1, 1, 0, 0, 0, 1}),
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_count", {1}},
      {"nextn_predict_layers", {1}}}},
    {"kimi-linear",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {0, 0, 0, 1, 0, 0, 0, 1}),
      {"attention.key_length", {40}},
      {"attention.key_length_mla", {24}},
      {"attention.value_length_mla", {16}},
      {"ssm.conv_kernel", {4}},
      {"kda.head_dim", {16}},
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_count", {1}}}},
    {"nemotron_h_moe",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      list_key("feed_forward_length", {0, 48, 0, 0, 48, 0, 48, 0}),
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {0, 0, 0, 2, 0, 0, 0, 2}),
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"ssm.conv_kernel", {4}},
      {"ssm.state_size", {16}},
      {"ssm.group_count", {4}},
      {"ssm.inner_size", {128}},
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}}}},
    {"falcon-h1",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      {"attention.head_count_kv", {2}},
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"ssm.conv_kernel", {4}},
      {"ssm.state_size", {16}},
      {"ssm.group_count", {1}},
      {"ssm.inner_size", {128}}}},
    {"granitehybrid",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {64}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {0, 0, 0, 2, 0, 0, 0, 2}),
      {"attention.key_length", {32}},
      {"attention.value_length", {32}},
      {"ssm.conv_kernel", {4}},
      {"ssm.state_size", {16}},
      {"ssm.group_count", {1}},
      {"ssm.inner_size", {192}},
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}},
      {"expert_shared_feed_forward_length", {64}}}},
    {"lfm2",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {0, 0, 2, 0, 0, 2, 0, 2}),
      {"shortconv.l_cache", {3}}}},
    {"mimo2",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {1, 2, 2, 2, 2, 1, 2, 1}),
      {"attention.key_length", {48}},
      {"attention.value_length", {32}},
      {"attention.sliding_window", {128}},
      list_key("attention.sliding_window_pattern", {0, 1, 1, 1, 1, 0, 1, 0}),
      {"expert_count", {16}},
      {"expert_used_count", {4}},
      {"expert_feed_forward_length", {64}}}},
    {"jamba",
     {{"block_count", {8}},
      {"context_length", {4096}},
      {"embedding_length", {96}},
      {"feed_forward_length", {256}},
      {"attention.head_count", {4}},
      list_key("attention.head_count_kv", {0, 0, 0, 2, 0, 0, 0, 2}),
      {"ssm.conv_kernel", {4}},
      {"ssm.state_size", {16}},
      {"ssm.inner_size", {192}},
      {"expert_count", {16}},
      {"expert_used_count", {2}},
      {"expert_feed_forward_length", {256}}}},
};

// Formats the numbers of an answer and its assumptions.
std::string format_answer(Architecture shape, std::uint64_t weight_bytes) {
  Model model;
  model.weights.layers.resize(shape.layers.size());
  model.weights.outside = weight_bytes;
  const auto context_length = shape.context_length.value_or(0);
  model.architecture = std::move(shape);
  const auto demand = estimate_demand(model, {});
  if (!demand) return demand.error().message;
  auto text = fmt::format("{} {} {} {} {}", weight_bytes, *demand->cache, *demand->working,
                          demand->layer_caches.size(), context_length);
  for (const auto& assumption : demand->assumptions) text += "\n" + assumption;
  return text;
}

std::string answer_gguf(const char* type, const KeyList& keys) {
  GgufFile file;
  file.add_text("general.architecture", type);
  for (const auto& key : keys) {
    const auto name = std::string(type) + "." + key.name;
    key.is_list ? file.add_numbers(name, key.values) : file.add_number(name, key.values.front());
  }
  file.add_tensor("token_embd.weight", {96, 100}, 0, 96 * 100 * 4);
  const auto bytes = file.bytes();
  bool needs_more = false;
  const auto gguf = parse_gguf(bytes, bytes.size(), needs_more);
  if (!gguf) return gguf.error().message;
  auto shape = read_architecture(*gguf);
  return shape ? format_answer(*std::move(shape), 0) : shape.error().message;
}

// Changes each key in every way and checks that the answer changes.
template <class Answer>
void check_key_changes(const KeyList& keys, const Answer& answer) {
  const auto before = answer(keys);
  INFO(before);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    INFO(keys[i].name);
    auto changed = keys;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    INFO("removed");
    CHECK(answer(changed) != before);
    changed = keys;
    changed[i].name += "_2";
    CHECK_MESSAGE(answer(changed) != before, "renamed");
    changed = keys;
    for (auto& value : changed[i].values) value *= 2;
    CHECK_MESSAGE(answer(changed) != before, "doubled");
    if (!keys[i].is_list) continue;
    changed = keys;
    changed[i].values.pop_back();
    CHECK_MESSAGE(answer(changed) != before, "shortened");
  }
}

// Configurations of 8 layers as transformers writes them; lists of 0 and 1 replace words.
const ModelKeys configurations[] = {
    {"llama4_text",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {64}},
      {"intermediate_size_mlp", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"attention_chunk_size", {512}},
      list_key("no_rope_layers", {1, 1, 1, 0, 1, 1, 1, 0}),
      {"num_local_experts", {16}},
      {"num_experts_per_tok", {1}},
      {"interleave_moe_layer_step", {2}}}},
    {"gemma3_text",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"sliding_window", {512}},
      {"sliding_window_pattern", {4}}}},
    {"qwen3_next",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"num_experts", {16}},
      {"num_experts_per_tok", {4}},
      {"moe_intermediate_size", {64}},
      {"shared_expert_intermediate_size", {64}},
      {"decoder_sparse_step", {2}},
      {"full_attention_interval", {4}},
      {"linear_conv_kernel_dim", {4}},
      {"linear_key_head_dim", {8}},
      {"linear_num_key_heads", {2}},
      {"linear_num_value_heads", {3}},
      {"linear_value_head_dim", {16}}}},
    {"deepseek_v3",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"kv_lora_rank", {32}},
      {"q_lora_rank", {48}},
      {"qk_nope_head_dim", {16}},
      {"qk_rope_head_dim", {8}},
      {"v_head_dim", {16}},
      {"n_routed_experts", {16}},
      {"n_shared_experts", {1}},
      {"num_experts_per_tok", {4}},
      {"moe_intermediate_size", {64}},
      {"first_k_dense_replace", {3}},
      {"num_nextn_predict_layers", {1}}}},
    {"glm_moe_dsa",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"kv_lora_rank", {32}},
      {"q_lora_rank", {48}},
      {"qk_nope_head_dim", {16}},
      {"qk_rope_head_dim", {8}},
      {"v_head_dim", {16}},
      {"n_routed_experts", {16}},
      {"n_shared_experts", {1}},
      {"num_experts_per_tok", {4}},
      {"moe_intermediate_size", {64}},
      {"first_k_dense_replace", {3}},
      {"index_head_dim", {16}}}},
    {"glm4_moe",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"n_routed_experts", {16}},
      {"n_shared_experts", {1}},
      {"num_experts_per_tok", {4}},
      {"moe_intermediate_size", {64}},
      {"first_k_dense_replace", {1}},
      {"num_nextn_predict_layers", {1}}}},
    {"mimo_v2_flash",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {1}},
      {"head_dim", {48}},
      {"v_head_dim", {32}},
      {"swa_num_attention_heads", {3}},
      {"swa_num_key_value_heads", {2}},
      {"swa_head_dim", {40}},
      {"swa_v_head_dim", {24}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"sliding_window", {512}},
      list_key("hybrid_layer_pattern", {0, 1, 1, 1, 1, 0, 1, 0}),
      list_key("moe_layer_freq", {0, 1, 1, 1, 1, 1, 1, 1}),
      {"n_routed_experts", {16}},
      {"num_experts_per_tok", {4}},
      {"moe_intermediate_size", {64}}}},
    {"granitemoehybrid",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {64}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      list_key("attn_layer_indices", {3, 6}),
      {"mamba_n_heads", {8}},
      {"mamba_d_head", {16}},
      {"mamba_d_state", {24}},
      {"mamba_d_conv", {5}},
      {"mamba_n_groups", {2}},
      {"num_local_experts", {16}},
      {"num_experts_per_tok", {4}},
      {"shared_intermediate_size", {64}}}},
    {"falcon_h1",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"mamba_d_ssm", {128}},
      {"mamba_n_heads", {4}},
      {"mamba_d_state", {24}},
      {"mamba_d_conv", {5}},
      {"mamba_n_groups", {2}}}},
    {"jamba",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"attn_layer_period", {3}},
      {"attn_layer_offset", {2}},
      {"expert_layer_period", {2}},
      {"expert_layer_offset", {1}},
      {"mamba_d_conv", {5}},
      {"mamba_d_state", {24}},
      {"mamba_dt_rank", {8}},
      {"mamba_expand", {3}},
      {"num_experts", {16}},
      {"num_experts_per_tok", {4}}}},
    {"lfm2",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {256}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      list_key("full_attn_idxs", {2, 4, 6}),
      {"conv_L_cache", {5}}}},
    {"minimax_m2",
     {{"num_hidden_layers", {8}},
      {"hidden_size", {96}},
      {"intermediate_size", {64}},
      {"num_attention_heads", {4}},
      {"num_key_value_heads", {2}},
      {"head_dim", {32}},
      {"vocab_size", {100}},
      {"max_position_embeddings", {4096}},
      {"num_local_experts", {16}},
      {"num_experts_per_tok", {4}},
      {"num_mtp_modules", {1}}}},
};

std::string answer_config(const char* type, const KeyList& keys) {
  auto text = fmt::format(R"({{"model_type":"{}","torch_dtype":"bfloat16")", type);
  for (const auto& key : keys) {
    std::string values;
    for (const auto value : key.values)
      values += fmt::format("{}{}", values.empty() ? "" : ",", value);
    text += fmt::format(R"(,"{}":{}{}{})", key.name, key.is_list ? "[" : "", values,
                        key.is_list ? "]" : "");
  }
  auto config = parse_config(text + "}");
  if (!config) return config.error().message;
  const auto weights = estimate_weights(*config);
  if (!weights) return weights.error().message;
  return format_answer(std::move(config->architecture), weights->total());
}

}  // namespace

TEST_CASE("each key of a configuration changes the answer or is reported as missing") {
  for (const auto& configuration : configurations) {
    INFO(configuration.type);
    CHECK(answer_config(configuration.type, configuration.keys).find("not understood") ==
          std::string::npos);
    check_key_changes(configuration.keys, [&configuration](const KeyList& keys) {
      return answer_config(configuration.type, keys);
    });
  }
}

TEST_CASE("each key of a GGUF file changes the answer or is reported as missing") {
  for (const auto& file : gguf_files) {
    INFO(file.type);
    CHECK(answer_gguf(file.type, file.keys).find("not understood") == std::string::npos);
    check_key_changes(file.keys,
                      [&file](const KeyList& keys) { return answer_gguf(file.type, keys); });
  }
}

TEST_CASE("an unknown key that may affect the size is reported, a harmless one is not") {
  for (const auto* name : {"attention.new_window", "ssm.new", "expert_new_size", "new_cache"}) {
    auto keys = gguf_files[0].keys;
    keys.push_back({name, {1}});
    CHECK(answer_gguf("llama4", keys)
              .find(std::string("\"llama4.") + name + "\" is not understood") != std::string::npos);
  }
  for (const auto* name : {"attention.layer_norm_rms_epsilon", "rope.freq_base", "logit_scale",
                           "expert_weights_norm", "attention.q_lora_rank"}) {
    auto keys = gguf_files[0].keys;
    const auto before = answer_gguf("llama4", keys);
    keys.push_back({name, {1}});
    CHECK(answer_gguf("llama4", keys) == before);
  }
}
