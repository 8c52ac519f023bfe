// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

using hypomnesis::dtype_id;
using hypomnesis::status_code;

TEST_CASE("dtypes have names and bits") {
  CHECK(hypomnesis::dtype_from_name("torch.bfloat16") == dtype_id::bf16);
  CHECK(hypomnesis::name(dtype_id::f8e4m3) == "f8e4m3");
  CHECK(hypomnesis::bits(dtype_id::i4) == 4);
  CHECK(catch_status([] { hypomnesis::dtype_from_name("invalid"); }) == status_code::argument);
}

TEST_CASE("tensor estimates, plain and packed, are exact and refuse overflow") {
  CHECK(hypomnesis::estimate_tensor({10, 100}, dtype_id::f32) == 4000);
  CHECK(hypomnesis::estimate_tensor({}, dtype_id::f32) == 4);
  hypomnesis::packing q4_0;
  q4_0.dtype = dtype_id::i4;
  q4_0.group_size = 32;
  q4_0.group_bits = 16;
  CHECK(hypomnesis::estimate_packed({2, 32}, q4_0) == 36);
  CHECK(catch_status([] {
          hypomnesis::estimate_tensor({UINT64_MAX, 2}, dtype_id::u8);
        }) == status_code::overflow);
  CHECK(catch_status([] { hypomnesis::estimate_tensor({1}, dtype_id::unknown); }) ==
        status_code::range);
}

TEST_CASE("estimates of attention, caches, overhead and sums are exact") {
  hypomnesis::attention layer;
  layer.dtype = dtype_id::f32;
  layer.heads = 1;
  layer.sequence = 4;
  layer.head_dim = 2;
  CHECK(hypomnesis::estimate_attention(layer) == 192);
  layer.flags = hypomnesis::attention_flag::fused;
  CHECK(hypomnesis::estimate_attention(layer) == 128);
  hypomnesis::cache v3;
  v3.kind = hypomnesis::cache_kind::latent;
  v3.dtype = dtype_id::bf16;
  v3.layers = 61;
  v3.latent_dim = 576;
  CHECK(hypomnesis::estimate_cache(v3, 1) == 61 * 1152);
  CHECK(hypomnesis::estimate_cache(v3, 10, 3) == 61 * 1152 * 30);
  CHECK(hypomnesis::estimate_overhead(1000) == 1100);
  CHECK(hypomnesis::estimate_overhead(1000, 1050) == 1050);
  CHECK(hypomnesis::estimate_sum({1, 2, 3}) == 6);
}
