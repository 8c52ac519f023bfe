// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

GgufFile first_part(std::uint32_t parts) {
  GgufFile made;
  made.text("general.architecture", "llama").text("general.name", "Small one");
  made.whole("llama.block_count", 2).whole("llama.embedding_length", 64);
  made.whole("llama.attention.head_count", 4);
  if (parts != 0) made.key("split.count", 2, raw(static_cast<std::uint16_t>(parts)));
  made.tensor("token_embd.weight", {64, 10}, 0, 64 * 10 * 4);
  made.tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  return made;
}

GgufFile second_part() {
  GgufFile made;
  made.tensor("blk.1.attn_q.weight", {64, 64}, 8, 64 * 64 / 32 * 34);
  return made;
}

constexpr const char* model_config_text =
    R"({"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":4,"vocab_size":10,
        "torch_dtype":"float16"})";
constexpr const char* table_of_one =
    R"({"model.layers.1.w":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}})";

std::string model_refusal(const std::string& path) {
  const auto read = read_model(path);
  return read ? "" : read.why().message;
}

bool model_says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one GGUF file") {
  const Folder in;
  in.add("mmproj-x.gguf", "not this one");
  const auto path = in.add("small.gguf", first_part(0).bytes());
  for (const auto& each : {path, in.path()}) {
    const auto read = read_model(each);
    REQUIRE(read);
    CHECK(read->name == "Small one");
    CHECK(read->format == "GGUF version 3");
    CHECK(read->of.layers == std::vector<std::uint64_t>{8192, 0});
    CHECK(read->of.outside == 2560);
    CHECK(read->of.parameters == 640 + 4096);
    CHECK(read->shape->vocabulary_size == 10);
  }
}

TEST_CASE("a GGUF file in parts, whichever is named") {
  const Folder in;
  in.add("s-00001-of-00002.gguf", first_part(2).bytes());
  const auto second = in.path() + "s-00002-of-00002.gguf";
  CHECK(model_says(model_refusal(in.path()), second + "\": No such file"));
  in.add("s-00002-of-00002.gguf", second_part().bytes());
  for (const auto& each : {in.path(), in.path() + "s-00001-of-00002.gguf", second}) {
    const auto read = read_model(each);
    REQUIRE(read);
    CHECK(read->of.layers == std::vector<std::uint64_t>{8192, 4352});
  }
  in.add("s-00001-of-00002.gguf", first_part(3).bytes());
  CHECK(model_says(model_refusal(second), "split.count is 3: expected 2"));
}

TEST_CASE("parts of a GGUF file that are not those of its set") {
  const Folder in;
  const auto part = [](std::uint16_t number) {
    auto made = second_part();
    return made.key("split.no", 2, raw(number)).bytes();
  };
  const auto first = in.add("s-00001-of-00002.gguf", first_part(2).bytes());
  const auto second = in.add("s-00002-of-00002.gguf", part(1));
  CHECK(model_refusal(first).empty());
  in.add("s-00002-of-00002.gguf", part(0));
  CHECK(model_says(model_refusal(first), second + "\": split.no is 0: expected 1, by its name"));
  in.add("s-00002-of-00002.gguf", first_part(2).bytes());  // a copy, without split.no
  CHECK(model_says(model_refusal(first),
                   second + "\": tensor \"token_embd.weight\" is in \"" + first + "\" too"));
  in.add("s-00002-of-00002.gguf", part(1));
  const auto of_count = [&](std::int32_t tensors) {
    auto made = first_part(2).key("split.tensors.count", 5, raw(tensors));
    in.add("s-00001-of-00002.gguf", made.bytes());
    return model_refusal(first);
  };
  CHECK(of_count(3).empty());
  CHECK(model_says(of_count(99),
                   first + "\": its parts have 3 tensors: expected 99, by split.tensors.count"));
}

TEST_CASE("files without weights, or with a tensor twice") {
  const Folder in;
  auto vocabulary = first_part(0);
  vocabulary.tensors.clear();
  vocabulary.tensor_count = 0;
  CHECK(model_says(model_refusal(in.add("v.gguf", vocabulary.bytes())),
                   "v.gguf\": has no weights: expected the tensors of a model"));
  CHECK(model_says(model_refusal(in.add("v.safetensors", safetensors_file("{}", 0))),
                   "v.safetensors\": has no weights: expected"));
  auto twice = first_part(0);
  twice.tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  CHECK(model_says(model_refusal(in.add("t.gguf", twice.bytes())),
                   "t.gguf\": tensor \"blk.0.attn_q.weight\" is there twice"));
  const std::string one = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[)";
  CHECK(
      model_says(model_refusal(in.add("t.safetensors",
                                      safetensors_file("{" + one + "0,4]}," + one + "4,8]}}", 8))),
                 "t.safetensors\": tensor \"a\" is there twice"));
}

TEST_CASE("layers without weights make a lower bound") {
  const Folder in;
  const auto path = in.add("small.gguf", first_part(0).bytes());  // lacks blk.1
  const std::string line = "weights of 1 of the 2 layers are not there and not counted";
  CHECK(read_model(path)->noted.lines == std::vector<std::string>{line});
  CHECK(read_model(path)->noted.is == Precision::at_least);
  const auto is = [&](GgufFile made) {
    return read_model(in.add("small.gguf", made.bytes()))->noted.is;
  };
  CHECK(is(first_part(0).tensor("blk.1.ffn_norm.weight", {64}, 0, 256)) == Precision::counted);
  CHECK(is(first_part(0).whole("llama.nextn_predict_layers", 1)) == Precision::counted);
  in.add("config.json", model_config_text);
  const auto other = read_model(in.add("m.safetensors", safetensors_file(table_of_one, 16)));
  REQUIRE(other);
  CHECK(other->noted.lines == std::vector<std::string>{line});
}

TEST_CASE("a layer that does nothing needs no weights") {
  const Folder in;
  GgufFile made;
  made.text("general.architecture", "deci").whole("deci.block_count", 2);
  made.whole("deci.embedding_length", 64);
  made.whole_list("deci.attention.head_count", {4, 0});
  made.whole_list("deci.attention.head_count_kv", {4, 0});
  made.whole_list("deci.feed_forward_length", {96, 0});
  made.tensor("blk.0.attn_q.weight", {64, 64}, 1, 64 * 64 * 2);
  const auto read = read_model(in.add("d.gguf", made.bytes()));
  REQUIRE(read);
  CHECK(read->noted.lines.empty());
}

TEST_CASE("safetensors with a configuration, and without") {
  const Folder in;
  const auto path = in.add("model.safetensors", safetensors_file(table_of_one, 16));
  const auto alone = read_model(path);
  REQUIRE(alone);
  CHECK_FALSE(alone->shape);
  CHECK(alone->of.total() == 16);
  CHECK(alone->of.layers == std::vector<std::uint64_t>{0, 16});
  in.add("config.json", model_config_text);
  const auto both = read_model(in.path());
  REQUIRE(both);
  CHECK(both->shape->type == "llama");
  CHECK(both->of.total() == 16);  // of the file, not counted
  CHECK_FALSE(both->weights_are_counted);
  in.add("config.json", "{");
  CHECK(model_says(model_refusal(path), "config.json\": no JSON"));
}

TEST_CASE("a table of tensors says how they are stored, not what a configuration leaves open") {
  const Folder in;
  in.add("model.safetensors", safetensors_file(table_of_one, 16));
  std::string silent = model_config_text;
  silent.replace(silent.find("float16"), 7, "unknown");
  in.add("config.json", silent);
  const auto read = read_model(in.path());
  REQUIRE(read);
  CHECK(read->stored == "");
  CHECK(read->shape->noted.lines.empty());
  const auto counted = read_model(in.path() + "config.json");
  REQUIRE(counted);
  CHECK(counted->stored == "bf16");
  REQUIRE(counted->shape->noted.lines.size() == 1);
  CHECK(model_says(counted->shape->noted.lines[0], "the configuration does not give their type"));
  in.add("config.json", model_config_text);
  CHECK(read_model(in.path())->stored == "float16");
}

TEST_CASE("an index with its files, or some of them") {
  const Folder in;
  in.add("config.json", model_config_text);
  in.add("model.safetensors.index.json", R"({"metadata":{"total_size":999},"weight_map":)"
                                         R"({"a":"x-00001-of-00002.safetensors",)"
                                         R"("b":"x-00002-of-00002.safetensors"}})");
  in.add("x-00001-of-00002.safetensors", safetensors_file(table_of_one, 16));
  CHECK(model_says(model_refusal(in.path()), "x-00002-of-00002.safetensors\": No such file"));
  in.add("x-00002-of-00002.safetensors",
         safetensors_file(R"({"lm_head":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
  for (const auto* name : {"", "x-00002-of-00002.safetensors", "model.safetensors.index.json"}) {
    const auto read = read_model(in.path() + name);
    REQUIRE(read);
    CHECK(read->of.total() == 24);
  }
}

namespace {

// An index of the tensors a in its first file and b in its second.
struct Indexed {
  Folder in;

  Model with(std::uint64_t total, const std::string& first, const std::string& second) const {
    in.add("1.safetensors", first);
    in.add("2.safetensors", second);
    const auto path = in.add("model.safetensors.index.json",
                             R"({"metadata":{"total_size":)" + std::to_string(total) +
                                 R"(},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
    auto read = read_model(path);
    if (!read) FAIL(read.why().message);
    return *std::move(read);
  }
};

std::string bytes_of_tensor(const std::string& name, std::size_t bytes) {
  const auto number = std::to_string(bytes);
  return safetensors_file("{\"" + name + R"(":{"dtype":"U8","shape":[)" + number +
                              R"(],"data_offsets":[0,)" + number + "]}}",
                          bytes);
}

}  // namespace

TEST_CASE("an index is compared with its files") {
  const Indexed index;
  const auto a = bytes_of_tensor("a", 1000);
  const auto whole = index.with(3010, a, bytes_of_tensor("b", 2000));
  CHECK(whole.of.total() == 3000);
  CHECK(whole.noted.lines.empty());  // a third of a percent
  const auto copy = index.with(1000, a, a);
  CHECK(copy.of.total() == 1000);  // not of both files
  CHECK(copy.noted.is == Precision::at_least);
  REQUIRE(copy.noted.lines.size() == 1);
  CHECK(copy.noted.lines[0] ==
        "the index names 1 tensor that its files lack, as \"b\": not counted");
  const auto other = index.with(9000, a, bytes_of_tensor("b", 2000));
  CHECK(other.of.total() == 3000);
  CHECK(other.noted.is == Precision::about);
  REQUIRE(other.noted.lines.size() == 1);
  CHECK(other.noted.lines[0] ==
        "\"total_size\" of the index is 9000, its files have 3000 bytes: the latter are counted");
  const auto more = index.with(3500, a,
                               safetensors_file(R"({
      "b":{"dtype":"U8","shape":[2000],"data_offsets":[0,2000]},
      "a":{"dtype":"U8","shape":[7],"data_offsets":[2000,2007]},
      "c":{"dtype":"U8","shape":[500],"data_offsets":[2007,2507]}})",
                                                2507));
  CHECK(more.of.total() == 3500);  // c is loaded too, a of the first file
  CHECK(more.noted.lines.empty());
}

TEST_CASE("the sum of an index alone is compared with the architecture") {
  const Folder in;
  in.add("config.json", model_config_text);
  // 2 layers of 4 * 64^2 + 3 * 64 * 96 + 2 * 64, twice 10 * 64 outside, and a norm; 2 bytes each.
  const std::uint64_t sum = 2 * (2 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 10 * 64 + 64);
  const auto with = [&](std::uint64_t total) {
    const auto path = in.add(
        "model.safetensors.index.json",
        R"({"metadata":{"total_size":)" + std::to_string(total) + R"(},"weight_map":{"a":"b"}})");
    const auto read = read_model(path);
    return read ? read->noted.lines.back() : read.why().message;
  };
  const std::string other = "\"total_size\" of the index is 1000, the architecture makes " +
                            std::to_string(sum) + " bytes: the former is counted";
  CHECK(with(1000) == other);
  CHECK(model_says(with(sum), "each layer's share is counted"));
  CHECK(model_says(with(sum * 5 / 4), "each layer's share is counted"));
  CHECK(model_says(with(sum * 2), "the architecture makes"));
  CHECK(model_says(with(0), "metadata.total_size is 0: expected the sum of the weights"));
}

TEST_CASE("an index without anything to count by") {
  const Folder in;
  const auto path = in.add("model.safetensors.index.json", R"({"weight_map":{"a":"b"}})");
  CHECK(model_says(model_refusal(path), "metadata.total_size is missing: expected"));
  in.add("model.safetensors.index.json",
         R"({"metadata":{"total_size":77},"weight_map":{"a":"b"}})");
  const auto read = read_model(path);
  REQUIRE(read);
  CHECK(read->of.total() == 77);
  CHECK_FALSE(read->shape);
}

TEST_CASE("paths of no model") {
  const Folder in;
  CHECK(model_says(model_refusal(in.path()),
                   "expected model.safetensors.index.json, a .safetensors or .gguf"));
  CHECK(model_says(model_refusal(in.path() + "none"), "No such file"));
  CHECK(model_says(model_refusal(in.add("x.bin", "PK")),
                   "expected a GGUF file, a .safetensors file"));
  CHECK(model_says(model_refusal(in.add("x.gguf", "GGML")), "is no GGUF file"));
  in.add("y.gguf", "GGUF");
  CHECK(model_says(model_refusal(in.path()), "2 files end in .gguf"));
  CHECK(model_says(model_refusal("/dev/null"), "is no regular file"));
  const auto pipe = in.path() + "pipe.gguf";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(model_says(model_refusal(pipe), "is no regular file"));  // and is not waited for
  CHECK(model_says(model_refusal(in.add("big.json", std::string((4u << 20) + 1, ' '))),
                   "expected at most"));
}

TEST_CASE("names of parts") {
  const auto part = parse_part_name("a-b-00002-of-00007.gguf", ".gguf");
  REQUIRE(part);
  CHECK(part->prefix == "a-b");
  CHECK(part->number == 2);
  CHECK(part->count == 7);
  for (const auto* none : {"a.gguf", "a-0002-of-0007.gguf", "a-00008-of-00007.gguf",
                           "a-00000-of-00007.gguf", "-of-.gguf", "a-00001-of-00002.bin", ""}) {
    INFO(none);
    CHECK_FALSE(parse_part_name(none, ".gguf"));
  }
  CHECK(parts_of("d/a-00002-of-00002.gguf", ".gguf") ==
        std::vector<std::string>{"d/a-00001-of-00002.gguf", "d/a-00002-of-00002.gguf"});
}
