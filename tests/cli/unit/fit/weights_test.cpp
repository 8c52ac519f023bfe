// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

TEST_CASE("a tensor's layer is read from its name") {
  for (const auto* name : {"blk.3.attn_q.weight", "model.layers.3.self_attn.q_proj.weight",
                           "transformer.h.3.mlp.c_fc.weight", "backbone.layers.3.mixer.A_log",
                           "model.language_model.layers.3.mlp.experts.17.up_proj.weight",
                           "transformer.blocks.3.ffn.w1", "gpt_neox.layers.3.x"}) {
    INFO(name);
    CHECK(parse_layer_number(name) == 3u);
  }
  for (const auto* name :
       {"token_embd.weight", "lm_head.weight", "model.norm.weight", "", ".", "layers", "layers.",
        "layers.x.3", "blk.-1.x", "blk.99999999999999999999.x", "experts.3.w",
        "vision_tower.vision_model.encoder.layers.3.mlp.fc1.weight",
        "visual.blocks.3.attn.qkv.weight", "v.blk.3.attn_q.weight",
        "model.audio_tower.layers.3.x"}) {
    INFO(name);
    CHECK_FALSE(parse_layer_number(name));
  }
}

TEST_CASE("weights are summed by layer and outside of all layers") {
  const std::vector<Tensor> tensors = {{"token_embd.weight", 100, 200},
                                       {"blk.0.a", 10, 20},
                                       {"blk.1.a", 10, 30},
                                       {"blk.1.b", 1, 2},
                                       {"blk.2.nextn", 5, 7}};
  const auto weights = sum_weights(tensors, 2);
  CHECK(weights.layers == std::vector<std::uint64_t>{20, 32});
  CHECK(weights.outside == 207);  // the layer past them too
  CHECK(weights.total() == 259);
  CHECK(weights.parameters == 126);
  CHECK(sum_weights(tensors, 0).layers == std::vector<std::uint64_t>{20, 32, 7});
  CHECK(sum_weights({}, 0).total() == 0);
}

TEST_CASE("scaled shares add up to the new total") {
  Weights weights;
  weights.layers = {30, 30, 30};
  weights.outside = 10;
  const auto scaled = scale_weights(weights, 1007);
  CHECK(scaled.layers == std::vector<std::uint64_t>{302, 302, 302});
  CHECK(scaled.total() == 1007);
  CHECK(scale_weights({}, 5).total() == 5);
}

namespace {

std::string safetensors_error(std::string_view header, std::uint64_t data_bytes = 64) {
  const auto tensors = parse_safetensors(header, data_bytes);
  return tensors ? "" : tensors.error().message;
}

std::string wrap_tensor(std::string_view fields) {
  return "{\"w\":{" + std::string(fields) + "}}";
}

bool safetensors_text_contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the tensor table of a safetensors file is read") {
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
                             R"("b":{"dtype":"F4","shape":[5],"data_offsets":[12,15]},)"
                             R"("c":{"dtype":"F32","shape":[],"data_offsets":[15,19]}}   )";
  const TempFolder folder;
  const auto tensors = read_safetensors(folder.add("m.safetensors", safetensors_file(header, 19)));
  REQUIRE(tensors);
  REQUIRE(tensors->size() == 3);
  CHECK((*tensors)[0].name == "a");
  CHECK((*tensors)[0].elements == 6);
  CHECK((*tensors)[0].bytes == 12);
  CHECK((*tensors)[1].bytes == 3);  // 5 times 4 bits
  CHECK((*tensors)[2].elements == 1);
}

TEST_CASE("an invalid tensor table is refused with the tensor's name") {
  CHECK(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[4],"data_offsets":[0,8])")).empty());
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("shape":[4],"data_offsets":[0,8])")),
      "tensor \"w\": dtype is missing: expected a text"));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"X9","shape":[4],"data_offsets":[0,8])")),
      "dtype \"X9\""));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[-4],"data_offsets":[0,8])")),
      "shape is [-4]: expected whole numbers"));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":4,"data_offsets":[0,8])")),
      "shape is 4: "));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[4],"data_offsets":[8,0])")),
      "data_offsets is [8,0]: expected two whole numbers in order"));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[4],"data_offsets":[0])")),
      "two whole numbers"));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[4],"data_offsets":[60,68])")),
      "ends at byte 68 of the weights: expected at most 64"));
  CHECK(safetensors_text_contains(
      safetensors_error(wrap_tensor(R"("dtype":"F16","shape":[4],"data_offsets":[0,9])")),
      "has 9 bytes: expected 8"));
  CHECK(safetensors_text_contains(
      safetensors_error(
          wrap_tensor(R"("dtype":"F64","shape":[4294967296,4294967296,9],"data_offsets":[0,8])")),
      "has 8 bytes: expected"));
  CHECK(safetensors_text_contains(
      safetensors_error(R"({"a":{"dtype":"U8","shape":[64],"data_offsets":[0,64]},)"
                        R"("b":{"dtype":"U8","shape":[64],"data_offsets":[0,64]}})"),
      "tensor \"b\": overlaps"));
  CHECK(safetensors_text_contains(safetensors_error("[]"), "expected a JSON object"));
  CHECK(safetensors_text_contains(safetensors_error("{\"a\""), "no JSON at line 1, byte"));
  CHECK(
      safetensors_text_contains(safetensors_error(std::string(100, '[')), "nested deeper than 32"));
}

TEST_CASE("a file with a wrong header length is refused") {
  const TempFolder folder;
  const auto read_error = [&](const std::string& bytes) {
    const auto tensors = read_safetensors(folder.add("x.safetensors", bytes));
    return tensors ? "" : tensors.error().message;
  };
  CHECK(safetensors_text_contains(read_error("1234567"), "7 bytes: expected at least 8"));
  CHECK(safetensors_text_contains(read_error(raw_bytes(std::uint64_t{100'000'001})),
                                  "expected at most 100000000"));
  CHECK(safetensors_text_contains(read_error(raw_bytes(~std::uint64_t{0})),
                                  "a header of 18446744073709551615 bytes"));
  CHECK(safetensors_text_contains(read_error(raw_bytes(std::uint64_t{3}) + "{}"),
                                  "a header of 3 bytes in a file of 10"));
}

TEST_CASE("an index lists tensors, files and their total size") {
  const auto index = parse_safetensors_index(
      R"({"metadata":{"total_size":42},"weight_map":{"b":"2","a":"1","c":"2"}})");
  REQUIRE(index);
  CHECK(index->total_bytes == 42u);
  CHECK(index->tensors.size() == 3);
  CHECK(index->tensors.at("b") == "2");
  CHECK(index->files == std::vector<std::string>{"1", "2"});
  CHECK_FALSE(parse_safetensors_index("{}"));
  CHECK_FALSE(parse_safetensors_index(R"({"weight_map":{"a":1}})"));
  CHECK(safetensors_text_contains(
      parse_safetensors_index(R"({"weight_map":{"a":"1","a":"2"}})").error().message,
      "tensor \"a\": is there twice"));
  // Nothing outside the folder is opened.
  CHECK(safetensors_text_contains(
      parse_safetensors_index(R"({"weight_map":{"a":"../b"}})").error().message,
      "tensor \"a\": expected the name of a file"));
}
