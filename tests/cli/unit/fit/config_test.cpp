// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 4 heads of 16, 2 of them with keys and values; 6 layers.
std::string make_config(const std::string& keys) {
  return R"({"hidden_size":64,"intermediate_size":96,"num_hidden_layers":6,)"
         R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,)"
         R"("torch_dtype":"float16",)" +
         keys + "}";
}

std::string make_config_without_dtype(const std::string& keys) {
  auto text = make_config(keys);
  return text.erase(text.find(R"("torch_dtype":"float16",)"), 24);
}

Architecture parse_shape(const std::string& keys) {
  auto config = parse_config(make_config(keys));
  if (!config) FAIL(config.error().message);
  return config->architecture;
}

// "F" full, "W" window, "L" latent, "-" none; an "s" after it marks a recurrent state.
std::string format_kinds(const Architecture& shape) {
  std::string text;
  for (const auto& layer : shape.layers) {
    text += "-FWL"[static_cast<int>(layer.cache)];
    if (layer.state_size != 0) text += 's';
  }
  return text;
}

std::string format_kinds(const std::string& keys) {
  return format_kinds(parse_shape(keys));
}

std::string config_error(const std::string& text) {
  const auto config = parse_config(text);
  return config ? "" : config.error().message;
}

bool config_text_contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a sliding window counts only in models and layers that use it") {
  CHECK(format_kinds(R"("model_type":"llama")") == "FFFFFF");
  CHECK(format_kinds(R"("model_type":"mistral","sliding_window":8)") == "WWWWWW");
  CHECK(format_kinds(R"("model_type":"mistral","sliding_window":null)") == "FFFFFF");
  CHECK(format_kinds(R"("model_type":"qwen2","sliding_window":8,"use_sliding_window":false)") ==
        "FFFFFF");
  CHECK(format_kinds(R"("model_type":"qwen2","sliding_window":8)") == "FFFFFF");
  CHECK(format_kinds(R"("model_type":"qwen2","sliding_window":8,"use_sliding_window":true,)"
                     R"("max_window_layers":4)") == "FFFFWW");
  CHECK(format_kinds(R"("model_type":"gemma2","sliding_window":8)") == "WFWFWF");
  CHECK(format_kinds(R"("model_type":"gemma3_text","sliding_window":8)") == "WWWWWF");
  CHECK(
      format_kinds(R"("model_type":"gemma3_text","sliding_window":8,"sliding_window_pattern":3)") ==
      "WWFWWF");
  CHECK(format_kinds(R"("model_type":"cohere2","sliding_window":8)") == "WWWFWW");
  const auto llama = parse_shape(R"("model_type":"llama","sliding_window":8)");
  CHECK(format_kinds(llama) == "FFFFFF");
  REQUIRE(llama.notes.lines.size() == 1);
  CHECK(config_text_contains(llama.notes.lines[0], "window of 8 tokens is not counted on"));
}

TEST_CASE("layer_types selects each layer's cache; unknown types count as full attention") {
  const auto parse_layer_types = [](const std::string& words) {
    return format_kinds(
        R"("model_type":"gpt_oss","sliding_window":8,"mamba_n_heads":4,"layer_types":[)" + words +
        "]");
  };
  CHECK(parse_layer_types(
            R"("sliding_attention","full_attention","mamba","linear_attention","conv","hybrid")") ==
        "WF-s-s-sFs");
  const auto shape =
      parse_shape(R"("model_type":"x","layer_types":["new","new","new","new","new","new"])");
  CHECK(format_kinds(shape) == "FFFFFF");
  REQUIRE(shape.notes.lines.size() == 2);
  CHECK(config_text_contains(shape.notes.lines[0], "type \"new\" are counted as full attention"));
  CHECK(config_text_contains(shape.notes.lines[1], "model type \"x\" is not known"));
  const auto unbounded =
      parse_shape(R"("model_type":"llama","layer_types":["sliding_attention","sliding_attention",)"
                  R"("full_attention","full_attention","full_attention","full_attention"])");
  CHECK(format_kinds(unbounded) == "FFFFFF");
  REQUIRE(unbounded.notes.lines.size() == 1);
  CHECK(config_text_contains(unbounded.notes.lines[0],
                             "layers with a window are counted as full attention"));
  const auto period =
      parse_shape(R"("model_type":"gpt_oss","sliding_window":8,)"
                  R"("layer_types":["sliding_attention","sliding_attention","full_attention"])");
  CHECK(format_kinds(period) == "WWFWWF");
  REQUIRE(period.notes.lines.size() == 1);
  CHECK(period.notes.lines[0] == R"("layer_types" has 3 values for 6 layers: they are repeated)");
  CHECK(period.notes.precision == Precision::counted);
  CHECK(config_text_contains(config_error(make_config(R"("layer_types":[1,2,3,4,5,6])")),
                             "\"layer_types\": 1: expected a text"));
}

TEST_CASE("hybrid models select attention layers by period, index, interval or pattern") {
  CHECK(format_kinds(R"("model_type":"jamba","attn_layer_period":3,"attn_layer_offset":1)") ==
        "-sF-s-sF-s");
  CHECK(format_kinds(R"("model_type":"bamba","mamba_n_heads":8,"attn_layer_indices":[0,5])") ==
        "F-s-s-s-sF");
  CHECK(format_kinds(R"("model_type":"qwen3_next","full_attention_interval":4)") == "-s-s-sF-s-s");
  CHECK(format_kinds(R"("model_type":"nemotron_h","mamba_num_heads":8,"mamba_head_dim":16,)"
                     R"("hybrid_override_pattern":"M-M*-E")") == "-s--sF--");
  CHECK(config_text_contains(config_error(make_config(R"("hybrid_override_pattern":"MMMMM?")")),
                             "'?': expected M, *, - or E"));
}

TEST_CASE("a recurrent state includes convolution and heads") {
  // Mamba: width 2 * 64, of state 16 and kernel 4
  const auto mamba = parse_shape(R"("model_type":"mamba","intermediate_size":128)");
  CHECK(mamba.layers[0].state_size == 128 * (16 + 3));  // the newest of the kernel is not kept
  // Mamba-2: width 8 * 16, of state 32; 2 groups go through the convolution too
  const auto mamba2 = parse_shape(
      R"("model_type":"bamba","attn_layer_indices":[],"mamba_n_heads":8,"mamba_d_head":16,)"
      R"("mamba_d_state":32,"mamba_n_groups":2,"mamba_d_conv":4)");
  CHECK(mamba2.layers[0].state_size == 128 * 32 + (128 + 2 * 2 * 32) * 3);
  // A matrix of 8 by 12 for each of 6 heads; the convolution of 2 * 3 * 8 + 6 * 12 channels
  const auto delta = parse_shape(
      R"("model_type":"qwen3_next","full_attention_interval":4,"linear_num_key_heads":3,)"
      R"("linear_num_value_heads":6,"linear_key_head_dim":8,"linear_value_head_dim":12,)"
      R"("linear_conv_kernel_dim":4)");
  CHECK(delta.layers[0].state_size == 6 * 8 * 12 + (2 * 3 * 8 + 6 * 12) * 3);
}

TEST_CASE("a latent attention model has a latent cache in every layer") {
  const auto shape =
      parse_shape(R"("model_type":"deepseek_v2","kv_lora_rank":32,"qk_rope_head_dim":8)");
  CHECK(format_kinds(shape) == "LLLLLL");
  CHECK(shape.layers[3].key_size == 40);
  CHECK(config_text_contains(config_error(make_config(R"("kv_lora_rank":32)")),
                             "\"qk_rope_head_dim\" is missing: expected"));
}

TEST_CASE("KV head count and head size follow each model's own keys") {
  const auto parse_kv_heads = [](const std::string& keys) {
    const auto config =
        parse_config(R"({"n_embd":64,"n_layer":1,"n_head":4,"vocab_size":100,)" + keys + "}");
    REQUIRE(config);
    return config->architecture.layers.at(0).kv_heads;
  };
  CHECK(parse_kv_heads(R"("model_type":"gpt2")") == 4);
  CHECK(parse_kv_heads(R"("model_type":"gpt_bigcode","multi_query":true)") == 1);
  CHECK(parse_kv_heads(R"("model_type":"falcon","multi_query":true,"num_kv_heads":4)") == 1);
  CHECK(parse_kv_heads(
            R"("model_type":"falcon","new_decoder_architecture":true,"num_kv_heads":2)") == 2);
  CHECK(parse_kv_heads(R"("model_type":"chatglm","multi_query_attention":true,)"
                       R"("multi_query_group_num":2)") == 2);
  CHECK(parse_shape(R"("model_type":"gemma","head_dim":256)").layers[0].key_size == 256);
  CHECK(parse_shape(R"("model_type":"llama")").layers[0].key_size == 16);
  CHECK(format_kinds(R"("model_type":"gemma3n_text","num_kv_shared_layers":2)") == "FFFF--");
}

TEST_CASE("a vision-language model is described by its text_config") {
  const auto config = parse_config(
      R"({"model_type":"llava","text_config":{"model_type":"llama","vocab_size":32064,
          "max_position_embeddings":4096},"vision_config":{"hidden_size":1024,
          "num_hidden_layers":24}})");
  REQUIRE(config);
  CHECK(config->architecture.type == "llama");
  CHECK(config->architecture.layers.size() == 32);
  CHECK(config->architecture.hidden_size == 4096);
  CHECK(config->architecture.context_length == 4096u);
  // Outside of a text_config there are no such defaults.
  CHECK(config_text_contains(config_error(R"({"model_type":"llama","vocab_size":32064})"),
                             "\"hidden_size\" is missing: expected"));
}

TEST_CASE("context length is max_position_embeddings, extended by rope scaling") {
  const auto parse_context_length = [](const std::string& keys) {
    return parse_shape(R"("model_type":"llama",)" + keys).context_length;
  };
  CHECK_FALSE(parse_shape(R"("model_type":"llama")").context_length);
  CHECK(parse_context_length(R"("max_position_embeddings":8192)") == 8192u);
  // Neither a window nor a factor that the length already includes changes it.
  CHECK(parse_context_length(R"("max_position_embeddings":32768,"sliding_window":4096)") == 32768u);
  CHECK(parse_context_length(R"("max_position_embeddings":131072,"rope_scaling":{"factor":8.0})") ==
        131072u);
  CHECK(parse_context_length(R"("max_position_embeddings":131072,"rope_scaling":{"factor":8.0,)"
                             R"("original_max_position_embeddings":8192})") == 131072u);
  CHECK(parse_context_length(R"("max_position_embeddings":32768,"rope_scaling":{"factor":4.0,)"
                             R"("original_max_position_embeddings":32768})") == 131072u);
}

TEST_CASE("parameter counts of one layer match a hand calculation") {
  const auto config = parse_config(
      make_config(R"("model_type":"mixtral","num_local_experts":4,"num_experts_per_tok":2,)"
                  R"("tie_word_embeddings":false)"));
  REQUIRE(config);
  const auto& layer = config->parameters.layers[0];
  CHECK(layer.matrices == 64 * 64 + 2 * 64 * 32 + 64 * 64);  // queries; keys, values; output
  CHECK(layer.experts == 4 * 3 * 64 * 96);
  CHECK(layer.plain == 2 * 64 + 64 * 4);  // norms, router
  CHECK(config->parameters.outside.embeddings == 2 * 100 * 64);
  CHECK(config->parameters.outside.plain == 64);
  const auto tied = parse_config(make_config(R"("model_type":"gemma")"));
  REQUIRE(tied);
  CHECK(tied->parameters.outside.embeddings == 100 * 64);
  CHECK(config->architecture.feed_forward_size == 2 * 96 + 4);  // and the router
}

TEST_CASE("expert layers are selected by step, list, offset or frequency") {
  const auto find_expert_layers = [](const std::string& keys) {
    const auto config =
        parse_config(make_config(R"("model_type":"qwen2_moe","num_experts":4,)" + keys));
    REQUIRE(config);
    std::string text;
    for (const auto& layer : config->parameters.layers) text += layer.experts != 0 ? 'E' : '.';
    return text;
  };
  CHECK(find_expert_layers(R"("decoder_sparse_step":1)") == "EEEEEE");
  CHECK(find_expert_layers(R"("decoder_sparse_step":2)") == ".E.E.E");
  CHECK(find_expert_layers(R"("mlp_only_layers":[0,3])") == ".EE.EE");
  CHECK(find_expert_layers(R"("first_k_dense_replace":2,"moe_layer_freq":1)") == "..EEEE");
  CHECK(find_expert_layers(R"("expert_layer_period":2,"expert_layer_offset":1)") == ".E.E.E");
  CHECK(find_expert_layers(R"("moe_layer_freq":[0,1,1,1,1,1])") == ".EEEEE");
}

TEST_CASE("quantised weights are counted with their scales and zero points") {
  const auto layer_bytes = [](const std::string& keys) {
    const auto config = parse_config(make_config(R"("model_type":"llama",)" + keys));
    REQUIRE(config);
    const auto size = estimate_bytes(config->parameters.layers[0], config->storage);
    REQUIRE(size);
    return *size;
  };
  const std::uint64_t matrices = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 96;  // 30720
  const std::uint64_t norms = 2 * 64 * 2;
  CHECK(layer_bytes(R"("x":0)") == matrices * 2 + norms);
  // A scale of 2 bytes and a zero of 4 bits for each 128
  CHECK(layer_bytes(R"("quantization_config":{"quant_method":"awq","bits":4,"group_size":128})") ==
        matrices / 2 + matrices / 128 * 20 / 8 + norms);
  // 4 bytes for each 128 * 128, the last of them not full
  CHECK(layer_bytes(
            R"("quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]})") ==
        matrices + 2 * 4 + norms);
  CHECK(
      layer_bytes(R"("quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true})") ==
      matrices / 2 + matrices / 64 * 4 + norms);
  CHECK(layer_bytes(R"("quantization_config":{"quant_method":"compressed-tensors","config_groups":)"
                    R"({"group_0":{"weights":{"num_bits":8}}}})") == matrices + norms);
}

TEST_CASE("each quantisation method gives the expected bits per weight") {
  const auto parse_storage = [](const std::string& keys) {
    const auto config = parse_config(make_config(R"("model_type":"llama",)" + keys));
    REQUIRE(config);
    return config->storage;
  };
  const auto bits_per_weight = [&parse_storage](const std::string& keys) {
    ParameterCount count;
    count.matrices = 16'000;
    const auto bytes = estimate_bytes(count, parse_storage(keys));
    REQUIRE(bytes);
    return static_cast<double>(*bytes) * 8 / 16'000;
  };
  CHECK(bits_per_weight(R"("quantization":{"bits":4,"group_size":64})") == doctest::Approx(4.5));
  CHECK(bits_per_weight(R"("quantization":{"bits":4,"group_size":32,"mode":"mxfp4"})") ==
        doctest::Approx(4.25));
  CHECK(bits_per_weight(R"("quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4",)"
                        R"("group_size":16})") == doctest::Approx(4.5));
  CHECK(
      bits_per_weight(R"("quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"})") ==
      doctest::Approx(8));
  CHECK(bits_per_weight(R"("quantization_config":{"quant_method":"exl2","bits":4.25})") ==
        doctest::Approx(4.25));
  CHECK(bits_per_weight(
            R"("quantization_config":{"quant_method":"compressed-tensors","config_groups":)"
            R"({"group_0":{"weights":{"num_bits":4,"type":"float","group_size":16}}}})") ==
        doctest::Approx(4.5));
  // MLX quantises the embedding too, ExLlama the output.
  CHECK(parse_storage(R"("quantization":{"bits":4,"group_size":64})").embeddings.element_bits == 4);
  CHECK(parse_storage(R"("quantization_config":{"quant_method":"exl3","bits":3.0,"head_bits":6})")
            .embeddings.element_bits == 11);
}

TEST_CASE("quantisation settings that change the size make it approximate or a lower bound") {
  const auto parse_precision = [](const std::string& keys) {
    const auto config = parse_config(
        make_config(R"("model_type":"llama","quantization_config":{"quant_method":"gptq","bits":4,)"
                    R"("group_size":128)" +
                    keys + "}"));
    REQUIRE(config);
    return config->storage.notes.precision;
  };
  CHECK(parse_precision("") == Precision::counted);
  CHECK(
      parse_precision(R"(,"desc_act":true,"lm_head":false,"modules_to_not_convert":["lm_head"])") ==
      Precision::counted);
  CHECK(parse_precision(R"(,"modules_to_not_convert":["model.layers.0.mlp.up_proj"])") ==
        Precision::at_least);
  CHECK(parse_precision(R"(,"lm_head":true)") == Precision::about);
  CHECK(parse_precision(R"(,"new":1)") == Precision::about);
  CHECK(parse_precision(R"(,"kv_cache_scheme":{"num_bits":8})") == Precision::about);
  const auto zero = parse_config(
      make_config(R"("quantization_config":{"quant_method":"awq","bits":0,"group_size":128})"));
  REQUIRE(zero);
  CHECK(zero->storage.notes.lines ==
        std::vector<std::string>{R"(quantisation: "bits" is 0: 4 is counted)"});
  CHECK(zero->storage.notes.precision == Precision::about);
}

TEST_CASE("additional parameters of some models match a hand calculation") {
  const auto count_parameters = [](const std::string& text) {
    const auto config = parse_config(text);
    if (!config) FAIL(config.error().message);
    const auto& parameters = config->parameters;
    std::uint64_t sum = parameters.outside.total();
    for (const auto& layer : parameters.layers) sum += layer.total();
    return sum;
  };
  // 96 is the width of two matrices of 48; queries, keys and values have biases.
  const auto llama = count_parameters(make_config(R"("model_type":"llama")"));
  const auto qwen = count_parameters(make_config(R"("model_type":"qwen")"));
  CHECK(qwen == llama - 6 * 3 * 64 * 48 + 6 * (4 + 2 * 2) * 16);
  // Values default to the width of a head; input and output share a matrix.
  CHECK(count_parameters(
            R"({"model_type":"minicpm3","hidden_size":64,"num_attention_heads":4,"vocab_size":100,
            "num_hidden_layers":1,"intermediate_size":96,"q_lora_rank":8,"kv_lora_rank":12,
            "qk_nope_head_dim":6,"qk_rope_head_dim":2})") ==
        8 * 64 + 8 * 4 * 8 + 64 * (12 + 2) + 12 * 4 * (6 + 16) + 4 * 16 * 64 +  // attention
            3 * 64 * 96 + 2 * 64 + 12 + 8 + 100 * 64 + 64);
  // An embedding of 8 for each word and layer, and the projections to 64 and back.
  const std::string gemma = R"("model_type":"gemma3n_text","vocab_size_per_layer_input":90,)";
  CHECK(count_parameters(make_config(gemma + R"("hidden_size_per_layer_input":8)")) ==
        count_parameters(make_config(gemma + R"("hidden_size_per_layer_input":0)")) + 90 * 6 * 8 +
            64 * 6 * 8 + 6 * 2 * 64 * 8);
}

TEST_CASE("a value assumed for a missing key is reported") {
  const auto parse_keys = [](const std::string& keys) {
    auto config = parse_config(R"({"hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,)"
                               R"("vocab_size":100,"torch_dtype":"float16",)" +
                               keys + "}");
    if (!config) FAIL(config.error().message);
    return *config;
  };
  const std::string heads_note = R"("num_key_value_heads" is missing: 4 is counted)";
  const std::string width_note = R"("intermediate_size" is missing: 256 is counted)";
  using Lines = std::vector<std::string>;
  const auto llama = parse_keys(R"("model_type":"llama")");
  CHECK(llama.architecture.notes.lines == Lines{heads_note, width_note});
  CHECK(llama.architecture.notes.precision ==
        Precision::about);  // Llama's models have another width
  CHECK(llama.parameters.layers[0].matrices == 4 * 64 * 64 + 3 * 64 * 256);
  const auto gpt2 = parse_keys(R"("model_type":"gpt2","n_inner":null)");
  const std::string tied_note =
      R"("tie_word_embeddings" is missing: one matrix for input and output is counted)";
  CHECK(gpt2.architecture.notes.lines == Lines{heads_note, width_note, tied_note});
  CHECK(gpt2.architecture.notes.precision == Precision::counted);
  const auto mpt = parse_keys(R"("model_type":"mpt","expansion_ratio":3,"num_key_value_heads":2)");
  CHECK(mpt.architecture.notes.lines == Lines{tied_note});
  CHECK(mpt.parameters.layers[0].matrices == 2 * 64 * 64 + 2 * 64 * 32 + 2 * 64 * 192);
  const auto latent = parse_keys(R"("model_type":"deepseek_v2","kv_lora_rank":32,)"
                                 R"("qk_rope_head_dim":8,"intermediate_size":96)");
  CHECK(latent.architecture.notes.lines.empty());  // it has no such heads
  CHECK(
      parse_keys(R"("model_type":"mamba2","num_heads":4,"head_dim":32,"state_size":16,"expand":2,)"
                 R"("conv_kernel":4,"n_groups":1)")
          .architecture.notes.lines.empty());
}

TEST_CASE("a missing expert size is reported unless intermediate_size is the expert size") {
  const auto expert_notes = [](const std::string& type) {
    return parse_shape(R"("num_experts":4,"num_experts_per_tok":2,"model_type":")" + type + '"')
        .notes.lines;
  };
  CHECK(expert_notes("qwen3_moe") ==
        std::vector<std::string>{
            R"("moe_intermediate_size" is missing: 96 of "intermediate_size" is counted)"});
  for (const auto* type : {"mixtral", "olmoe", "granitemoe", "gpt_oss", "phimoe", "minimax_m2"}) {
    INFO(type);
    CHECK(expert_notes(type).empty());
  }
}

TEST_CASE("a size of 0 is refused by key name where it would count") {
  const std::string expected = ": expected a whole number above 0";
  for (const auto* key : {"num_key_value_heads", "head_dim", "intermediate_size",
                          "swa_num_key_value_heads", "swa_v_head_dim"}) {
    INFO(key);
    auto text = make_config(R"("model_type":"llama")");
    if (const auto position = text.find(key); position != std::string::npos)
      text.replace(position, 1, "_");
    text.insert(1, "\"" + std::string(key) + "\":0,");
    CHECK(config_error(text) == "\"" + std::string(key) + "\" is 0" + expected);
  }
  const std::string expert_keys =
      R"("model_type":"qwen3_moe","num_experts":4,"num_experts_per_tok":)";
  CHECK(config_error(make_config(expert_keys + R"(2,"moe_intermediate_size":0)")) ==
        "\"moe_intermediate_size\" is 0" + expected);
  CHECK(config_error(make_config(expert_keys + R"(0,"moe_intermediate_size":8)")) ==
        "\"num_experts_per_tok\" is 0" + expected);
  CHECK(config_error(make_config(R"("model_type":"granitemoehybrid","num_local_experts":0,)"
                                 R"("num_experts_per_tok":0,"moe_intermediate_size":0)"))
            .empty());
  // DeepSeek-OCR sets unused sizes to 0.
  CHECK(parse_shape(R"("model_type":"deepseek_v2","kv_lora_rank":null,"v_head_dim":0)")
            .layers[0]
            .value_size == 16);
}

TEST_CASE("embeddings of another width than the layers are counted with their projections") {
  const auto count_outside = [](const std::string& keys) {
    const auto config = parse_config(make_config(R"("model_type":"opt","ffn_dim":96,)" + keys));
    if (!config) FAIL(config.error().message);
    return config->parameters.outside.total();
  };
  const std::uint64_t remaining = count_outside(R"("word_embed_proj_dim":64)") - 100 * 64;
  // 100 words of 24, and a matrix each before and after the layers
  CHECK(count_outside(R"("word_embed_proj_dim":24)") == remaining + 100 * 24 + 2 * 24 * 64);
}

TEST_CASE("keys nested in attn_config and ffn_config are read") {
  const auto config = parse_config(
      R"({"model_type":"dbrx","d_model":64,"n_heads":4,"n_layers":1,"vocab_size":100,
          "attn_config":{"clip_qkv":8,"kv_n_heads":2,"model_type":""},
          "ffn_config":{"ffn_hidden_size":96,"moe_num_experts":4,"moe_top_k":3}})");
  REQUIRE(config);
  CHECK(config->architecture.type == "dbrx");
  CHECK(config->architecture.layers.at(0).kv_heads == 2);
  CHECK(config->parameters.layers[0].experts == 4 * 3 * 64 * 96);
  CHECK(config->architecture.feed_forward_size == 3 * 96 + 4);
}

TEST_CASE("a list of numbers per layer is accepted if all are equal") {
  const auto config = parse_config(
      R"({"hidden_size":64,"intermediate_size":[96,96],"num_hidden_layers":2,"vocab_size":100,
          "num_attention_heads":4,"model_type":"llama"})");
  REQUIRE(config);
  CHECK(config->parameters.layers[1].matrices == 4 * 64 * 64 + 3 * 64 * 96);
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":[16,16,8])")),
                             "\"head_dim\" is [16,16,8]: "));
  CHECK(
      config_text_contains(config_error(make_config(R"("head_dim":[])")), "\"head_dim\" is []: "));
  CHECK(parse_shape(R"("head_dim":12.0)").layers[0].key_size == 12);
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":12.5)")),
                             "\"head_dim\" is 12.5: "));
}

TEST_CASE("errors name a key as it is spelled in the file") {
  CHECK(config_text_contains(config_error(R"({"n_embd":64,"n_layer":0,"n_head":4,"vocab_size":9})"),
                             "\"n_layer\" is 0: "));
  CHECK(config_text_contains(
      config_error(R"({"n_embed":64,"n_layer":1,"n_head":"4","vocab_size":9})"),
      "\"n_head\" is \"4\": expected a whole number up to"));
}

TEST_CASE("notes about counted weights are kept apart from notes about the shape") {
  const auto config = parse_config(make_config_without_dtype(
      R"("model_type":"llama","torch_dtype":"new","vision_config":{"hidden_size":3},)"
      R"("quantization_config":{"quant_method":"zip"})"));
  REQUIRE(config);
  CHECK(config->architecture.notes.lines.empty());
  CHECK_FALSE(config->storage.is_specified);
  REQUIRE(config->storage.notes.lines.size() == 3);
  CHECK(config_text_contains(config->storage.notes.lines[0],
                             "bf16: the configuration does not give their type"));
  CHECK(config_text_contains(config->storage.notes.lines[1],
                             "how \"zip\" quantises them is not known"));
  CHECK(config_text_contains(config->storage.notes.lines[2], "\"vision_config\" is not counted"));
}

TEST_CASE("a model that is not a decoder is refused") {
  const std::string bert = R"("model_type":"bert")";
  CHECK(config_text_contains(config_error(make_config(bert)),
                             "\"bert\" is an encoder: expected a model that is a decoder"));
  CHECK(config_error(make_config(bert + R"(,"is_decoder":true)")).empty());
}

TEST_CASE("a model that writes no text token by token is refused with the reason") {
  const std::pair<const char*, const char*> models[] = {
      {R"("model_type":"rwkv6")", "a recurrent model that vLLM does not run"},
      {R"("model_type":"mt5")", "an encoder and a decoder"},
      {R"("model_type":"llada")", "a diffusion model"},
      {R"("model_type":"siglip")", "an image model: no language layers"},
      {R"("model_type":"whisper")", "an audio model"},
      {R"("_class_name":"Transformer2DModel")", "\"_class_name\" belongs to a diffusion model"},
      {R"("model_type":"new","decoder_layers":6,"encoder_layers":6)", "an encoder and a decoder"},
      {R"("model_type":"new","attention_hidden_size":64)", "a recurrent model"},
      {R"("model_type":"new","architectures":["NewForMaskedLM"])",
       "\"architectures\" is NewForMaskedLM"},
  };
  for (const auto& [keys, reason] : models) {
    INFO(keys);
    CHECK(config_text_contains(config_error(make_config(keys)), reason));
  }
}

TEST_CASE("windows are read from a pattern of letters or flags, and from a period") {
  const auto format_pattern = [](const std::string& pattern) {
    return format_kinds(R"("model_type":"exaone4","sliding_window":8,"sliding_window_pattern":)" +
                        pattern);
  };
  CHECK(format_pattern(R"("LLG")") == "WWFWWF");
  CHECK(format_pattern("[1,0,1]") == "WFWWFW");
  CHECK(format_pattern("[true,true,false]") == "WWFWWF");
  CHECK(format_pattern("2") == "WFWFWF");
  CHECK(config_text_contains(
      config_error(make_config(R"("sliding_window":8,"sliding_window_pattern":"LLX")")),
      "\"LLX\""));
  // SmolLM3: layers without rotation have no window.
  CHECK(format_kinds(R"("model_type":"smollm3","no_rope_layers":[1,1,1,0,1,1])") == "FFFFFF");
}

TEST_CASE("a layer of a list with moe or mlp has a single function") {
  const auto config = make_config(
      R"("model_type":"nemotron_h","mamba_num_heads":4,"mamba_head_dim":32,"ssm_state_size":16,)"
      R"("conv_kernel":4,"n_groups":1,"n_routed_experts":4,"num_experts_per_tok":2,)"
      R"("moe_intermediate_size":32,)"
      R"("layers_block_type":["mamba","moe","attention","mlp","mamba","moe"])");
  const auto parsed = parse_config(config);
  REQUIRE(parsed);
  const auto& layers = parsed->parameters.layers;
  CHECK(layers[0].experts == 0);
  CHECK(layers[1].experts == 2 * 64 * 32 * 4);
  CHECK(layers[1].matrices == 0);
  CHECK(layers[2].experts == 0);
  CHECK(parsed->architecture.layers[1].cache == CacheKind::none);
  CHECK(parsed->architecture.layers[1].state_size == 0);
}

TEST_CASE("LFM2 adjusts the size of its networks") {
  const auto count = [](const std::string& keys) {
    const auto config = parse_config(make_config(
        R"("model_type":"lfm2","conv_L_cache":3,"full_attn_idxs":[0,1,2,3,4,5],)" + keys));
    if (!config) FAIL(config.error().message);
    return config->parameters.layers[0].matrices;
  };
  const auto same = count(R"("block_ff_dim":768,"block_auto_adjust_ff_dim":false)");
  // 2 * 768 / 3 = 512, a multiple of 256: 256 less in three matrices of 64.
  CHECK(same - count(R"("block_ff_dim":768,"block_auto_adjust_ff_dim":true)") == 3 * 64 * 256);
  CHECK(same - count(R"("block_ff_dim":768,"block_auto_adjust_ff_dim":true,)"
                     R"("block_multiple_of":300,"block_ffn_dim_multiplier":1.1)") ==
        3 * 64 * (768 - 600));
}

TEST_CASE("predicting layers have embeddings only where a configuration or DeepSeek says so") {
  const auto count = [](const std::string& keys) {
    const auto config = parse_config(make_config(keys));
    if (!config) FAIL(config.error().message);
    return config->parameters.outside.embeddings;
  };
  const auto none = count(R"("model_type":"qwen3_next")");
  CHECK(count(R"("model_type":"qwen3_next","mtp_num_hidden_layers":1)") == none);
  CHECK(count(R"("model_type":"qwen3_next","mtp_num_hidden_layers":1,)"
              R"("mtp_use_dedicated_embeddings":true)") > none);
  CHECK(count(R"("model_type":"minimax_m2","num_mtp_modules":3)") == none);
  CHECK(count(R"("model_type":"glm4_moe","num_nextn_predict_layers":1)") > none);
}

TEST_CASE("a key that is in no list is named") {
  const auto shape = parse_shape(R"("model_type":"llama","unheard_of":3)");
  REQUIRE(shape.notes.lines.size() == 1);
  CHECK(shape.notes.lines[0] == R"(keys that are not known, and not used: "unheard_of")");
  CHECK(shape.notes.precision == Precision::counted);
}

TEST_CASE("an invalid configuration is refused with the offending key") {
  CHECK(config_text_contains(config_error("["), "no JSON"));
  CHECK(config_text_contains(config_error("[]"), "expected a JSON object"));
  CHECK(config_text_contains(config_error("{}"),
                             "\"hidden_size\" is missing: expected a whole number above 0"));
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":-1)")),
                             "\"head_dim\" is -1: expected a whole number up to"));
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":1e300)")),
                             "\"head_dim\" is 1e300: "));
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":99999999999)")),
                             "\"head_dim\" is 99999999999: "));
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":true)")),
                             "\"head_dim\" is true: "));
  CHECK(config_text_contains(config_error(make_config(R"("head_dim":[1,"two",{"three":[]}])")),
                             "\"head_dim\" is [1,\"two\",{\"three\":[]}]: "));
  CHECK(config_text_contains(
      config_error(make_config("\"head_dim\":\"" + std::string(59, 'x') + "\xc3\xa9\"")),
      " is \"" + std::string(59, 'x') + "...: "));
  CHECK(config_text_contains(config_error(make_config(R"("hidden_size":0)")),
                             "\"hidden_size\" is 0: "));
  CHECK(config_text_contains(config_error(make_config(R"("num_attention_heads":65)")),
                             "65 heads: expected at most 64"));
  CHECK(config_text_contains(
      config_error(R"({"hidden_size":64,"num_hidden_layers":10001,"vocab_size":9})"),
      "\"num_hidden_layers\" is 10001: expected at most 10000"));
  CHECK(config_text_contains(config_error(make_config(R"("is_encoder_decoder":true)")),
                             "is_encoder_decoder"));
  CHECK(config_text_contains(
      config_error(R"({"hidden_size":64,"num_hidden_layers":1,"vocab_size":9})"),
      "\"num_attention_heads\" is missing: expected"));
  // Infinity and NaN as Python writes them.
  CHECK(
      config_error(
          make_config(R"("model_type":"mamba2","num_heads":4,"time_step_limit":[0.0,Infinity,NaN],)"
                      R"("name":"Infinity \" NaN","low":-Infinity)"))
          .empty());
}

TEST_CASE("a parameter count beyond 64 bits saturates and has no byte size") {
  const auto config = parse_config(
      R"({"model_type":"mixtral","hidden_size":2000000000,"intermediate_size":2000000000,
          "num_hidden_layers":9,"num_attention_heads":4,"vocab_size":2000000000,
          "num_local_experts":2000000000})");
  REQUIRE(config);
  CHECK(config->parameters.layers[0].experts == ~std::uint64_t{0});
  CHECK_FALSE(estimate_bytes(config->parameters.layers[0], config->storage));
}
