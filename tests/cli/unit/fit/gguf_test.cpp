// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

GgufFile make_small_file() {
  GgufFile file;
  file.add_text("general.architecture", "llama").add_number("llama.block_count", 2);
  file.add_texts("tokenizer.ggml.tokens", {"a", "bc", ""}).add_numbers("per.layer", {3, 0, 7});
  file.add_tensor("token_embd.weight", {64, 10}, 1, 64 * 10 * 2);
  file.add_tensor("blk.0.attn_q.weight", {256, 4}, 12, 4 * 144);  // Q4_K: 256 in 144 bytes
  return file;
}

struct ParseOutcome {
  std::string error;
  bool needs_more = false;
};

ParseOutcome try_parse(const std::string& bytes, std::uint64_t file_bytes) {
  ParseOutcome outcome;
  const auto gguf = parse_gguf(bytes, file_bytes, outcome.needs_more);
  if (!gguf) outcome.error = gguf.error().message;
  return outcome;
}

std::string gguf_error(const std::string& bytes) {
  const auto outcome = try_parse(bytes, bytes.size());
  CHECK_FALSE(outcome.needs_more);
  return outcome.error;
}

bool gguf_text_contains(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("keys and tensors of a GGUF file are read in versions 2 and 3") {
  for (const std::uint32_t version : {2u, 3u}) {
    auto file = make_small_file();
    file.version = version;
    const auto bytes = file.bytes();
    bool needs_more = true;
    const auto gguf = parse_gguf(bytes, bytes.size(), needs_more);
    REQUIRE(gguf);
    CHECK_FALSE(needs_more);
    CHECK(gguf->version == version);
    CHECK(*gguf->text("general.architecture") == "llama");
    CHECK(gguf->whole("llama.block_count") == 2u);
    CHECK_FALSE(gguf->whole("general.architecture"));
    CHECK_FALSE(gguf->whole("absent"));
    CHECK(*std::get_if<Gguf::Numbers>(gguf->find("per.layer")) == Gguf::Numbers{3, 0, 7});
    CHECK(std::get_if<Gguf::Numbers>(gguf->find("tokenizer.ggml.tokens")) == nullptr);  // skipped
    REQUIRE(gguf->tensors.size() == 2);
    CHECK(gguf->tensors[0].bytes == 1280);
    CHECK(gguf->tensors[1].name == "blk.0.attn_q.weight");
    CHECK(gguf->tensors[1].elements == 1024);
    CHECK(gguf->tensors[1].bytes == 576);
  }
}

TEST_CASE("keys of every type are read") {
  GgufFile file;
  file.add_key("u8", 0, raw_bytes(std::uint8_t{200})).add_key("i8", 1, raw_bytes(std::int8_t{-1}));
  file.add_key("u16", 2, raw_bytes(std::uint16_t{60000}))
      .add_key("i16", 3, raw_bytes(std::int16_t{5}));
  file.add_key("u32", 4, raw_bytes(std::uint32_t{7}))
      .add_key("i32", 5, raw_bytes(std::int32_t{-7}));
  file.add_key("f32", 6, raw_bytes(1.5f)).add_key("bool", 7, raw_bytes(std::uint8_t{1}));
  file.add_key("u64", 10, raw_bytes(std::uint64_t{1} << 40))
      .add_key("i64", 11, raw_bytes(std::int64_t{9}));
  file.add_key("f64", 12, raw_bytes(2.0)).add_number("last", 42);
  bool needs_more = false;
  const auto gguf = parse_gguf(file.bytes(), file.bytes().size(), needs_more);
  REQUIRE(gguf);
  CHECK(gguf->whole("u8") == 200u);
  CHECK(gguf->whole("i8") == ~std::uint64_t{0});  // not a valid size
  CHECK(gguf->whole("u16") == 60000u);
  CHECK(gguf->whole("bool") == 1u);
  CHECK(gguf->whole("u64") == std::uint64_t{1} << 40);
  CHECK(gguf->whole("last") == 42u);
}

TEST_CASE("a truncated header asks for more bytes, or is refused at the end of the file") {
  const auto header = make_small_file().header();
  for (std::size_t length = 4; length < header.size(); ++length) {
    const auto prefix = header.substr(0, length);
    const auto outcome = try_parse(prefix, 1u << 20);
    CHECK(outcome.needs_more);
    CHECK_FALSE(gguf_error(prefix).empty());
  }
}

TEST_CASE("truncated weights are refused") {
  auto bytes = make_small_file().bytes();
  bytes.pop_back();
  CHECK(gguf_text_contains(gguf_error(bytes), "cut short"));
  bytes.resize(bytes.size() - 1500);
  CHECK(gguf_text_contains(gguf_error(bytes), "of the weights: expected at most"));
}

TEST_CASE("a header with impossible counts is refused with the claimed value") {
  const std::string start = "GGUF" + raw_bytes(std::uint32_t{3});
  const auto max = raw_bytes(~std::uint64_t{0});
  CHECK(gguf_text_contains(gguf_error("GGML" + max + max + max), "expected \"GGUF\""));
  CHECK(gguf_text_contains(gguf_error("GGUF" + raw_bytes(std::uint32_t{1}) + max + max),
                           "version 1: expected 2 or 3"));
  CHECK(gguf_text_contains(gguf_error("GGUF" + raw_bytes(std::uint32_t{0x03000000}) + max + max),
                           "big-endian"));
  CHECK(gguf_text_contains(gguf_error(start + max + raw_bytes(std::uint64_t{0})),
                           "18446744073709551615 tensors"));
  CHECK(gguf_text_contains(gguf_error(start + raw_bytes(std::uint64_t{0}) + max),
                           "18446744073709551615 keys"));
  GgufFile file;
  file.keys = max;
  file.key_count = 1;
  CHECK(gguf_text_contains(gguf_error(file.bytes()), "a key of 18446744073709551615 bytes"));
  CHECK(gguf_text_contains(gguf_error(GgufFile().add_key("k", 8, max).bytes()),
                           "a text of 18446744073709551615"));
  CHECK(gguf_text_contains(gguf_error(GgufFile().add_key("k", 13, "").bytes()),
                           "key \"k\": type 13"));
  CHECK(gguf_text_contains(
      gguf_error(GgufFile().add_key("k", 9, raw_bytes(std::uint32_t{4}) + max).bytes()),
      "a list of"));
  CHECK(gguf_text_contains(
      gguf_error(GgufFile().add_key("k", 9, raw_bytes(std::uint32_t{8}) + max).bytes()),
      "a list of"));
  CHECK(gguf_text_contains(
      gguf_error(GgufFile().add_key("k", 9, raw_bytes(std::uint32_t{9}) + max).bytes()),
      "a list of type 9"));
  CHECK(gguf_text_contains(gguf_error(GgufFile().add_number("general.alignment", 24).bytes()),
                           "general.alignment 24: expected a power of two"));
}

TEST_CASE("impossible tensors are refused by name") {
  const auto tensor_error = [](const std::vector<std::uint64_t>& shape, std::uint32_t type) {
    return gguf_error(GgufFile().add_tensor("t", shape, type, 64).bytes());
  };
  const std::uint64_t large = std::uint64_t{1} << 40;
  CHECK(
      gguf_text_contains(tensor_error({32}, 4), "tensor \"t\": type 4"));  // Q4_2, gone since 2023
  CHECK(gguf_text_contains(tensor_error({32}, 4000), "type 4000"));
  CHECK(
      gguf_text_contains(tensor_error({33}, 2), "rows of 33: expected a multiple of 32 for Q4_0"));
  CHECK(gguf_text_contains(tensor_error({large, large}, 0), "tensor \"t\": ends at byte"));
  CHECK(gguf_text_contains(tensor_error(std::vector<std::uint64_t>(9, 1), 0), "9 dimensions"));
  GgufFile overlapping;
  overlapping.add_tensor("a", {16}, 0, 64);
  overlapping.data_bytes = 0;
  overlapping.add_tensor("b", {16}, 0, 64);
  CHECK(gguf_text_contains(gguf_error(overlapping.bytes()), "overlap"));
}

// Block sizes, summed from the structs in ggml-common.h: half floats d and m, scales and
// quants.
TEST_CASE("block sizes of ggml types match ggml-common.h") {
  struct BlockSize {
    std::uint32_t number, elements, bytes;
  };
  for (const auto& expected : {
           BlockSize{2, 32, 2 + 16},
           BlockSize{3, 32, 2 + 2 + 16},
           BlockSize{6, 32, 2 + 4 + 16},
           BlockSize{7, 32, 2 + 2 + 4 + 16},
           BlockSize{8, 32, 2 + 32},
           BlockSize{9, 32, 2 + 2 + 32},
           BlockSize{10, 256, 16 + 64 + 2 + 2},
           BlockSize{11, 256, 32 + 64 + 12 + 2},
           BlockSize{12, 256, 2 + 2 + 12 + 128},
           BlockSize{13, 256, 2 + 2 + 12 + 32 + 128},
           BlockSize{14, 256, 128 + 64 + 16 + 2},
           BlockSize{15, 256, 4 + 256 + 16 * 2},
           BlockSize{16, 256, 2 + 32 * 2},
           BlockSize{17, 256, 2 + 32 * 2 + 8},
           BlockSize{18, 256, 2 + 3 * 32},
           BlockSize{19, 256, 2 + 32 + 8 * 2},
           BlockSize{20, 32, 2 + 16},
           BlockSize{21, 256, 2 + 64 + 8 + 32 + 4},
           BlockSize{22, 256, 2 + 64 + 8 + 8},
           BlockSize{23, 256, 2 + 2 + 4 + 128},
           BlockSize{29, 256, 32 + 16 + 8},
           BlockSize{34, 256, 48 + 4 + 2},
           BlockSize{35, 256, 64 + 2},
           BlockSize{39, 32, 1 + 16},
           BlockSize{40, 64, 4 + 32},
           BlockSize{41, 128, 2 + 16},
       }) {
    INFO(expected.number);
    const auto* type = find_ggml_type(expected.number);
    REQUIRE(type != nullptr);
    CHECK(type->block_elements == expected.elements);
    CHECK(type->block_bytes == expected.bytes);
  }
  for (const std::uint32_t removed : {4u, 5u, 36u, 37u, 38u, 42u}) CHECK(!find_ggml_type(removed));
}

TEST_CASE("errors name the file") {
  const TempFolder folder;
  const auto path = folder.add("x.gguf", "GGUF");
  CHECK(
      gguf_text_contains(read_gguf(path).error().message, "\"" + path + "\": ends in its header"));
  CHECK(gguf_text_contains(read_gguf(folder.path()).error().message, "is not a regular file"));
  CHECK(gguf_text_contains(read_gguf(folder.path() + "none").error().message, "No such file"));
}

TEST_CASE("a header longer than the first read window is read") {
  GgufFile file;
  file.add_texts("tokens", std::vector<std::string>(200'000, "0123456789"));  // 3.6 MB
  file.add_number("behind", 5);
  const TempFolder folder;
  const auto gguf = read_gguf(folder.add("x.gguf", file.bytes()));
  REQUIRE(gguf);
  CHECK(gguf->whole("behind") == 5u);
}
