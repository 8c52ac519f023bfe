// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

// 4 heads of 16, 2 of them with keys and values; 4 layers.
GgufFile make_gguf_keys(const std::string& type) {
  GgufFile file;
  file.add_text("general.architecture", type).add_number(type + ".block_count", 4);
  file.add_number(type + ".embedding_length", 64).add_number(type + ".feed_forward_length", 96);
  file.add_number(type + ".context_length", 4096).add_number(type + ".attention.head_count", 4);
  file.add_number(type + ".vocab_size", 100);
  return file;
}

hmn::cli::Expected<Architecture> read_file_shape(const GgufFile& file) {
  const auto bytes = file.bytes();
  bool needs_more = false;
  const auto gguf = parse_gguf(bytes, bytes.size(), needs_more);
  REQUIRE(gguf);
  return read_architecture(*gguf);
}

Architecture read_shape_or_fail(const GgufFile& file) {
  auto shape = read_file_shape(file);
  if (!shape) FAIL(shape.error().message);
  return *shape;
}

std::string join_notes(const Architecture& shape) {
  std::string text;
  for (const auto& line : shape.notes.lines) text += line + "\n";
  return text;
}

std::string format_layer_kinds(const Architecture& shape) {
  std::string text;
  for (const auto& layer : shape.layers) {
    text += "-FWL"[static_cast<int>(layer.cache)];
    if (layer.state_size != 0) text += 's';
  }
  return text;
}

}  // namespace

TEST_CASE("a model that is not causal is refused") {
  const auto read_causal = [](std::uint8_t value) {
    return read_file_shape(
        make_gguf_keys("bert").add_key("bert.attention.causal", 7, raw_bytes(value)));
  };
  CHECK(read_causal(1));
  const auto shape = read_causal(0);
  REQUIRE_FALSE(shape);
  CHECK(shape.error().message == "key \"bert.attention.causal\" is false: expected a decoder");
}

TEST_CASE("head counts and sizes are read from GGUF keys, with defaults") {
  const auto plain =
      read_shape_or_fail(make_gguf_keys("llama").add_number("llama.attention.head_count_kv", 2));
  CHECK(format_layer_kinds(plain) == "FFFF");
  CHECK(plain.context_length == 4096u);
  CHECK(plain.layers[0].kv_heads == 2);
  CHECK(plain.layers[0].key_size == 16);
  CHECK(plain.layers[0].value_size == 16);
  CHECK(read_shape_or_fail(make_gguf_keys("llama")).layers[0].kv_heads ==
        4);  // absent: as many as there are
  const auto own = read_shape_or_fail(make_gguf_keys("gemma")
                                          .add_number("gemma.attention.key_length", 256)
                                          .add_number("gemma.attention.value_length", 128));
  CHECK(own.layers[3].key_size == 256);
  CHECK(own.layers[3].value_size == 128);
  const auto per_layer = read_shape_or_fail(
      make_gguf_keys("deci").add_numbers("deci.attention.head_count_kv", {2, 0, 1, 4}));
  CHECK(format_layer_kinds(per_layer) == "F-FF");
  CHECK(per_layer.layers[2].kv_heads == 1);
}

TEST_CASE("sliding windows of a GGUF file follow the model's pattern") {
  const auto make_windowed = [](const std::string& type) {
    return make_gguf_keys(type).add_number(type + ".attention.sliding_window", 8);
  };
  CHECK(format_layer_kinds(read_shape_or_fail(make_windowed("gemma2"))) == "WFWF");
  CHECK(format_layer_kinds(read_shape_or_fail(make_windowed("cohere2"))) == "WWWF");
  CHECK(format_layer_kinds(read_shape_or_fail(make_windowed("gpt-oss"))) == "WFWF");
  CHECK(read_shape_or_fail(make_windowed("gemma2")).layers[0].window == 8);
  const auto phi3 = read_shape_or_fail(make_windowed("phi3"));
  CHECK(format_layer_kinds(phi3) == "FFFF");
  CHECK(join_notes(phi3).find("the window of 8 tokens is not used by llama.cpp") !=
        std::string::npos);
  CHECK(phi3.notes.precision == Precision::counted);
  CHECK(format_layer_kinds(read_shape_or_fail(make_windowed("gemma4").add_numbers(
            "gemma4.attention.sliding_window_pattern", {1, 1, 0, 1}))) == "WWFW");
  CHECK(format_layer_kinds(read_shape_or_fail(
            make_windowed("new").add_number("new.attention.sliding_window_pattern", 2))) == "WFWF");
  CHECK(format_layer_kinds(read_shape_or_fail(make_windowed("gemma3n").add_number(
            "gemma3n.attention.shared_kv_layers", 3))) == "W---");
}

TEST_CASE("latent caches and recurrent states are read from GGUF keys") {
  auto file = make_gguf_keys("deepseek2").add_number("deepseek2.attention.kv_lora_rank", 32);
  file.add_number("deepseek2.rope.dimension_count", 8)
      .add_number("deepseek2.attention.head_count_kv", 1);
  file.add_number("deepseek2.attention.key_length", 40)
      .add_number("deepseek2.attention.value_length", 32);
  CHECK(format_layer_kinds(read_shape_or_fail(file)) ==
        "FFFF");  // converted before the key was there
  CHECK(read_shape_or_fail(file).notes.precision == Precision::counted);
  file.add_number("deepseek2.attention.key_length_mla", 24);
  CHECK(read_shape_or_fail(file).notes.precision == Precision::about);  // one of two
  const auto latent =
      read_shape_or_fail(file.add_number("deepseek2.attention.value_length_mla", 16));
  CHECK(format_layer_kinds(latent) == "LLLL");
  CHECK(latent.layers[0].key_size == 40);

  auto hybrid = make_gguf_keys("jamba").add_numbers("jamba.attention.head_count_kv", {0, 2, 0, 0});
  hybrid.add_number("jamba.ssm.inner_size", 128).add_number("jamba.ssm.state_size", 16);
  hybrid.add_number("jamba.ssm.conv_kernel", 4);
  const auto shape = read_shape_or_fail(hybrid);
  CHECK(format_layer_kinds(shape) == "-sF-s-s");
  CHECK(shape.layers[0].state_size == 128 * 16 + 128 * 3);
  hybrid.add_number("jamba.ssm.group_count", 2);
  CHECK(read_shape_or_fail(hybrid).layers[0].state_size == 128 * 16 + (128 + 2 * 2 * 16) * 3);
}

TEST_CASE("recurrent layers are found by interval, list or short convolution") {
  auto file = make_gguf_keys("qwen3next").add_number("qwen3next.attention.head_count_kv", 2);
  file.add_number("qwen3next.ssm.inner_size", 96).add_number("qwen3next.ssm.state_size", 8);
  file.add_number("qwen3next.ssm.group_count", 3).add_number("qwen3next.ssm.conv_kernel", 4);
  const auto shape = read_shape_or_fail(file);
  CHECK(format_layer_kinds(shape) == "-s-s-sF");
  CHECK(shape.layers[0].state_size == 96 * 8 + (96 + 2 * 3 * 8) * 3);
  CHECK(format_layer_kinds(read_shape_or_fail(
            file.add_number("qwen3next.full_attention_interval", 2))) == "-sF-sF");
  CHECK(format_layer_kinds(read_shape_or_fail(
            file.add_numbers("qwen3next.attention.recurrent_layers", {1, 0, 0, 1}))) == "-sFF-s");
  auto lfm2_file = make_gguf_keys("lfm2").add_numbers("lfm2.attention.head_count_kv", {0, 2, 0, 2});
  const auto lfm2 = read_shape_or_fail(lfm2_file.add_number("lfm2.shortconv.l_cache", 3));
  CHECK(format_layer_kinds(lfm2) == "-sF-sF");
  CHECK(lfm2.layers[0].state_size == 64 * 2);
}

TEST_CASE("a model whose state size is unknown is refused, not counted as zero") {
  GgufFile file;
  file.add_text("general.architecture", "rwkv6").add_number("rwkv6.block_count", 2);
  const auto shape = read_file_shape(file.add_number("rwkv6.embedding_length", 64));
  REQUIRE_FALSE(shape);
  CHECK(shape.error().message ==
        "architecture \"rwkv6\": expected a decoder whose layers have attention or an SSM's keys");
}

TEST_CASE("a file of predicting layers alone is a draft model with a cache") {
  CHECK(format_layer_kinds(read_shape_or_fail(
            make_gguf_keys("qwen3").add_number("qwen3.nextn_predict_layers", 4))) == "FFFF");
  CHECK(format_layer_kinds(read_shape_or_fail(
            make_gguf_keys("qwen3").add_number("qwen3.nextn_predict_layers", 1))) == "FFF-");
}

TEST_CASE("invalid GGUF keys are refused by name") {
  const auto error_message = [](const GgufFile& file) {
    const auto shape = read_file_shape(file);
    return shape ? "" : shape.error().message;
  };
  CHECK(error_message(GgufFile()) == "key \"general.architecture\": expected the name of one");
  CHECK(error_message(GgufFile().add_text("general.architecture", "x")) ==
        "key \"x.block_count\" is missing: expected a whole number above 0");
  GgufFile many;
  many.add_text("general.architecture", "x").add_number("x.block_count", 10'001);
  CHECK(error_message(many) == "key \"x.block_count\" is 10001: expected at most 10000");
  CHECK(error_message(make_gguf_keys("x").add_number("x.attention.head_count_kv", 4'000'000'000)) ==
        "key \"x.attention.head_count_kv\" is 4000000000: expected a whole number up to "
        "2147483648");
  GgufFile narrow;
  narrow.add_text("general.architecture", "x").add_number("x.block_count", 1);
  narrow.add_number("x.embedding_length", 3).add_number("x.attention.head_count", 4);
  for (const auto* name : {"key_length", "value_length"}) {
    const std::string key = "x.attention." + std::string(name);
    CHECK(error_message(make_gguf_keys("x").add_number(key, 0)) ==
          "key \"" + key + "\" is 0: expected a whole number above 0");
  }
  CHECK(error_message(narrow) == "4 heads: expected at most 3, the embedding's length");
}
