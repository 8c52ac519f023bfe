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
Model make_hybrid() {
  Model model;
  model.weights.layers = {1000, 2000};
  model.weights.outside = 500;
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
  model.architecture = shape;
  return model;
}

Demand demand_or_fail(const Model& model, const FitOptions& options) {
  const auto demand = estimate_demand(model, options);
  if (!demand) FAIL(demand.error().message);
  return *demand;
}

}  // namespace

TEST_CASE("cache size follows type, tokens and sequences") {
  struct TypeSize {
    const char* type;
    std::uint64_t row_bytes;  // of 64 numbers: two groups of 32
  };
  for (const auto& type_size :
       {TypeSize{"f32", 256}, TypeSize{"f16", 128}, TypeSize{"bf16", 128}, TypeSize{"f8", 64},
        TypeSize{"q8_0", 2 * 34}, TypeSize{"q5_1", 2 * 24}, TypeSize{"q5_0", 2 * 22},
        TypeSize{"q4_1", 2 * 20}, TypeSize{"q4_0", 2 * 18}, TypeSize{"iq4_nl", 2 * 18}}) {
    INFO(type_size.type);
    FitOptions options;
    options.context = 100;
    options.batch = 3;
    options.kv_type = type_size.type;
    const auto demand = demand_or_fail(make_hybrid(), options);
    const auto kv_bytes = 2 * 2 * type_size.row_bytes * 112 * 3;  // in blocks of 16
    CHECK(demand.layer_caches[0] == kv_bytes);
    CHECK(demand.layer_caches[1] == 100 * 4 * 3);  // states stay in 32 bits
    CHECK(demand.cache == kv_bytes + 1200);
  }
}

TEST_CASE("working memory is sized for the tokens processed at once") {
  FitOptions options;
  // Per token twice 256, attention 64 * (2 * 4 + 2 * 2), twice 512: 2304 numbers of 4 bytes; a
  // tenth more.
  const std::uint64_t row_bytes = 2304 * 4;
  CHECK(demand_or_fail(make_hybrid(), options).ubatch == 2048);
  CHECK(demand_or_fail(make_hybrid(), options).working == (row_bytes * 2048 * 11 + 9) / 10);
  options.ubatch = 512;
  CHECK(demand_or_fail(make_hybrid(), options).working == (row_bytes * 512 * 11 + 9) / 10);
  options.context = 100;
  CHECK(demand_or_fail(make_hybrid(), options).working == row_bytes * 100 / 10 * 11);
  options.batch = 2000;  // at least one token of each
  CHECK(demand_or_fail(make_hybrid(), options).working == row_bytes * 2000 / 10 * 11);
  // llama.cpp has a mask of 2 bytes for each of 4096 tokens, and 4 tenths more at most.
  auto masked = make_hybrid();
  masked.architecture->runtime = Runtime::llama_cpp;
  CHECK(demand_or_fail(masked, {}).working == ((row_bytes + 2 * 4096) * 512 / 10 + 1) * 14);
  // llama.cpp has logits of all tokens: 256 and a million words.
  auto wide = make_hybrid();
  wide.architecture->runtime = Runtime::llama_cpp;
  wide.architecture->vocabulary_size = 1'000'000;
  CHECK(demand_or_fail(wide, {}).ubatch == 512);
  CHECK(demand_or_fail(wide, {}).working == (1'000'256ull * 512 * 4 / 10 + 1) * 14);
}

TEST_CASE("the cache of a window also holds the tokens processed at once") {
  auto model = make_hybrid();
  auto& layer = model.architecture->layers[0];
  layer.cache = CacheKind::window;
  layer.window = 100;
  const std::uint64_t row_bytes = 2 * 2 * 64 * 2;
  const auto cache_bytes = [&model](Runtime runtime, std::uint64_t context, std::uint64_t ubatch) {
    model.architecture->runtime = runtime;
    FitOptions options;
    options.context = context;
    options.batch = 1;
    options.ubatch = ubatch;
    return demand_or_fail(model, options).layer_caches[0];
  };
  CHECK(cache_bytes(Runtime::llama_cpp, 4000, 500) == 768 * row_bytes);  // 600, in steps of 256
  CHECK(cache_bytes(Runtime::llama_cpp, 300, 5000) ==
        512 * row_bytes);  // all of them, in steps of 256
  CHECK(cache_bytes(Runtime::vllm, 4000, 500) ==
        (608 + 16) * row_bytes);  // 599, in blocks, and one more
  FitOptions shared;              // the windows of four slots, and 500: 900, in steps of 256
  shared.context = 4000;
  shared.ubatch = 500;
  model.architecture->runtime = Runtime::llama_cpp;
  CHECK(demand_or_fail(model, shared).layer_caches[0] == 1024 * row_bytes);
  layer.is_chunked = true;
  CHECK(cache_bytes(Runtime::vllm, 4000, 500) == 608 * row_bytes);
  layer.cache = CacheKind::full;
  layer.window = 0;
  CHECK(cache_bytes(Runtime::llama_cpp, 4000, 500) == 4096 * row_bytes);
  // A second cache of 32 values for each 128 tokens.
  layer.extra_size = 32;
  layer.tokens_per_extra = 128;
  CHECK(cache_bytes(Runtime::llama_cpp, 4000, 500) == 4096 * row_bytes + 256 * 64);
  CHECK(cache_bytes(Runtime::vllm, 4000, 500) == 4000 * row_bytes + 32 * 64);
}

TEST_CASE("the context is the requested length, else the model's, at most 8192") {
  auto model = make_hybrid();
  CHECK(demand_or_fail(model, {}).context == 4096);
  model.architecture->context_length = 131072;
  CHECK(demand_or_fail(model, {}).context == 8192);
  model.architecture->context_length.reset();
  CHECK(demand_or_fail(model, {}).context == 8192);
  FitOptions options;
  options.context = 5000;
  CHECK(demand_or_fail(model, options).warnings.empty());
  const auto demand = demand_or_fail(make_hybrid(), options);
  CHECK(demand.context == 5000);  // reported, not refused
  REQUIRE(demand.warnings.size() == 1);
  CHECK(demand.warnings[0] == "--context 5000: the model was made for 4096 tokens at most");
}

TEST_CASE("without an architecture only weights are counted") {
  auto model = make_hybrid();
  model.architecture.reset();
  const auto demand = demand_or_fail(model, {});
  CHECK(demand.weights == 3500);
  CHECK_FALSE(demand.cache);
  CHECK_FALSE(demand.working);
  CHECK(demand.total() == 3500);
  CHECK_FALSE(demand.assumptions.empty());
}

TEST_CASE("a demand beyond 64 bits is refused") {
  auto model = make_hybrid();
  model.architecture->layers[0].kv_heads = model.architecture->layers[0].key_size = std::uint64_t{1}
                                                                                    << 31;
  FitOptions options;
  options.context = 1u << 30;
  CHECK_FALSE(estimate_demand(model, options));
}

TEST_CASE("token counts accept K and M suffixes and digit separators") {
  CHECK(parse_token_count("4096") == 4096u);
  CHECK(parse_token_count("128K") == 131072u);
  CHECK(parse_token_count("4k") == 4096u);
  CHECK(parse_token_count("1M") == 1048576u);
  CHECK(parse_token_count("1_024") == 1024u);
  CHECK(parse_token_count("131,072") == 131072u);
  for (const auto* invalid : {"", "abc", "5T", "-1K", "K", "1.5K", " 4", "99999999999999999999",
                              "18446744073709551615K"}) {
    INFO(invalid);
    CHECK_FALSE(parse_token_count(invalid));
  }
}
