// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

TEST_CASE("the layer that a tensor belongs to") {
  for (const auto* name : {"blk.3.attn_q.weight", "model.layers.3.self_attn.q_proj.weight",
                           "transformer.h.3.mlp.c_fc.weight", "backbone.layers.3.mixer.A_log",
                           "model.language_model.layers.3.mlp.experts.17.up_proj.weight",
                           "transformer.blocks.3.ffn.w1", "gpt_neox.layers.3.x"}) {
    INFO(name);
    CHECK(layer_of_tensor(name) == 3u);
  }
  for (const auto* name :
       {"token_embd.weight", "lm_head.weight", "model.norm.weight", "", ".", "layers", "layers.",
        "layers.x.3", "blk.-1.x", "blk.99999999999999999999.x", "experts.3.w",
        "vision_tower.vision_model.encoder.layers.3.mlp.fc1.weight",
        "visual.blocks.3.attn.qkv.weight", "v.blk.3.attn_q.weight",
        "model.audio_tower.layers.3.x"}) {
    INFO(name);
    CHECK_FALSE(layer_of_tensor(name));
  }
}

TEST_CASE("weights by layer, and what is outside of all") {
  const std::vector<Tensor> tensors = {{"token_embd.weight", 100, 200},
                                       {"blk.0.a", 10, 20},
                                       {"blk.1.a", 10, 30},
                                       {"blk.1.b", 1, 2},
                                       {"blk.2.nextn", 5, 7}};
  const auto two = weights_of(tensors, 2);
  CHECK(two.layers == std::vector<std::uint64_t>{20, 32});
  CHECK(two.outside == 207);  // the layer past them too
  CHECK(two.total() == 259);
  CHECK(two.parameters == 126);
  CHECK(weights_of(tensors, 0).layers == std::vector<std::uint64_t>{20, 32, 7});
  CHECK(weights_of({}, 0).total() == 0);
}

TEST_CASE("shares of another sum add up to it") {
  Weights counted;
  counted.layers = {30, 30, 30};
  counted.outside = 10;
  const auto scaled = scaled_to(counted, 1007);
  CHECK(scaled.layers == std::vector<std::uint64_t>{302, 302, 302});
  CHECK(scaled.total() == 1007);
  CHECK(scaled_to({}, 5).total() == 5);
}

namespace {

std::string safetensors_refusal(std::string_view header, std::uint64_t data_bytes = 64) {
  const auto parsed = parse_safetensors(header, data_bytes);
  return parsed ? "" : parsed.why().message;
}

std::string one(std::string_view inside) {
  return "{\"w\":{" + std::string(inside) + "}}";
}

bool safetensors_says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the table of a safetensors file") {
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
                             R"("b":{"dtype":"F4","shape":[5],"data_offsets":[12,15]},)"
                             R"("c":{"dtype":"F32","shape":[],"data_offsets":[15,19]}}   )";
  const Folder in;
  const auto read = read_safetensors(in.add("m.safetensors", safetensors_file(header, 19)));
  REQUIRE(read);
  REQUIRE(read->size() == 3);
  CHECK((*read)[0].name == "a");
  CHECK((*read)[0].elements == 6);
  CHECK((*read)[0].bytes == 12);
  CHECK((*read)[1].bytes == 3);  // 5 times 4 bits
  CHECK((*read)[2].elements == 1);
}

TEST_CASE("a table that cannot be is refused by the tensor's name") {
  CHECK(safetensors_refusal(one(R"("dtype":"F16","shape":[4],"data_offsets":[0,8])")).empty());
  CHECK(safetensors_says(safetensors_refusal(one(R"("shape":[4],"data_offsets":[0,8])")),
                         "tensor \"w\": dtype is missing: expected a text"));
  CHECK(
      safetensors_says(safetensors_refusal(one(R"("dtype":"X9","shape":[4],"data_offsets":[0,8])")),
                       "dtype \"X9\""));
  CHECK(safetensors_says(
      safetensors_refusal(one(R"("dtype":"F16","shape":[-4],"data_offsets":[0,8])")),
      "shape is [-4]: expected whole numbers"));
  CHECK(safetensors_says(
      safetensors_refusal(one(R"("dtype":"F16","shape":4,"data_offsets":[0,8])")), "shape is 4: "));
  CHECK(safetensors_says(
      safetensors_refusal(one(R"("dtype":"F16","shape":[4],"data_offsets":[8,0])")),
      "data_offsets is [8,0]: expected two whole numbers in order"));
  CHECK(
      safetensors_says(safetensors_refusal(one(R"("dtype":"F16","shape":[4],"data_offsets":[0])")),
                       "two whole numbers"));
  CHECK(safetensors_says(
      safetensors_refusal(one(R"("dtype":"F16","shape":[4],"data_offsets":[60,68])")),
      "ends at byte 68 of the weights: expected at most 64"));
  CHECK(safetensors_says(
      safetensors_refusal(one(R"("dtype":"F16","shape":[4],"data_offsets":[0,9])")),
      "has 9 bytes: expected 8"));
  CHECK(safetensors_says(
      safetensors_refusal(
          one(R"("dtype":"F64","shape":[4294967296,4294967296,9],"data_offsets":[0,8])")),
      "has 8 bytes: expected"));
  CHECK(safetensors_says(
      safetensors_refusal(R"({"a":{"dtype":"U8","shape":[64],"data_offsets":[0,64]},)"
                          R"("b":{"dtype":"U8","shape":[64],"data_offsets":[0,64]}})"),
      "tensor \"b\": overlaps"));
  CHECK(safetensors_says(safetensors_refusal("[]"), "expected a JSON object"));
  CHECK(safetensors_says(safetensors_refusal("{\"a\""), "no JSON at line 1, byte"));
  CHECK(safetensors_says(safetensors_refusal(std::string(100, '[')), "nested deeper than 32"));
}

TEST_CASE("a file whose length is a lie is refused") {
  const Folder in;
  const auto refused = [&](const std::string& bytes) {
    const auto read = read_safetensors(in.add("x.safetensors", bytes));
    return read ? "" : read.why().message;
  };
  CHECK(safetensors_says(refused("1234567"), "7 bytes: expected at least 8"));
  CHECK(safetensors_says(refused(raw(std::uint64_t{100'000'001})), "expected at most 100000000"));
  CHECK(
      safetensors_says(refused(raw(~std::uint64_t{0})), "a header of 18446744073709551615 bytes"));
  CHECK(safetensors_says(refused(raw(std::uint64_t{3}) + "{}"),
                         "a header of 3 bytes in a file of 10"));
}

TEST_CASE("an index names tensors, files and their sum") {
  const auto index = parse_safetensors_index(
      R"({"metadata":{"total_size":42},"weight_map":{"b":"2","a":"1","c":"2"}})");
  REQUIRE(index);
  CHECK(index->total_bytes == 42u);
  CHECK(index->tensors.size() == 3);
  CHECK(index->tensors.at("b") == "2");
  CHECK(index->files == std::vector<std::string>{"1", "2"});
  CHECK_FALSE(parse_safetensors_index("{}"));
  CHECK_FALSE(parse_safetensors_index(R"({"weight_map":{"a":1}})"));
  CHECK(
      safetensors_says(parse_safetensors_index(R"({"weight_map":{"a":"1","a":"2"}})").why().message,
                       "tensor \"a\": is there twice"));
  // Nothing outside the folder is opened.
  CHECK(safetensors_says(parse_safetensors_index(R"({"weight_map":{"a":"../b"}})").why().message,
                         "tensor \"a\": expected the name of a file"));
}
