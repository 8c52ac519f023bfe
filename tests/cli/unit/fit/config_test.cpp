// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

namespace {

// 4 heads of 16, 2 of them with keys and values; 6 layers.
std::string config(const std::string& more) {
  return R"({"hidden_size":64,"intermediate_size":96,"num_hidden_layers":6,)"
         R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,)"
         R"("torch_dtype":"float16",)" +
         more + "}";
}

std::string without_dtype(const std::string& more) {
  auto text = config(more);
  return text.erase(text.find(R"("torch_dtype":"float16",)"), 24);
}

Architecture shape_of(const std::string& more) {
  auto parsed = parse_config(config(more));
  if (!parsed) FAIL(parsed.why().message);
  return parsed->shape;
}

// "F" full, "W" window, "L" latent, "-" none; "s" after it: a state as well.
std::string kinds(const Architecture& of) {
  std::string text;
  for (const auto& each : of.layers) {
    text += "-FWL"[static_cast<int>(each.cache)];
    if (each.state_size != 0) text += 's';
  }
  return text;
}

std::string kinds(const std::string& more) {
  return kinds(shape_of(more));
}

std::string refusal(const std::string& text) {
  const auto parsed = parse_config(text);
  return parsed ? "" : parsed.why().message;
}

bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a window counts where the model has it in use") {
  CHECK(kinds(R"("model_type":"llama")") == "FFFFFF");
  CHECK(kinds(R"("model_type":"mistral","sliding_window":8)") == "WWWWWW");
  CHECK(kinds(R"("model_type":"mistral","sliding_window":null)") == "FFFFFF");
  CHECK(kinds(R"("model_type":"qwen2","sliding_window":8,"use_sliding_window":false)") == "FFFFFF");
  CHECK(kinds(R"("model_type":"qwen2","sliding_window":8)") == "FFFFFF");
  CHECK(kinds(R"("model_type":"qwen2","sliding_window":8,"use_sliding_window":true,)"
              R"("max_window_layers":4)") == "FFFFWW");
  CHECK(kinds(R"("model_type":"gemma2","sliding_window":8)") == "WFWFWF");
  CHECK(kinds(R"("model_type":"gemma3_text","sliding_window":8)") == "WWWWWF");
  CHECK(kinds(R"("model_type":"gemma3_text","sliding_window":8,"sliding_window_pattern":3)") ==
        "WWFWWF");
  CHECK(kinds(R"("model_type":"cohere2","sliding_window":8)") == "WWWFWW");
  const auto other = shape_of(R"("model_type":"llama","sliding_window":8)");
  CHECK(kinds(other) == "FFFFFF");
  REQUIRE(other.noted.lines.size() == 1);
  CHECK(says(other.noted.lines[0], "window of 8 tokens is not counted on"));
}

TEST_CASE("layers by their words") {
  const auto list = [](const std::string& words) {
    return kinds(R"("model_type":"gpt_oss","sliding_window":8,"mamba_n_heads":4,"layer_types":[)" +
                 words + "]");
  };
  CHECK(
      list(R"("sliding_attention","full_attention","mamba","linear_attention","conv","hybrid")") ==
      "WF-s-s-sFs");
  const auto shape =
      shape_of(R"("model_type":"x","layer_types":["new","new","new","new","new","new"])");
  CHECK(kinds(shape) == "FFFFFF");
  REQUIRE(shape.noted.lines.size() == 2);
  CHECK(says(shape.noted.lines[0], "type \"new\" are counted as full attention"));
  CHECK(says(shape.noted.lines[1], "model type \"x\" is not known"));
  const auto unbounded =
      shape_of(R"("model_type":"llama","layer_types":["sliding_attention","sliding_attention",)"
               R"("full_attention","full_attention","full_attention","full_attention"])");
  CHECK(kinds(unbounded) == "FFFFFF");
  REQUIRE(unbounded.noted.lines.size() == 1);
  CHECK(says(unbounded.noted.lines[0], "layers with a window are counted as full attention"));
  CHECK(says(refusal(config(R"("layer_types":["full_attention"])")), "has 1 entries: expected 6"));
  CHECK(says(refusal(config(R"("layer_types":[1,2,3,4,5,6])")),
             "\"layer_types\": 1: expected a text"));
}

TEST_CASE("hybrids by period, index, interval and pattern") {
  CHECK(kinds(R"("model_type":"jamba","attn_layer_period":3,"attn_layer_offset":1)") ==
        "-sF-s-sF-s");
  CHECK(kinds(R"("model_type":"bamba","mamba_n_heads":8,"attn_layer_indices":[0,5])") ==
        "F-s-s-s-sF");
  CHECK(kinds(R"("model_type":"qwen3_next","full_attention_interval":4)") == "-s-s-sF-s-s");
  CHECK(kinds(R"("model_type":"nemotron_h","mamba_num_heads":8,"mamba_head_dim":16,)"
              R"("hybrid_override_pattern":"M-M*-E")") == "-s--sF--");
  CHECK(
      says(refusal(config(R"("hybrid_override_pattern":"MMMMM?")")), "'?': expected M, *, - or E"));
}

TEST_CASE("a state has convolution and heads in it") {
  // Mamba: width 2 * 64, of state 16 and kernel 4
  const auto mamba = shape_of(R"("model_type":"mamba","intermediate_size":128)");
  CHECK(mamba.layers[0].state_size == 128 * (16 + 3));  // the newest of the kernel is not kept
  // Mamba-2: width 8 * 16, of state 32; 2 groups go through the convolution too
  const auto second = shape_of(
      R"("model_type":"bamba","attn_layer_indices":[],"mamba_n_heads":8,"mamba_d_head":16,)"
      R"("mamba_d_state":32,"mamba_n_groups":2,"mamba_d_conv":4)");
  CHECK(second.layers[0].state_size == 128 * 32 + (128 + 2 * 2 * 32) * 3);
  // A matrix of 8 by 12 for each of 6 heads; the convolution of 2 * 3 * 8 + 6 * 12 channels
  const auto delta =
      shape_of(R"("model_type":"qwen3_next","full_attention_interval":4,"linear_num_key_heads":3,)"
               R"("linear_num_value_heads":6,"linear_key_head_dim":8,"linear_value_head_dim":12,)"
               R"("linear_conv_kernel_dim":4)");
  CHECK(delta.layers[0].state_size == 6 * 8 * 12 + (2 * 3 * 8 + 6 * 12) * 3);
}

TEST_CASE("a latent cache is one of each layer") {
  const auto shape =
      shape_of(R"("model_type":"deepseek_v2","kv_lora_rank":32,"qk_rope_head_dim":8)");
  CHECK(kinds(shape) == "LLLLLL");
  CHECK(shape.layers[3].key_size == 40);
  CHECK(says(refusal(config(R"("kv_lora_rank":32)")), "\"qk_rope_head_dim\" is missing: expected"));
}

TEST_CASE("heads as different models have them") {
  const auto kv_heads = [](const std::string& more) {
    const auto parsed =
        parse_config(R"({"n_embd":64,"n_layer":1,"n_head":4,"vocab_size":100,)" + more + "}");
    REQUIRE(parsed);
    return parsed->shape.layers.at(0).kv_heads;
  };
  CHECK(kv_heads(R"("model_type":"gpt2")") == 4);
  CHECK(kv_heads(R"("model_type":"gpt_bigcode","multi_query":true)") == 1);
  CHECK(kv_heads(R"("model_type":"falcon","multi_query":true,"num_kv_heads":4)") == 1);
  CHECK(kv_heads(R"("model_type":"falcon","new_decoder_architecture":true,"num_kv_heads":2)") == 2);
  CHECK(kv_heads(R"("model_type":"chatglm","multi_query_attention":true,)"
                 R"("multi_query_group_num":2)") == 2);
  CHECK(shape_of(R"("model_type":"gemma","head_dim":256)").layers[0].key_size == 256);
  CHECK(shape_of(R"("model_type":"llama")").layers[0].key_size == 16);
  CHECK(kinds(R"("model_type":"gemma3n_text","num_kv_shared_layers":2)") == "FFFF--");
}

TEST_CASE("the language model of one that sees") {
  const auto parsed = parse_config(
      R"({"model_type":"llava","text_config":{"model_type":"llama","vocab_size":32064,
          "max_position_embeddings":4096},"vision_config":{"hidden_size":1024,
          "num_hidden_layers":24}})");
  REQUIRE(parsed);
  CHECK(parsed->shape.type == "llama");
  CHECK(parsed->shape.layers.size() == 32);
  CHECK(parsed->shape.hidden_size == 4096);
  CHECK(parsed->shape.context_length == 4096u);
  // Outside of a text_config the same is not taken for granted.
  CHECK(says(refusal(R"({"model_type":"llama","vocab_size":32064})"),
             "\"hidden_size\" is missing: expected"));
}

TEST_CASE("how long a context a model was made for") {
  const auto context = [](const std::string& more) {
    return shape_of(R"("model_type":"llama",)" + more).context_length;
  };
  CHECK_FALSE(shape_of(R"("model_type":"llama")").context_length);
  CHECK(context(R"("max_position_embeddings":8192)") == 8192u);
  // Neither a window nor a factor of what is extended already changes it.
  CHECK(context(R"("max_position_embeddings":32768,"sliding_window":4096)") == 32768u);
  CHECK(context(R"("max_position_embeddings":131072,"rope_scaling":{"factor":8.0})") == 131072u);
  CHECK(context(R"("max_position_embeddings":131072,"rope_scaling":{"factor":8.0,)"
                R"("original_max_position_embeddings":8192})") == 131072u);
  CHECK(context(R"("max_position_embeddings":32768,"rope_scaling":{"factor":4.0,)"
                R"("original_max_position_embeddings":32768})") == 131072u);
}

TEST_CASE("parameters of one layer, by hand") {
  const auto parsed =
      parse_config(config(R"("model_type":"mixtral","num_local_experts":4,"num_experts_per_tok":2,)"
                          R"("tie_word_embeddings":false)"));
  REQUIRE(parsed);
  const auto& layer = parsed->parameters.layers[0];
  CHECK(layer.matrices == 64 * 64 + 2 * 64 * 32 + 64 * 64);  // queries; keys, values; output
  CHECK(layer.experts == 4 * 3 * 64 * 96);
  CHECK(layer.plain == 2 * 64 + 64 * 4);  // norms, router
  CHECK(parsed->parameters.outside.embeddings == 2 * 100 * 64);
  CHECK(parsed->parameters.outside.plain == 64);
  const auto tied = parse_config(config(R"("model_type":"gemma")"));
  REQUIRE(tied);
  CHECK(tied->parameters.outside.embeddings == 100 * 64);
  CHECK(parsed->shape.feed_forward_size == 2 * 96 + 4);  // and the router
}

TEST_CASE("which layers have experts") {
  const auto experts = [](const std::string& more) {
    const auto parsed = parse_config(config(R"("model_type":"qwen2_moe","num_experts":4,)" + more));
    REQUIRE(parsed);
    std::string text;
    for (const auto& each : parsed->parameters.layers) text += each.experts != 0 ? 'E' : '.';
    return text;
  };
  CHECK(experts(R"("decoder_sparse_step":1)") == "EEEEEE");
  CHECK(experts(R"("decoder_sparse_step":2)") == ".E.E.E");
  CHECK(experts(R"("mlp_only_layers":[0,3])") == ".EE.EE");
  CHECK(experts(R"("first_k_dense_replace":2,"moe_layer_freq":1)") == "..EEEE");
  CHECK(experts(R"("expert_layer_period":2,"expert_layer_offset":1)") == ".E.E.E");
  CHECK(experts(R"("moe_layer_freq":[0,1,1,1,1,1])") == ".EEEEE");
}

TEST_CASE("weights in fewer bits") {
  const auto bytes = [](const std::string& more) {
    const auto parsed = parse_config(config(R"("model_type":"llama",)" + more));
    REQUIRE(parsed);
    const auto each = bytes_of(parsed->parameters.layers[0], parsed->stored);
    REQUIRE(each);
    return *each;
  };
  const std::uint64_t matrices = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 96;  // 30720
  const std::uint64_t norms = 2 * 64 * 2;
  CHECK(bytes(R"("x":0)") == matrices * 2 + norms);
  // A scale of 2 bytes and a zero of 4 bits for each 128
  CHECK(bytes(R"("quantization_config":{"quant_method":"awq","bits":4,"group_size":128})") ==
        matrices / 2 + matrices / 128 * 20 / 8 + norms);
  // 4 bytes for each 128 * 128, the last of them not full
  CHECK(bytes(R"("quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]})") ==
        matrices + 2 * 4 + norms);
  CHECK(bytes(R"("quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true})") ==
        matrices / 2 + matrices / 64 * 4 + norms);
  CHECK(bytes(R"("quantization_config":{"quant_method":"compressed-tensors","config_groups":)"
              R"({"group_0":{"weights":{"num_bits":8}}}})") == matrices + norms);
}

TEST_CASE("ways to quantise, by the bits of a weight") {
  const auto stored = [](const std::string& of) {
    const auto parsed = parse_config(config(R"("model_type":"llama",)" + of));
    REQUIRE(parsed);
    return parsed->stored;
  };
  const auto bits = [&stored](const std::string& of) {
    ParameterCount count;
    count.matrices = 16'000;
    const auto bytes = bytes_of(count, stored(of));
    REQUIRE(bytes);
    return static_cast<double>(*bytes) * 8 / 16'000;
  };
  CHECK(bits(R"("quantization":{"bits":4,"group_size":64})") == doctest::Approx(4.5));
  CHECK(bits(R"("quantization":{"bits":4,"group_size":32,"mode":"mxfp4"})") ==
        doctest::Approx(4.25));
  CHECK(bits(R"("quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4",)"
             R"("group_size":16})") == doctest::Approx(4.5));
  CHECK(bits(R"("quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"})") ==
        doctest::Approx(8));
  CHECK(bits(R"("quantization_config":{"quant_method":"exl2","bits":4.25})") ==
        doctest::Approx(4.25));
  CHECK(bits(R"("quantization_config":{"quant_method":"compressed-tensors","config_groups":)"
             R"({"group_0":{"weights":{"num_bits":4,"type":"float","group_size":16}}}})") ==
        doctest::Approx(4.5));
  // The embedding as well in MLX; the output in ExLlama.
  CHECK(stored(R"("quantization":{"bits":4,"group_size":64})").embeddings.element_bits == 4);
  CHECK(stored(R"("quantization_config":{"quant_method":"exl3","bits":3.0,"head_bits":6})")
            .embeddings.element_bits == 11);
}

TEST_CASE("what a way to quantise leaves out or has in addition is named") {
  const auto is = [](const std::string& of) {
    const auto parsed = parse_config(
        config(R"("model_type":"llama","quantization_config":{"quant_method":"gptq","bits":4,)"
               R"("group_size":128)" +
               of + "}"));
    REQUIRE(parsed);
    return parsed->stored.noted.is;
  };
  CHECK(is("") == Precision::counted);
  CHECK(is(R"(,"desc_act":true,"lm_head":false,"modules_to_not_convert":["lm_head"])") ==
        Precision::counted);
  CHECK(is(R"(,"modules_to_not_convert":["model.layers.0.mlp.up_proj"])") == Precision::at_least);
  CHECK(is(R"(,"lm_head":true)") == Precision::about);
  CHECK(is(R"(,"new":1)") == Precision::about);
  CHECK(is(R"(,"kv_cache_scheme":{"num_bits":8})") == Precision::about);
  const auto zero = parse_config(
      config(R"("quantization_config":{"quant_method":"awq","bits":0,"group_size":128})"));
  REQUIRE(zero);
  CHECK(zero->stored.noted.lines ==
        std::vector<std::string>{R"(quantisation: "bits" is 0: 4 is counted)"});
  CHECK(zero->stored.noted.is == Precision::about);
}

TEST_CASE("parameters that some have beside, by hand") {
  const auto all = [](const std::string& text) {
    const auto parsed = parse_config(text);
    if (!parsed) FAIL(parsed.why().message);
    const auto& of = parsed->parameters;
    std::uint64_t sum = of.outside.all();
    for (const auto& each : of.layers) sum += each.all();
    return sum;
  };
  // Both matrices of width 96 / 2 are given as one of 96; biases of queries, keys and values.
  const auto llama = all(config(R"("model_type":"llama")"));
  const auto qwen = all(config(R"("model_type":"qwen")"));
  CHECK(qwen == llama - 6 * 3 * 64 * 48 + 6 * (4 + 2 * 2) * 16);
  // Values as wide as a head where nothing else is given; input and output are one matrix.
  CHECK(all(R"({"model_type":"minicpm3","hidden_size":64,"num_attention_heads":4,"vocab_size":100,
            "num_hidden_layers":1,"intermediate_size":96,"q_lora_rank":8,"kv_lora_rank":12,
            "qk_nope_head_dim":6,"qk_rope_head_dim":2})") ==
        8 * 64 + 8 * 4 * 8 + 64 * (12 + 2) + 12 * 4 * (6 + 16) + 4 * 16 * 64 +  // attention
            3 * 64 * 96 + 2 * 64 + 12 + 8 + 100 * 64 + 64);
  // An embedding of 8 for each word and layer, and what widens it to 64 and back.
  const std::string gemma = R"("model_type":"gemma3n_text","vocab_size_per_layer_input":90,)";
  CHECK(all(config(gemma + R"("hidden_size_per_layer_input":8)")) ==
        all(config(gemma + R"("hidden_size_per_layer_input":0)")) + 90 * 6 * 8 + 64 * 6 * 8 +
            6 * 2 * 64 * 8);
}

TEST_CASE("what is counted in place of a missing key is named") {
  const auto parsed = [](const std::string& more) {
    auto all = parse_config(R"({"hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,)"
                            R"("vocab_size":100,"torch_dtype":"float16",)" +
                            more + "}");
    if (!all) FAIL(all.why().message);
    return *all;
  };
  const std::string heads = R"("num_key_value_heads" is missing: 4 is counted)";
  const std::string width = R"("intermediate_size" is missing: 256 is counted)";
  using Lines = std::vector<std::string>;
  const auto llama = parsed(R"("model_type":"llama")");
  CHECK(llama.shape.noted.lines == Lines{heads, width});
  CHECK(llama.shape.noted.is == Precision::about);  // that of Llama's models is another one
  CHECK(llama.parameters.layers[0].matrices == 4 * 64 * 64 + 3 * 64 * 256);
  const auto gpt2 = parsed(R"("model_type":"gpt2","n_inner":null)");
  CHECK(gpt2.shape.noted.lines == Lines{heads, width});
  CHECK(gpt2.shape.noted.is == Precision::counted);
  const auto mpt = parsed(R"("model_type":"mpt","expansion_ratio":3,"num_key_value_heads":2)");
  CHECK(mpt.shape.noted.lines.empty());
  CHECK(mpt.parameters.layers[0].matrices == 2 * 64 * 64 + 2 * 64 * 32 + 2 * 64 * 192);
  const auto of_latent = parsed(R"("model_type":"deepseek_v2","kv_lora_rank":32,)"
                                R"("qk_rope_head_dim":8,"intermediate_size":96)");
  CHECK(of_latent.shape.noted.lines.empty());  // it has no such heads
  CHECK(parsed(R"("model_type":"mamba2","num_heads":4,"head_dim":32,"state_size":16,"expand":2,)"
               R"("conv_kernel":4,"n_groups":1)")
            .shape.noted.lines.empty());
}

TEST_CASE("experts of a size that is missing, or is that of a network") {
  const auto lines = [](const std::string& type) {
    return shape_of(R"("num_experts":4,"num_experts_per_tok":2,"model_type":")" + type + '"')
        .noted.lines;
  };
  CHECK(lines("qwen3_moe") ==
        std::vector<std::string>{
            R"("moe_intermediate_size" is missing: 96 of "intermediate_size" is counted)"});
  for (const auto* type : {"mixtral", "olmoe", "granitemoe", "gpt_oss", "phimoe", "minimax_m2"}) {
    INFO(type);
    CHECK(lines(type).empty());
  }
}

TEST_CASE("a size of 0 is refused by its key, where it would count") {
  const std::string zero = ": expected a whole number above 0";
  for (const auto* key : {"num_key_value_heads", "head_dim", "intermediate_size",
                          "swa_num_key_value_heads", "swa_v_head_dim"}) {
    INFO(key);
    auto text = config(R"("model_type":"llama")");
    if (const auto at = text.find(key); at != std::string::npos) text.replace(at, 1, "_");
    text.insert(1, "\"" + std::string(key) + "\":0,");
    CHECK(refusal(text) == "\"" + std::string(key) + "\" is 0" + zero);
  }
  const std::string experts = R"("model_type":"qwen3_moe","num_experts":4,"num_experts_per_tok":)";
  CHECK(refusal(config(experts + R"(2,"moe_intermediate_size":0)")) ==
        "\"moe_intermediate_size\" is 0" + zero);
  CHECK(refusal(config(experts + R"(0,"moe_intermediate_size":8)")) ==
        "\"num_experts_per_tok\" is 0" + zero);
  CHECK(refusal(config(R"("model_type":"granitemoehybrid","num_local_experts":0,)"
                       R"("num_experts_per_tok":0,"moe_intermediate_size":0)"))
            .empty());
  // DeepSeek-OCR has 0 for what it does not use.
  CHECK(shape_of(R"("model_type":"deepseek_v2","kv_lora_rank":null,"v_head_dim":0)")
            .layers[0]
            .value_size == 16);
}

TEST_CASE("embeddings of another width than the layers") {
  const auto all = [](const std::string& more) {
    const auto parsed = parse_config(config(R"("model_type":"opt","ffn_dim":96,)" + more));
    if (!parsed) FAIL(parsed.why().message);
    return parsed->parameters.outside.all();
  };
  const std::uint64_t others = all(R"("word_embed_proj_dim":64)") - 100 * 64;
  // 100 words of 24, and a matrix each before and after the layers
  CHECK(all(R"("word_embed_proj_dim":24)") == others + 100 * 24 + 2 * 24 * 64);
}

TEST_CASE("keys one level deeper") {
  const auto parsed = parse_config(
      R"({"model_type":"dbrx","d_model":64,"n_heads":4,"n_layers":1,"vocab_size":100,
          "attn_config":{"clip_qkv":8,"kv_n_heads":2,"model_type":""},
          "ffn_config":{"ffn_hidden_size":96,"moe_num_experts":4,"moe_top_k":3}})");
  REQUIRE(parsed);
  CHECK(parsed->shape.type == "dbrx");
  CHECK(parsed->shape.layers.at(0).kv_heads == 2);
  CHECK(parsed->parameters.layers[0].experts == 4 * 3 * 64 * 96);
  CHECK(parsed->shape.feed_forward_size == 3 * 96 + 4);
}

TEST_CASE("a number told for each layer, all alike") {
  const auto same = parse_config(
      R"({"hidden_size":64,"intermediate_size":[96,96],"num_hidden_layers":2,"vocab_size":100,
          "num_attention_heads":4,"model_type":"llama"})");
  REQUIRE(same);
  CHECK(same->parameters.layers[1].matrices == 4 * 64 * 64 + 3 * 64 * 96);
  CHECK(says(refusal(config(R"("head_dim":[16,16,8])")), "\"head_dim\" is [16,16,8]: "));
  CHECK(says(refusal(config(R"("head_dim":[])")), "\"head_dim\" is []: "));
  CHECK(shape_of(R"("head_dim":12.0)").layers[0].key_size == 12);
  CHECK(says(refusal(config(R"("head_dim":12.5)")), "\"head_dim\" is 12.5: "));
}

TEST_CASE("a key is told as it stands in the file") {
  CHECK(says(refusal(R"({"n_embd":64,"n_layer":0,"n_head":4,"vocab_size":9})"),
             "\"n_layer\" is 0: "));
  CHECK(says(refusal(R"({"n_embed":64,"n_layer":1,"n_head":"4","vocab_size":9})"),
             "\"n_head\" is \"4\": expected a whole number up to"));
}

TEST_CASE("what holds for counted weights alone is apart") {
  const auto parsed = parse_config(
      without_dtype(R"("model_type":"llama","torch_dtype":"new","vision_config":{"hidden_size":3},)"
                    R"("quantization_config":{"quant_method":"zip"})"));
  REQUIRE(parsed);
  CHECK(parsed->shape.noted.lines.empty());
  CHECK_FALSE(parsed->stored.is_specified);
  REQUIRE(parsed->stored.noted.lines.size() == 3);
  CHECK(says(parsed->stored.noted.lines[0], "bf16: the configuration does not give their type"));
  CHECK(says(parsed->stored.noted.lines[1], "how \"zip\" quantises them is not known"));
  CHECK(says(parsed->stored.noted.lines[2], "\"vision_config\" is not counted"));
}

TEST_CASE("what keeps nothing of the tokens before is refused") {
  const std::string bert = R"("model_type":"bert")";
  CHECK(says(refusal(config(bert)), "\"bert\" is an encoder: expected a model that is a decoder"));
  CHECK(refusal(config(bert + R"(,"is_decoder":true)")).empty());
}

TEST_CASE("a configuration that makes no sense is refused with the key") {
  CHECK(says(refusal("["), "no JSON"));
  CHECK(says(refusal("[]"), "expected a JSON object"));
  CHECK(says(refusal("{}"), "\"hidden_size\" is missing: expected a whole number above 0"));
  CHECK(says(refusal(config(R"("head_dim":-1)")),
             "\"head_dim\" is -1: expected a whole number up to"));
  CHECK(says(refusal(config(R"("head_dim":1e300)")), "\"head_dim\" is 1e300: "));
  CHECK(says(refusal(config(R"("head_dim":99999999999)")), "\"head_dim\" is 99999999999: "));
  CHECK(says(refusal(config(R"("head_dim":true)")), "\"head_dim\" is true: "));
  CHECK(says(refusal(config(R"("head_dim":[1,"two",{"three":[]}])")),
             "\"head_dim\" is [1,\"two\",{\"three\":[]}]: "));
  CHECK(says(refusal(config("\"head_dim\":\"" + std::string(59, 'x') + "\xc3\xa9\"")),
             " is \"" + std::string(59, 'x') + "...: "));
  CHECK(says(refusal(config(R"("hidden_size":0)")), "\"hidden_size\" is 0: "));
  CHECK(says(refusal(config(R"("num_attention_heads":65)")), "65 heads: expected at most 64"));
  CHECK(says(refusal(R"({"hidden_size":64,"num_hidden_layers":10001,"vocab_size":9})"),
             "\"num_hidden_layers\" is 10001: expected at most 10000"));
  CHECK(says(refusal(config(R"("is_encoder_decoder":true)")), "is_encoder_decoder"));
  CHECK(says(refusal(R"({"hidden_size":64,"num_hidden_layers":1,"vocab_size":9})"),
             "\"num_attention_heads\" is missing: expected"));
  // As Python writes them.
  CHECK(
      refusal(config(R"("model_type":"mamba2","num_heads":4,"time_step_limit":[0.0,Infinity,NaN],)"
                     R"("name":"Infinity \" NaN","low":-Infinity)"))
          .empty());
}

TEST_CASE("sizes that pass 64 bits stay too large") {
  const auto parsed = parse_config(
      R"({"model_type":"mixtral","hidden_size":2000000000,"intermediate_size":2000000000,
          "num_hidden_layers":9,"num_attention_heads":4,"vocab_size":2000000000,
          "num_local_experts":2000000000})");
  REQUIRE(parsed);
  CHECK(parsed->parameters.layers[0].experts == ~std::uint64_t{0});
  CHECK_FALSE(bytes_of(parsed->parameters.layers[0], parsed->stored));
}
