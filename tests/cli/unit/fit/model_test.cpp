// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

GgufFile make_first_part(std::uint32_t parts) {
  GgufFile file;
  file.add_text("general.architecture", "llama").add_text("general.name", "Small one");
  file.add_number("llama.block_count", 2).add_number("llama.embedding_length", 64);
  file.add_number("llama.attention.head_count", 4);
  if (parts != 0) file.add_key("split.count", 2, raw_bytes(static_cast<std::uint16_t>(parts)));
  file.add_tensor("token_embd.weight", {64, 10}, 0, 64 * 10 * 4);
  file.add_tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  return file;
}

GgufFile make_second_part() {
  GgufFile file;
  file.add_tensor("blk.1.attn_q.weight", {64, 64}, 8, 64 * 64 / 32 * 34);
  return file;
}

constexpr const char* model_config_text =
    R"({"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":4,"vocab_size":10,
        "torch_dtype":"float16"})";
constexpr const char* table_of_one =
    R"({"model.layers.1.w":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}})";

std::string model_error(const std::string& path) {
  const auto model = read_model(path);
  return model ? "" : model.error().message;
}

bool model_text_contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a single GGUF file is read by path or by folder") {
  const TempFolder folder;
  folder.add("mmproj-x.gguf", "not this one");
  const auto path = folder.add("small.gguf", make_first_part(0).bytes());
  for (const auto& source : {path, folder.path()}) {
    const auto model = read_model(source);
    REQUIRE(model);
    CHECK(model->name == "Small one");
    CHECK(model->format == "GGUF version 3");
    CHECK(model->weights.layers == std::vector<std::uint64_t>{8192, 0});
    CHECK(model->weights.outside == 2560);
    CHECK(model->weights.parameters == 640 + 4096);
    CHECK(model->architecture->vocabulary_size == 10);
  }
}

TEST_CASE("a split GGUF file is read whichever part is named") {
  const TempFolder folder;
  folder.add("s-00001-of-00002.gguf", make_first_part(2).bytes());
  const auto second_path = folder.path() + "s-00002-of-00002.gguf";
  CHECK(model_text_contains(model_error(folder.path()), second_path + "\": No such file"));
  folder.add("s-00002-of-00002.gguf", make_second_part().bytes());
  for (const auto& path : {folder.path(), folder.path() + "s-00001-of-00002.gguf", second_path}) {
    const auto model = read_model(path);
    REQUIRE(model);
    CHECK(model->weights.layers == std::vector<std::uint64_t>{8192, 4352});
  }
  folder.add("s-00001-of-00002.gguf", make_first_part(3).bytes());
  CHECK(model_text_contains(model_error(second_path), "split.count is 3: expected 2"));
}

TEST_CASE("parts that do not belong to one GGUF set are refused") {
  const TempFolder folder;
  const auto numbered_part = [](std::uint16_t number) {
    auto file = make_second_part();
    return file.add_key("split.no", 2, raw_bytes(number)).bytes();
  };
  const auto first_path = folder.add("s-00001-of-00002.gguf", make_first_part(2).bytes());
  const auto second_path = folder.add("s-00002-of-00002.gguf", numbered_part(1));
  CHECK(model_error(first_path).empty());
  folder.add("s-00002-of-00002.gguf", numbered_part(0));
  CHECK(model_text_contains(model_error(first_path),
                            second_path + "\": split.no is 0: expected 1, by its name"));
  folder.add("s-00002-of-00002.gguf", make_first_part(2).bytes());  // a copy, without split.no
  CHECK(model_text_contains(
      model_error(first_path),
      second_path + "\": tensor \"token_embd.weight\" is in \"" + first_path + "\" too"));
  folder.add("s-00002-of-00002.gguf", numbered_part(1));
  const auto count_error = [&](std::int32_t tensors) {
    auto file = make_first_part(2).add_key("split.tensors.count", 5, raw_bytes(tensors));
    folder.add("s-00001-of-00002.gguf", file.bytes());
    return model_error(first_path);
  };
  CHECK(count_error(3).empty());
  CHECK(model_text_contains(
      count_error(99),
      first_path + "\": its parts have 3 tensors: expected 99, by split.tensors.count"));
}

TEST_CASE("files without weights or with duplicate tensors are refused") {
  const TempFolder folder;
  auto vocabulary = make_first_part(0);
  vocabulary.tensors.clear();
  vocabulary.tensor_count = 0;
  CHECK(model_text_contains(model_error(folder.add("v.gguf", vocabulary.bytes())),
                            "v.gguf\": has no weights: expected the tensors of a model"));
  CHECK(model_text_contains(model_error(folder.add("v.safetensors", safetensors_file("{}", 0))),
                            "v.safetensors\": has no weights: expected"));
  auto duplicate = make_first_part(0);
  duplicate.add_tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  CHECK(model_text_contains(model_error(folder.add("t.gguf", duplicate.bytes())),
                            "t.gguf\": tensor \"blk.0.attn_q.weight\" is there twice"));
  const std::string entry = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[)";
  CHECK(model_text_contains(
      model_error(folder.add("t.safetensors",
                             safetensors_file("{" + entry + "0,4]}," + entry + "4,8]}}", 8))),
      "t.safetensors\": tensor \"a\" is there twice"));
}

TEST_CASE("layers without weights make the total a lower bound") {
  const TempFolder folder;
  const auto path = folder.add("small.gguf", make_first_part(0).bytes());  // lacks blk.1
  const std::string line = "weights of 1 of the 2 layers are not there and not counted";
  CHECK(read_model(path)->notes.lines == std::vector<std::string>{line});
  CHECK(read_model(path)->notes.precision == Precision::at_least);
  const auto read_precision = [&](GgufFile file) {
    return read_model(folder.add("small.gguf", file.bytes()))->notes.precision;
  };
  CHECK(read_precision(make_first_part(0).add_tensor("blk.1.ffn_norm.weight", {64}, 0, 256)) ==
        Precision::counted);
  CHECK(read_precision(make_first_part(0).add_number("llama.nextn_predict_layers", 1)) ==
        Precision::counted);
  folder.add("config.json", model_config_text);
  const auto model = read_model(folder.add("m.safetensors", safetensors_file(table_of_one, 16)));
  REQUIRE(model);
  CHECK(model->notes.lines == std::vector<std::string>{line});
}

TEST_CASE("a layer without heads and feed-forward needs no weights") {
  const TempFolder folder;
  GgufFile file;
  file.add_text("general.architecture", "deci").add_number("deci.block_count", 2);
  file.add_number("deci.embedding_length", 64);
  file.add_numbers("deci.attention.head_count", {4, 0});
  file.add_numbers("deci.attention.head_count_kv", {4, 0});
  file.add_numbers("deci.feed_forward_length", {96, 0});
  file.add_tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  const auto model = read_model(folder.add("d.gguf", file.bytes()));
  REQUIRE(model);
  CHECK(model->notes.lines.empty());
}

TEST_CASE("safetensors files are read with and without a configuration") {
  const TempFolder folder;
  const auto path = folder.add("model.safetensors", safetensors_file(table_of_one, 16));
  const auto alone = read_model(path);
  REQUIRE(alone);
  CHECK_FALSE(alone->architecture);
  CHECK(alone->weights.total() == 16);
  CHECK(alone->weights.layers == std::vector<std::uint64_t>{0, 16});
  folder.add("config.json", model_config_text);
  const auto configured = read_model(folder.path());
  REQUIRE(configured);
  CHECK(configured->architecture->type == "llama");
  CHECK(configured->weights.total() == 16);  // of the file, not counted
  CHECK_FALSE(configured->weights_are_counted);
  folder.add("config.json", "{");
  CHECK(model_text_contains(model_error(path), "config.json\": no JSON"));
}

TEST_CASE("an assumed weight type is reported for a configuration alone, not for a tensor table") {
  const TempFolder folder;
  folder.add("model.safetensors", safetensors_file(table_of_one, 16));
  std::string config = model_config_text;
  config.replace(config.find("float16"), 7, "unknown");
  folder.add("config.json", config);
  const auto model = read_model(folder.path());
  REQUIRE(model);
  CHECK(model->weight_type == "");
  CHECK(model->architecture->notes.lines.empty());
  const auto counted = read_model(folder.path() + "config.json");
  REQUIRE(counted);
  CHECK(counted->weight_type == "bf16");
  REQUIRE(counted->architecture->notes.lines.size() == 1);
  CHECK(model_text_contains(counted->architecture->notes.lines[0],
                            "the configuration does not give their type"));
  folder.add("config.json", model_config_text);
  CHECK(read_model(folder.path())->weight_type == "float16");
}

TEST_CASE("an index is read with its files, and a missing file is an error") {
  const TempFolder folder;
  folder.add("config.json", model_config_text);
  folder.add("model.safetensors.index.json", R"({"metadata":{"total_size":999},"weight_map":)"
                                             R"({"a":"x-00001-of-00002.safetensors",)"
                                             R"("b":"x-00002-of-00002.safetensors"}})");
  folder.add("x-00001-of-00002.safetensors", safetensors_file(table_of_one, 16));
  CHECK(model_text_contains(model_error(folder.path()),
                            "x-00002-of-00002.safetensors\": No such file"));
  folder.add(
      "x-00002-of-00002.safetensors",
      safetensors_file(R"({"lm_head":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
  for (const auto* name : {"", "x-00002-of-00002.safetensors", "model.safetensors.index.json"}) {
    const auto model = read_model(folder.path() + name);
    REQUIRE(model);
    CHECK(model->weights.total() == 24);
  }
}

namespace {

// An index of the tensors a in its first file and b in its second.
struct IndexedModel {
  TempFolder folder;

  Model read_files(std::uint64_t total, const std::string& first, const std::string& second) const {
    folder.add("1.safetensors", first);
    folder.add("2.safetensors", second);
    const auto path =
        folder.add("model.safetensors.index.json",
                   R"({"metadata":{"total_size":)" + std::to_string(total) +
                       R"(},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
    auto model = read_model(path);
    if (!model) FAIL(model.error().message);
    return *std::move(model);
  }
};

std::string make_tensor_file(const std::string& name, std::size_t bytes) {
  const auto size_text = std::to_string(bytes);
  return safetensors_file("{\"" + name + R"(":{"dtype":"U8","shape":[)" + size_text +
                              R"(],"data_offsets":[0,)" + size_text + "]}}",
                          bytes);
}

}  // namespace

TEST_CASE("an index that disagrees with its files is reported, and the files count") {
  const IndexedModel index;
  const auto tensor_a = make_tensor_file("a", 1000);
  const auto whole = index.read_files(3010, tensor_a, make_tensor_file("b", 2000));
  CHECK(whole.weights.total() == 3000);
  CHECK(whole.notes.lines.empty());  // a third of a percent
  const auto copy = index.read_files(1000, tensor_a, tensor_a);
  CHECK(copy.weights.total() == 1000);  // not of both files
  CHECK(copy.notes.precision == Precision::at_least);
  REQUIRE(copy.notes.lines.size() == 1);
  CHECK(copy.notes.lines[0] ==
        "the index names 1 tensor that its files lack, as \"b\": not counted");
  const auto mismatch = index.read_files(9000, tensor_a, make_tensor_file("b", 2000));
  CHECK(mismatch.weights.total() == 3000);
  CHECK(mismatch.notes.precision == Precision::about);
  REQUIRE(mismatch.notes.lines.size() == 1);
  CHECK(mismatch.notes.lines[0] ==
        "\"total_size\" of the index is 9000, its files have 3000 bytes: the latter are counted");
  const auto extra = index.read_files(3500, tensor_a,
                                      safetensors_file(R"({
      "b":{"dtype":"U8","shape":[2000],"data_offsets":[0,2000]},
      "a":{"dtype":"U8","shape":[7],"data_offsets":[2000,2007]},
      "c":{"dtype":"U8","shape":[500],"data_offsets":[2007,2507]}})",
                                                       2507));
  CHECK(extra.weights.total() == 3500);  // c is loaded too; a is that of the first file
  CHECK(extra.notes.lines.empty());
}

TEST_CASE("the total of an index alone counts, and a mismatch with the architecture is reported") {
  const TempFolder folder;
  folder.add("config.json", model_config_text);
  // 2 layers of 4 * 64^2 + 3 * 64 * 96 + 2 * 64, twice 10 * 64 outside, and a norm; 2 bytes each.
  const std::uint64_t sum = 2 * (2 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 10 * 64 + 64);
  const auto last_note = [&](std::uint64_t total) {
    const auto path = folder.add(
        "model.safetensors.index.json",
        R"({"metadata":{"total_size":)" + std::to_string(total) + R"(},"weight_map":{"a":"b"}})");
    const auto model = read_model(path);
    return model ? model->notes.lines.back() : model.error().message;
  };
  const std::string mismatch = "\"total_size\" of the index is 1000, the architecture makes " +
                               std::to_string(sum) + " bytes: the former is counted";
  CHECK(last_note(1000) == mismatch);
  CHECK(model_text_contains(last_note(sum), "each layer's share is counted"));
  CHECK(model_text_contains(last_note(sum * 5 / 4), "each layer's share is counted"));
  CHECK(model_text_contains(last_note(sum * 2), "the architecture makes"));
  CHECK(model_text_contains(last_note(0),
                            "metadata.total_size is 0: expected the sum of the weights"));
}

TEST_CASE("an index without files and configuration requires total_size") {
  const TempFolder folder;
  const auto path = folder.add("model.safetensors.index.json", R"({"weight_map":{"a":"b"}})");
  CHECK(model_text_contains(model_error(path), "metadata.total_size is missing: expected"));
  folder.add("model.safetensors.index.json",
             R"({"metadata":{"total_size":77},"weight_map":{"a":"b"}})");
  const auto model = read_model(path);
  REQUIRE(model);
  CHECK(model->weights.total() == 77);
  CHECK_FALSE(model->architecture);
}

TEST_CASE("a path without a model is refused with a reason") {
  const TempFolder folder;
  CHECK(model_text_contains(model_error(folder.path()),
                            "expected model.safetensors.index.json, a .safetensors or .gguf"));
  CHECK(model_text_contains(model_error(folder.path() + "none"), "No such file"));
  CHECK(model_text_contains(model_error(folder.add("x.bin", "PK")),
                            "expected a GGUF file, a .safetensors file"));
  CHECK(model_text_contains(model_error(folder.add("x.gguf", "GGML")), "is not a GGUF file"));
  folder.add("y.gguf", "GGUF");
  CHECK(model_text_contains(model_error(folder.path()), "2 files end in .gguf"));
  CHECK(model_text_contains(model_error("/dev/null"), "is not a regular file"));
  const auto pipe = folder.path() + "pipe.gguf";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(model_text_contains(model_error(pipe), "is not a regular file"));  // and is not waited for
  CHECK(model_text_contains(model_error(folder.add("big.json", std::string((4u << 20) + 1, ' '))),
                            "expected at most"));
}

TEST_CASE("part names are parsed into prefix, number and count") {
  const auto part = parse_part_name("a-b-00002-of-00007.gguf", ".gguf");
  REQUIRE(part);
  CHECK(part->prefix == "a-b");
  CHECK(part->number == 2);
  CHECK(part->count == 7);
  for (const auto* name : {"a.gguf", "a-0002-of-0007.gguf", "a-00008-of-00007.gguf",
                           "a-00000-of-00007.gguf", "-of-.gguf", "a-00001-of-00002.bin", ""}) {
    INFO(name);
    CHECK_FALSE(parse_part_name(name, ".gguf"));
  }
  CHECK(list_parts("d/a-00002-of-00002.gguf", ".gguf") ==
        std::vector<std::string>{"d/a-00001-of-00002.gguf", "d/a-00002-of-00002.gguf"});
}
