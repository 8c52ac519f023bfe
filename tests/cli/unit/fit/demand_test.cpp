// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/demand.hpp"

#include <doctest/doctest.h>

#include "cli/commands/values.hpp"
#include "files.hpp"

using namespace hmn::cli::fit;
using hmn::cli::FitOptions;
using hmn::cli::parse_token_count;

namespace {

// One layer of 2 heads of 64 with keys and values, one that keeps a state of 100 numbers.
Model hybrid() {
  Model made;
  made.of.layers = {1000, 2000};
  made.of.outside = 500;
  Architecture shape;
  shape.hidden_size = 256;
  shape.head_count = 4;
  shape.feed_forward_size = 512;
  shape.vocabulary_size = 1000;
  shape.context_length = 4096;
  shape.layers.resize(2);
  shape.layers[0].cache = CacheKind::full;
  shape.layers[0].kv_heads = 2;
  shape.layers[0].key_size = shape.layers[0].value_size = 64;
  shape.layers[1].state_size = 100;
  made.shape = shape;
  return made;
}

Demand needs_of(const Model& of, const FitOptions& asked) {
  const auto needs = demand_of(of, asked);
  if (!needs) FAIL(needs.why().message);
  return *needs;
}

}  // namespace

TEST_CASE("the cache by type, tokens and sequences") {
  struct Row {
    const char* type;
    std::uint64_t bytes_of_a_row;  // of 64 numbers: two groups of 32
  };
  for (const auto& each : {Row{"f32", 256}, Row{"f16", 128}, Row{"bf16", 128}, Row{"f8", 64},
                           Row{"q8_0", 2 * 34}, Row{"q5_1", 2 * 24}, Row{"q5_0", 2 * 22},
                           Row{"q4_1", 2 * 20}, Row{"q4_0", 2 * 18}, Row{"iq4_nl", 2 * 18}}) {
    INFO(each.type);
    FitOptions asked;
    asked.context = 100;
    asked.batch = 3;
    asked.kv_type = each.type;
    const auto needs = needs_of(hybrid(), asked);
    const auto keys_and_values = 2 * 2 * each.bytes_of_a_row * 112 * 3;  // in blocks of 16
    CHECK(needs.layer_caches[0] == keys_and_values);
    CHECK(needs.layer_caches[1] == 100 * 4 * 3);  // states stay in 32 bits
    CHECK(needs.cache == keys_and_values + 1200);
  }
}

TEST_CASE("working memory is that of the tokens at once") {
  FitOptions asked;
  // Of each token twice 256, attention 64 * (2 * 4 + 2 * 2), twice 512: 2304 numbers of 4 bytes; a
  // tenth more.
  const std::uint64_t row = 2304 * 4;
  CHECK(needs_of(hybrid(), asked).ubatch == 2048);
  CHECK(needs_of(hybrid(), asked).working == (row * 2048 * 11 + 9) / 10);
  asked.ubatch = 512;
  CHECK(needs_of(hybrid(), asked).working == (row * 512 * 11 + 9) / 10);
  asked.context = 100;
  CHECK(needs_of(hybrid(), asked).working == row * 100 / 10 * 11);
  asked.batch = 2000;  // at least one token of each
  CHECK(needs_of(hybrid(), asked).working == row * 2000 / 10 * 11);
  // llama.cpp has a mask of 2 bytes for each of 4096 tokens.
  auto masked = hybrid();
  masked.shape->by = Runtime::llama_cpp;
  CHECK(needs_of(masked, {}).working == ((row + 2 * 4096) * 512 * 11 + 9) / 10);
  // llama.cpp has logits of all tokens: 256 and a million words.
  auto wide = hybrid();
  wide.shape->by = Runtime::llama_cpp;
  wide.shape->vocabulary_size = 1'000'000;
  CHECK(needs_of(wide, {}).ubatch == 512);
  CHECK(needs_of(wide, {}).working == (1'000'256ull * 512 * 4 * 11 + 9) / 10);
}

TEST_CASE("a window is kept with the tokens processed at once") {
  auto of = hybrid();
  auto& layer = of.shape->layers[0];
  layer.cache = CacheKind::window;
  layer.window = 100;
  const std::uint64_t row = 2 * 2 * 64 * 2;
  const auto cache = [&of](Runtime by, std::uint64_t context, std::uint64_t ubatch) {
    of.shape->by = by;
    FitOptions asked;
    asked.context = context;
    asked.ubatch = ubatch;
    return needs_of(of, asked).layer_caches[0];
  };
  CHECK(cache(Runtime::llama_cpp, 4000, 500) == 768 * row);    // 600, in steps of 256
  CHECK(cache(Runtime::llama_cpp, 300, 5000) == 512 * row);    // all of them, in steps of 256
  CHECK(cache(Runtime::vllm, 4000, 500) == (608 + 16) * row);  // 599, in blocks, and one more
  layer.is_chunked = true;
  CHECK(cache(Runtime::vllm, 4000, 500) == 608 * row);
  layer.cache = CacheKind::full;
  layer.window = 0;
  CHECK(cache(Runtime::llama_cpp, 4000, 500) == 4096 * row);
  // A second cache of 32 values for each 128 tokens.
  layer.extra_size = 32;
  layer.extra_every = 128;
  CHECK(cache(Runtime::llama_cpp, 4000, 500) == 4096 * row + 256 * 64);
  CHECK(cache(Runtime::vllm, 4000, 500) == 4000 * row + 32 * 64);
}

TEST_CASE("the context is what was asked, else the model's, at most 8192") {
  auto of = hybrid();
  CHECK(needs_of(of, {}).context == 4096);
  of.shape->context_length = 131072;
  CHECK(needs_of(of, {}).context == 8192);
  of.shape->context_length.reset();
  CHECK(needs_of(of, {}).context == 8192);
  FitOptions asked;
  asked.context = 5000;
  CHECK(needs_of(of, asked).warnings.empty());
  const auto longer = needs_of(hybrid(), asked);
  CHECK(longer.context == 5000);  // reported, not refused
  REQUIRE(longer.warnings.size() == 1);
  CHECK(longer.warnings[0] == "--context 5000: the model was made for 4096 tokens at most");
}

TEST_CASE("weights without an architecture") {
  auto of = hybrid();
  of.shape.reset();
  const auto needs = needs_of(of, {});
  CHECK(needs.weights == 3500);
  CHECK_FALSE(needs.cache);
  CHECK_FALSE(needs.working);
  CHECK(needs.total() == 3500);
  CHECK_FALSE(needs.assumptions.empty());
}

TEST_CASE("more than 64 bits is refused") {
  auto of = hybrid();
  of.shape->layers[0].kv_heads = of.shape->layers[0].key_size = std::uint64_t{1} << 31;
  FitOptions asked;
  asked.context = 1u << 30;
  CHECK_FALSE(demand_of(of, asked));
}

TEST_CASE("counts of tokens") {
  CHECK(parse_token_count("4096") == 4096u);
  CHECK(parse_token_count("128K") == 131072u);
  CHECK(parse_token_count("4k") == 4096u);
  CHECK(parse_token_count("1M") == 1048576u);
  CHECK(parse_token_count("1_024") == 1024u);
  CHECK(parse_token_count("131,072") == 131072u);
  for (const auto* wrong : {"", "abc", "5T", "-1K", "K", "1.5K", " 4", "99999999999999999999",
                            "18446744073709551615K"}) {
    INFO(wrong);
    CHECK_FALSE(parse_token_count(wrong));
  }
}
