// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

// 4 heads of 16, 2 of them with keys and values; 4 layers.
GgufFile keys_of(const std::string& type) {
  GgufFile made;
  made.text("general.architecture", type).whole(type + ".block_count", 4);
  made.whole(type + ".embedding_length", 64).whole(type + ".feed_forward_length", 96);
  made.whole(type + ".context_length", 4096).whole(type + ".attention.head_count", 4);
  made.whole(type + ".vocab_size", 100);
  return made;
}

hmn::cli::Expected<Architecture> read_file_shape(const GgufFile& file) {
  const auto bytes = file.bytes();
  bool needs_more = false;
  const auto parsed = parse_gguf(bytes, bytes.size(), needs_more);
  REQUIRE(parsed);
  return architecture_of(*parsed);
}

Architecture architecture_shape(const GgufFile& file) {
  auto shape = read_file_shape(file);
  if (!shape) FAIL(shape.why().message);
  return *shape;
}

std::string notes_of(const Architecture& of) {
  std::string text;
  for (const auto& each : of.noted.lines) text += each + "\n";
  return text;
}

std::string layer_kinds(const Architecture& of) {
  std::string text;
  for (const auto& each : of.layers) {
    text += "-FWL"[static_cast<int>(each.cache)];
    if (each.state_size != 0) text += 's';
  }
  return text;
}

}  // namespace

TEST_CASE("what keeps nothing of the tokens before is refused") {
  const auto causal = [](std::uint8_t is) {
    return read_file_shape(keys_of("bert").key("bert.attention.causal", 7, raw(is)));
  };
  CHECK(causal(1));
  const auto refused = causal(0);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().message == "key \"bert.attention.causal\" is false: expected a decoder");
}

TEST_CASE("heads of a GGUF file") {
  const auto plain = architecture_shape(keys_of("llama").whole("llama.attention.head_count_kv", 2));
  CHECK(layer_kinds(plain) == "FFFF");
  CHECK(plain.context_length == 4096u);
  CHECK(plain.layers[0].kv_heads == 2);
  CHECK(plain.layers[0].key_size == 16);
  CHECK(plain.layers[0].value_size == 16);
  CHECK(architecture_shape(keys_of("llama")).layers[0].kv_heads ==
        4);  // absent: as many as there are
  const auto own = architecture_shape(keys_of("gemma")
                                          .whole("gemma.attention.key_length", 256)
                                          .whole("gemma.attention.value_length", 128));
  CHECK(own.layers[3].key_size == 256);
  CHECK(own.layers[3].value_size == 128);
  const auto each =
      architecture_shape(keys_of("deci").whole_list("deci.attention.head_count_kv", {2, 0, 1, 4}));
  CHECK(layer_kinds(each) == "F-FF");
  CHECK(each.layers[2].kv_heads == 1);
}

TEST_CASE("windows of a GGUF file") {
  const auto with = [](const std::string& type) {
    return keys_of(type).whole(type + ".attention.sliding_window", 8);
  };
  CHECK(layer_kinds(architecture_shape(with("gemma2"))) == "WFWF");
  CHECK(layer_kinds(architecture_shape(with("cohere2"))) == "WWWF");
  CHECK(layer_kinds(architecture_shape(with("gpt-oss"))) == "WFWF");
  CHECK(architecture_shape(with("gemma2")).layers[0].window == 8);
  const auto other = architecture_shape(with("phi3"));
  CHECK(layer_kinds(other) == "FFFF");
  CHECK(notes_of(other).find("the window of 8 tokens is not used by llama.cpp") !=
        std::string::npos);
  CHECK(other.noted.is == Precision::counted);
  CHECK(layer_kinds(architecture_shape(with("gemma4").whole_list(
            "gemma4.attention.sliding_window_pattern", {1, 1, 0, 1}))) == "WWFW");
  CHECK(layer_kinds(architecture_shape(
            with("new").whole("new.attention.sliding_window_pattern", 2))) == "WFWF");
  CHECK(layer_kinds(architecture_shape(
            with("gemma3n").whole("gemma3n.attention.shared_kv_layers", 3))) == "W---");
}

TEST_CASE("latent caches and states of a GGUF file") {
  auto file = keys_of("deepseek2").whole("deepseek2.attention.kv_lora_rank", 32);
  file.whole("deepseek2.rope.dimension_count", 8).whole("deepseek2.attention.head_count_kv", 1);
  file.whole("deepseek2.attention.key_length", 40).whole("deepseek2.attention.value_length", 32);
  CHECK(layer_kinds(architecture_shape(file)) == "FFFF");  // converted before the key was there
  CHECK(architecture_shape(file).noted.is == Precision::counted);
  file.whole("deepseek2.attention.key_length_mla", 24);
  CHECK(architecture_shape(file).noted.is == Precision::about);  // one of two
  const auto latent = architecture_shape(file.whole("deepseek2.attention.value_length_mla", 16));
  CHECK(layer_kinds(latent) == "LLLL");
  CHECK(latent.layers[0].key_size == 40);

  auto hybrid = keys_of("jamba").whole_list("jamba.attention.head_count_kv", {0, 2, 0, 0});
  hybrid.whole("jamba.ssm.inner_size", 128).whole("jamba.ssm.state_size", 16);
  hybrid.whole("jamba.ssm.conv_kernel", 4);
  const auto shape = architecture_shape(hybrid);
  CHECK(layer_kinds(shape) == "-sF-s-s");
  CHECK(shape.layers[0].state_size == 128 * 16 + 128 * 3);
  hybrid.whole("jamba.ssm.group_count", 2);
  CHECK(architecture_shape(hybrid).layers[0].state_size == 128 * 16 + (128 + 2 * 2 * 16) * 3);
}

TEST_CASE("layers that are recurrent by an interval, or a short convolution") {
  auto file = keys_of("qwen3next").whole("qwen3next.attention.head_count_kv", 2);
  file.whole("qwen3next.ssm.inner_size", 96).whole("qwen3next.ssm.state_size", 8);
  file.whole("qwen3next.ssm.group_count", 3).whole("qwen3next.ssm.conv_kernel", 4);
  const auto shape = architecture_shape(file);
  CHECK(layer_kinds(shape) == "-s-s-sF");
  CHECK(shape.layers[0].state_size == 96 * 8 + (96 + 2 * 3 * 8) * 3);
  CHECK(layer_kinds(architecture_shape(file.whole("qwen3next.full_attention_interval", 2))) ==
        "-sF-sF");
  CHECK(layer_kinds(architecture_shape(
            file.whole_list("qwen3next.attention.recurrent_layers", {1, 0, 0, 1}))) == "-sFF-s");
  auto short_one = keys_of("lfm2").whole_list("lfm2.attention.head_count_kv", {0, 2, 0, 2});
  const auto lfm2 = architecture_shape(short_one.whole("lfm2.shortconv.l_cache", 3));
  CHECK(layer_kinds(lfm2) == "-sF-sF");
  CHECK(lfm2.layers[0].state_size == 64 * 2);
}

TEST_CASE("what keeps what nobody tells is refused, not counted as nothing") {
  for (const auto* type : {"rwkv6", "t5"}) {
    GgufFile file;
    const std::string prefix = type;
    file.text("general.architecture", type).whole(prefix + ".block_count", 2);
    file.whole(prefix + ".embedding_length", 64);
    if (prefix == "t5") file.whole("t5.attention.head_count", 4);
    const auto shape = read_file_shape(file);
    REQUIRE_FALSE(shape);
    CHECK(shape.why().message == "architecture \"" + prefix +
                                     "\": expected a decoder whose layers have attention or an "
                                     "SSM's keys");
  }
}

TEST_CASE("keys that make no sense are refused by name") {
  const auto why = [](const GgufFile& file) {
    const auto shape = read_file_shape(file);
    return shape ? "" : shape.why().message;
  };
  CHECK(why(GgufFile()) == "key \"general.architecture\": expected the name of one");
  CHECK(why(GgufFile().text("general.architecture", "x")) ==
        "key \"x.block_count\" is missing: expected a whole number above 0");
  GgufFile many;
  many.text("general.architecture", "x").whole("x.block_count", 10'001);
  CHECK(why(many) == "key \"x.block_count\" is 10001: expected at most 10000");
  CHECK(why(keys_of("x").whole("x.attention.head_count_kv", 4'000'000'000)) ==
        "key \"x.attention.head_count_kv\" is 4000000000: expected a whole number up to "
        "2147483648");
  GgufFile narrow;
  narrow.text("general.architecture", "x").whole("x.block_count", 1);
  narrow.whole("x.embedding_length", 3).whole("x.attention.head_count", 4);
  for (const auto* name : {"key_length", "value_length"}) {
    const std::string key = "x.attention." + std::string(name);
    CHECK(why(keys_of("x").whole(key, 0)) ==
          "key \"" + key + "\" is 0: expected a whole number above 0");
  }
  CHECK(why(narrow) == "4 heads: expected at most 3, the embedding's length");
}
