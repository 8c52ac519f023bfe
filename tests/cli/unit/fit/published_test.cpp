// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Published models: each configuration and size as in the model's own repository,
// https://huggingface.co/<name>/blob/main/config.json and model.safetensors.index.json, key
// metadata.total_size, unless another source is named. The cache is worked out by hand.
#include <doctest/doctest.h>

#include "cli/fit/config.hpp"
#include "cli/fit/demand.hpp"
#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

struct PublishedModel {
  const char* name;
  const char* config;
  std::uint64_t bytes;
  std::uint64_t context;
  std::uint64_t cache_bytes;  // as f16
};

const PublishedModel models[] = {
    {"meta-llama/Llama-2-7b-hf",
     R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,
         "max_position_embeddings":4096,"num_attention_heads":32,"num_hidden_layers":32,
         "num_key_value_heads":32,"rope_scaling":null,"tie_word_embeddings":false,
         "torch_dtype":"float16","vocab_size":32000})",
     13'476'839'424, 4096,
     2ull * 32 * 32 * 128 * 2 * 4096},  // keys and values, layers, heads, 4096 / 32, bytes, tokens
    {"meta-llama/Meta-Llama-3-8B",
     R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
         "max_position_embeddings":8192,"num_attention_heads":32,"num_hidden_layers":32,
         "num_key_value_heads":8,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
         "vocab_size":128256})",
     16'060'522'496, 8192, 131'072ull * 8192},  // 2 * 32 * 8 * 128 * 2 of each token: 1 GiB
    {"meta-llama/Meta-Llama-3-70B",
     R"({"model_type":"llama","hidden_size":8192,"intermediate_size":28672,
         "max_position_embeddings":8192,"num_attention_heads":64,"num_hidden_layers":80,
         "num_key_value_heads":8,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
         "vocab_size":128256})",
     141'107'412'992, 8192, 327'680ull * 8192},  // 2 * 80 * 8 * 128 * 2
    // 32 layers of a window of 4096, with 2048 tokens at once: 6143, in blocks of 16 and one more.
    {"mistralai/Mistral-7B-v0.1",
     R"({"model_type":"mistral","hidden_size":4096,"intermediate_size":14336,
         "max_position_embeddings":32768,"num_attention_heads":32,"num_hidden_layers":32,
         "num_key_value_heads":8,"sliding_window":4096,"tie_word_embeddings":false,
         "torch_dtype":"bfloat16","vocab_size":32000})",
     14'483'464'192, 32'000, 131'072ull * 6160},
    {"mistralai/Mixtral-8x7B-v0.1",
     R"({"model_type":"mixtral","hidden_size":4096,"intermediate_size":14336,
         "max_position_embeddings":32768,"num_attention_heads":32,"num_experts_per_tok":2,
         "num_hidden_layers":32,"num_key_value_heads":8,"num_local_experts":8,
         "sliding_window":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
         "vocab_size":32000})",
     93'405'585'408, 32'768, 131'072ull * 32'768},
    // The window is there and not in use.
    {"Qwen/Qwen2-7B",
     R"({"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,
         "max_position_embeddings":131072,"max_window_layers":28,"num_attention_heads":28,
         "num_hidden_layers":28,"num_key_value_heads":4,"sliding_window":131072,
         "tie_word_embeddings":false,"torch_dtype":"bfloat16","use_sliding_window":false,
         "vocab_size":152064})",
     15'231'233'024, 8192, 57'344ull * 8192},  // 2 * 28 * 4 * 128 * 2
    // Each second of 42 layers sees 4096 tokens: 2 * 8 * 256 * 2 bytes for a token in a layer, 21
    // layers with 8192 and 21 with 4095 + 2048 tokens, in blocks of 16 and one more. Input and
    // output share a matrix.
    {"google/gemma-2-9b-it",
     R"({"model_type":"gemma2","head_dim":256,"hidden_size":3584,"intermediate_size":14336,
         "max_position_embeddings":8192,"num_attention_heads":16,"num_hidden_layers":42,
         "num_key_value_heads":8,"sliding_window":4096,"torch_dtype":"bfloat16",
         "vocab_size":256000})",
     18'483'411'968, 8192, 8192ull * 21 * (8192 + 6160)},
    // 61 layers that keep 512 + 64 numbers of each token.
    {"deepseek-ai/DeepSeek-V3",
     R"({"model_type":"deepseek_v3","first_k_dense_replace":3,"hidden_size":7168,
         "intermediate_size":18432,"kv_lora_rank":512,"max_position_embeddings":163840,
         "moe_intermediate_size":2048,"moe_layer_freq":1,"n_routed_experts":256,
         "n_shared_experts":1,"num_attention_heads":128,"num_experts_per_tok":8,
         "num_hidden_layers":61,"num_key_value_heads":128,"num_nextn_predict_layers":1,
         "q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,
         "quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3","quant_method":"fp8",
           "weight_block_size":[128,128]},
         "rope_scaling":{"factor":40,"original_max_position_embeddings":4096,"type":"yarn"},
         "tie_word_embeddings":false,"torch_dtype":"bfloat16","v_head_dim":128,
         "vocab_size":129280})",
     688'586'727'753, 32'768, 61ull * 576 * 2 * 32'768},
    // A window of 2047 in all 32 layers of 32 heads of 96: 4094 tokens, in blocks of 16 and one
    // more.
    {"microsoft/Phi-3-mini-4k-instruct",
     R"({"model_type":"phi3","hidden_size":3072,"intermediate_size":8192,
         "max_position_embeddings":4096,"num_attention_heads":32,"num_hidden_layers":32,
         "num_key_value_heads":32,"original_max_position_embeddings":4096,"rope_scaling":null,
         "sliding_window":2047,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
         "vocab_size":32064})",
     7'642'159'104, 4096, 2ull * 32 * 32 * 96 * 2 * 4112},
    // The first of each two layers sees 128 tokens, 2175 with those at once: 2176 and 16; experts
    // in 4 bits with 8 for each 32 of them.
    {"openai/gpt-oss-20b",
     R"({"model_type":"gpt_oss","attention_bias":true,"head_dim":64,"hidden_size":2880,
         "intermediate_size":2880,"layer_types":["sliding_attention","full_attention",
           "sliding_attention","full_attention","sliding_attention","full_attention",
           "sliding_attention","full_attention","sliding_attention","full_attention",
           "sliding_attention","full_attention","sliding_attention","full_attention",
           "sliding_attention","full_attention","sliding_attention","full_attention",
           "sliding_attention","full_attention","sliding_attention","full_attention",
           "sliding_attention","full_attention"],
         "max_position_embeddings":131072,"num_attention_heads":64,"num_experts_per_tok":4,
         "num_hidden_layers":24,"num_key_value_heads":8,"num_local_experts":32,
         "quantization_config":{"modules_to_not_convert":["lm_head"],"quant_method":"mxfp4"},
         "sliding_window":128,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
         "vocab_size":201088})",
     13'761'264'768, 8192, 2048ull * 12 * (8192 + 2192)},  // 2 * 8 * 64 * 2 of a token in a layer
    {"Qwen/Qwen3-30B-A3B",
     R"({"model_type":"qwen3_moe","decoder_sparse_step":1,"head_dim":128,"hidden_size":2048,
         "intermediate_size":6144,"max_position_embeddings":40960,"max_window_layers":48,
         "mlp_only_layers":[],"moe_intermediate_size":768,"num_attention_heads":32,
         "num_experts":128,"num_experts_per_tok":8,"num_hidden_layers":48,
         "num_key_value_heads":4,"sliding_window":null,"tie_word_embeddings":false,
         "torch_dtype":"bfloat16","use_sliding_window":false,"vocab_size":151936})",
     61'064'245'248, 8192, 98'304ull * 8192},  // 2 * 48 * 4 * 128 * 2
    // Its card: 7.27 billion parameters. Each of 64 layers keeps 8192 * (16 + 3) numbers of 4
    // bytes, however long the sequence.
    {"tiiuae/falcon-mamba-7b",
     R"({"model_type":"falcon_mamba","conv_kernel":4,"expand":16,"hidden_size":4096,
         "intermediate_size":8192,"num_hidden_layers":64,"state_size":16,
         "tie_word_embeddings":false,"time_step_rank":256,"torch_dtype":"bfloat16",
         "vocab_size":65024})",
     2 * 7'270'000'000, 100'000, 64ull * 8192 * 19 * 4},
    // Its card: 52 billion parameters, 51.6 as counted there. 4 layers with attention, 28 with
    // Mamba.
    {"ai21labs/Jamba-v0.1",
     R"({"model_type":"jamba","attn_layer_offset":4,"attn_layer_period":8,
         "expert_layer_offset":1,"expert_layer_period":2,"hidden_size":4096,
         "intermediate_size":14336,"mamba_d_conv":4,"mamba_d_state":16,"mamba_dt_rank":256,
         "mamba_expand":2,"max_position_embeddings":262144,"num_attention_heads":32,
         "num_experts":16,"num_experts_per_tok":2,"num_hidden_layers":32,
         "num_key_value_heads":8,"sliding_window":null,"tie_word_embeddings":false,
         "torch_dtype":"bfloat16","vocab_size":65536})",
     2 * 51'600'000'000, 8192, 4ull * 2 * 8 * 128 * 2 * 8192 + 28ull * 8192 * 19 * 4},
};

Demand estimate_published(const PublishedModel& published, const TempFolder& folder) {
  const auto model = read_model(folder.add("config.json", published.config));
  INFO(published.name);
  if (!model) FAIL(model.error().message);
  hmn::cli::FitOptions options;
  options.context = published.context;
  const auto demand = estimate_demand(*model, options);
  if (!demand) FAIL(demand.error().message);
  return *demand;
}

}  // namespace

TEST_CASE("weights of published models are within one percent, and their caches are exact") {
  const TempFolder folder;
  for (const auto& published : models) {
    INFO(published.name);
    const auto demand = estimate_published(published, folder);
    const auto difference = demand.weights > published.bytes ? demand.weights - published.bytes
                                                             : published.bytes - demand.weights;
    INFO(demand.weights);
    CHECK(difference * 100 <= published.bytes);
    REQUIRE(demand.cache);
    CHECK(*demand.cache == published.cache_bytes);
    CHECK(demand.warnings.empty());
  }
}

TEST_CASE("a published model's architecture leaves nothing to assume") {
  for (const auto& published : models) {
    INFO(published.name);
    const auto config = parse_config(published.config);
    REQUIRE(config);
    CHECK(config->architecture.notes.precision == Precision::counted);
    CHECK(config->storage.notes.lines.empty());
  }
}

// The index alone, as on the Hub: its total counts, not the size computed from the architecture.
TEST_CASE("an index without its files is counted by its total size") {
  const TempFolder folder;
  folder.add("config.json", models[1].config);
  const auto index =
      folder.add("model.safetensors.index.json",
                 R"({"metadata":{"total_size":16060522496},)"
                 R"("weight_map":{"lm_head.weight":"model-00004-of-00004.safetensors"}})");
  for (const auto& path : {index, folder.path()}) {
    const auto model = read_model(path);
    REQUIRE(model);
    CHECK(model->weights.total() == 16'060'522'496);
    REQUIRE(model->weights.layers.size() == 32);
    // 2 * 4096^2 + 2 * 4096 * 1024 of attention, 3 * 4096 * 14336, 2 norms; 2 bytes each
    const auto layer = 2ull * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096);
    CHECK(model->weights.layers[7] >= layer - 32);
    CHECK(model->weights.layers[7] <= layer);
  }
}
