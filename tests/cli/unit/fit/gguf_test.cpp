// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf.hpp"

#include <doctest/doctest.h>

#include "files.hpp"

using namespace hmn::cli::fit;

namespace {

GgufFile small() {
  GgufFile made;
  made.text("general.architecture", "llama").whole("llama.block_count", 2);
  made.text_list("tokenizer.ggml.tokens", {"a", "bc", ""}).whole_list("per.layer", {3, 0, 7});
  made.tensor("token_embd.weight", {64, 10}, 1, 64 * 10 * 2);
  made.tensor("blk.0.attn_q.weight", {256, 4}, 12, 4 * 144);  // Q4_K: 256 in 144 bytes
  return made;
}

struct Outcome {
  std::string why;
  bool needs_more = false;
};

Outcome outcome_of(const std::string& bytes, std::uint64_t file_bytes) {
  Outcome is;
  const auto parsed = parse_gguf(bytes, file_bytes, is.needs_more);
  if (!parsed) is.why = parsed.why().message;
  return is;
}

std::string gguf_refusal(const std::string& bytes) {
  const auto is = outcome_of(bytes, bytes.size());
  CHECK_FALSE(is.needs_more);
  return is.why;
}

bool gguf_says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("keys and tensors of a GGUF file") {
  for (const std::uint32_t version : {2u, 3u}) {
    auto file = small();
    file.version = version;
    const auto bytes = file.bytes();
    bool needs_more = true;
    const auto parsed = parse_gguf(bytes, bytes.size(), needs_more);
    REQUIRE(parsed);
    CHECK_FALSE(needs_more);
    CHECK(parsed->version == version);
    CHECK(*parsed->text("general.architecture") == "llama");
    CHECK(parsed->whole("llama.block_count") == 2u);
    CHECK_FALSE(parsed->whole("general.architecture"));
    CHECK_FALSE(parsed->whole("absent"));
    CHECK(*std::get_if<Gguf::Numbers>(parsed->find("per.layer")) == Gguf::Numbers{3, 0, 7});
    CHECK(std::get_if<Gguf::Numbers>(parsed->find("tokenizer.ggml.tokens")) ==
          nullptr);  // walked over
    REQUIRE(parsed->tensors.size() == 2);
    CHECK(parsed->tensors[0].bytes == 1280);
    CHECK(parsed->tensors[1].name == "blk.0.attn_q.weight");
    CHECK(parsed->tensors[1].elements == 1024);
    CHECK(parsed->tensors[1].bytes == 576);
  }
}

TEST_CASE("each type of a key is read, and what follows it") {
  GgufFile file;
  file.key("u8", 0, raw(std::uint8_t{200})).key("i8", 1, raw(std::int8_t{-1}));
  file.key("u16", 2, raw(std::uint16_t{60000})).key("i16", 3, raw(std::int16_t{5}));
  file.key("u32", 4, raw(std::uint32_t{7})).key("i32", 5, raw(std::int32_t{-7}));
  file.key("f32", 6, raw(1.5f)).key("bool", 7, raw(std::uint8_t{1}));
  file.key("u64", 10, raw(std::uint64_t{1} << 40)).key("i64", 11, raw(std::int64_t{9}));
  file.key("f64", 12, raw(2.0)).whole("last", 42);
  bool needs_more = false;
  const auto parsed = parse_gguf(file.bytes(), file.bytes().size(), needs_more);
  REQUIRE(parsed);
  CHECK(parsed->whole("u8") == 200u);
  CHECK(parsed->whole("i8") == ~std::uint64_t{0});  // no size of anything
  CHECK(parsed->whole("u16") == 60000u);
  CHECK(parsed->whole("bool") == 1u);
  CHECK(parsed->whole("u64") == std::uint64_t{1} << 40);
  CHECK(parsed->whole("last") == 42u);
}

TEST_CASE("a header that is cut needs more, or is refused where the file ends") {
  const auto whole = small().header();
  for (std::size_t length = 4; length < whole.size(); ++length) {
    const auto part = whole.substr(0, length);
    const auto longer = outcome_of(part, 1u << 20);
    CHECK(longer.needs_more);
    CHECK_FALSE(gguf_refusal(part).empty());
  }
}

TEST_CASE("weights that are cut are refused") {
  auto bytes = small().bytes();
  bytes.pop_back();
  CHECK(gguf_says(gguf_refusal(bytes), "cut short"));
  bytes.resize(bytes.size() - 1500);
  CHECK(gguf_says(gguf_refusal(bytes), "of the weights: expected at most"));
}

TEST_CASE("a header that claims too much is refused with what it claims") {
  const std::string start = "GGUF" + raw(std::uint32_t{3});
  const auto most = raw(~std::uint64_t{0});
  CHECK(gguf_says(gguf_refusal("GGML" + most + most + most), "expected \"GGUF\""));
  CHECK(gguf_says(gguf_refusal("GGUF" + raw(std::uint32_t{1}) + most + most),
                  "version 1: expected 2 or 3"));
  CHECK(
      gguf_says(gguf_refusal("GGUF" + raw(std::uint32_t{0x03000000}) + most + most), "big-endian"));
  CHECK(gguf_says(gguf_refusal(start + most + raw(std::uint64_t{0})),
                  "18446744073709551615 tensors"));
  CHECK(gguf_says(gguf_refusal(start + raw(std::uint64_t{0}) + most), "18446744073709551615 keys"));
  GgufFile file;
  file.keys = most;
  file.key_count = 1;
  CHECK(gguf_says(gguf_refusal(file.bytes()), "a key of 18446744073709551615 bytes"));
  CHECK(gguf_says(gguf_refusal(GgufFile().key("k", 8, most).bytes()),
                  "a text of 18446744073709551615"));
  CHECK(gguf_says(gguf_refusal(GgufFile().key("k", 13, "").bytes()), "key \"k\": type 13"));
  CHECK(gguf_says(gguf_refusal(GgufFile().key("k", 9, raw(std::uint32_t{4}) + most).bytes()),
                  "a list of"));
  CHECK(gguf_says(gguf_refusal(GgufFile().key("k", 9, raw(std::uint32_t{8}) + most).bytes()),
                  "a list of"));
  CHECK(gguf_says(gguf_refusal(GgufFile().key("k", 9, raw(std::uint32_t{9}) + most).bytes()),
                  "a list of type 9"));
  CHECK(gguf_says(gguf_refusal(GgufFile().whole("general.alignment", 24).bytes()),
                  "general.alignment 24: expected a power of two"));
}

TEST_CASE("tensors that cannot be are refused by name") {
  const auto with = [](const std::vector<std::uint64_t>& shape, std::uint32_t type) {
    return gguf_refusal(GgufFile().tensor("t", shape, type, 64).bytes());
  };
  const std::uint64_t large = std::uint64_t{1} << 40;
  CHECK(gguf_says(with({32}, 4), "tensor \"t\": type 4"));  // Q4_2, gone since 2023
  CHECK(gguf_says(with({32}, 4000), "type 4000"));
  CHECK(gguf_says(with({33}, 2), "rows of 33: expected a multiple of 32 for Q4_0"));
  CHECK(gguf_says(with({large, large}, 0), "tensor \"t\": ends at byte"));
  CHECK(gguf_says(with(std::vector<std::uint64_t>(9, 1), 0), "9 dimensions"));
  GgufFile twice;
  twice.tensor("a", {16}, 0, 64);
  twice.data_bytes = 0;
  twice.tensor("b", {16}, 0, 64);
  CHECK(gguf_says(gguf_refusal(twice.bytes()), "overlap"));
}

// Sizes of a block as its struct in ggml-common.h adds up, of half floats d and m, scales and
// quants.
TEST_CASE("types of ggml") {
  struct Row {
    std::uint32_t number, elements, bytes;
  };
  for (const auto& each : {
           Row{2, 32, 2 + 16},
           Row{3, 32, 2 + 2 + 16},
           Row{6, 32, 2 + 4 + 16},
           Row{7, 32, 2 + 2 + 4 + 16},
           Row{8, 32, 2 + 32},
           Row{9, 32, 2 + 2 + 32},
           Row{10, 256, 16 + 64 + 2 + 2},
           Row{11, 256, 32 + 64 + 12 + 2},
           Row{12, 256, 2 + 2 + 12 + 128},
           Row{13, 256, 2 + 2 + 12 + 32 + 128},
           Row{14, 256, 128 + 64 + 16 + 2},
           Row{15, 256, 4 + 256 + 16 * 2},
           Row{16, 256, 2 + 32 * 2},
           Row{17, 256, 2 + 32 * 2 + 8},
           Row{18, 256, 2 + 3 * 32},
           Row{19, 256, 2 + 32 + 8 * 2},
           Row{20, 32, 2 + 16},
           Row{21, 256, 2 + 64 + 8 + 32 + 4},
           Row{22, 256, 2 + 64 + 8 + 8},
           Row{23, 256, 2 + 2 + 4 + 128},
           Row{29, 256, 32 + 16 + 8},
           Row{34, 256, 48 + 4 + 2},
           Row{35, 256, 64 + 2},
           Row{39, 32, 1 + 16},
           Row{40, 64, 4 + 32},
           Row{41, 128, 2 + 16},
       }) {
    INFO(each.number);
    const auto* type = find_ggml_type(each.number);
    REQUIRE(type != nullptr);
    CHECK(type->block_elements == each.elements);
    CHECK(type->block_bytes == each.bytes);
  }
  for (const std::uint32_t gone : {4u, 5u, 36u, 37u, 38u, 42u}) CHECK(!find_ggml_type(gone));
}

TEST_CASE("files are named where they are refused") {
  const Folder in;
  const auto path = in.add("x.gguf", "GGUF");
  CHECK(gguf_says(read_gguf(path).why().message, "\"" + path + "\": ends in its header"));
  CHECK(gguf_says(read_gguf(in.path()).why().message, "is no regular file"));
  CHECK(gguf_says(read_gguf(in.path() + "none").why().message, "No such file"));
}

TEST_CASE("a header longer than the first window") {
  GgufFile file;
  file.text_list("tokens", std::vector<std::string>(200'000, "0123456789"));  // 3.6 MB
  file.whole("behind", 5);
  const Folder in;
  const auto parsed = read_gguf(in.add("x.gguf", file.bytes()));
  REQUIRE(parsed);
  CHECK(parsed->whole("behind") == 5u);
}
