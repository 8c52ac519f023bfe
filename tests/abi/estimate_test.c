/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Sizes of published models, worked out by hand next to each.
 */
#include "support/suite.h"

static const uint64_t ki = 1024, mi = 1024 * 1024;
#define DIMENSIONS(...) (const uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / 8

static uint64_t tensor(const uint64_t* shape, size_t rank, uint32_t dtype) {
  uint64_t out = 99;
  assert_returns(hmn_estimate_tensor(shape, (uint32_t)rank, dtype, &out, &error), HMN_OK);
  return out;
}

static void a_tensor_has_the_bytes_of_its_elements(void** state) {
  (void)state;
  assert_int_equal(tensor(DIMENSIONS(10, 100), HMN_DTYPE_F32), 4000);
  assert_int_equal(tensor(DIMENSIONS(10, 100), HMN_DTYPE_F16), 2000);
  assert_int_equal(tensor(DIMENSIONS(10, 100), HMN_DTYPE_BF16), 2000);
  assert_int_equal(tensor(DIMENSIONS(2, 4, 8), HMN_DTYPE_F32), 256);
  assert_int_equal(tensor(DIMENSIONS(32, 32), HMN_DTYPE_F32), 4096);
  assert_int_equal(tensor(DIMENSIONS(4, 8), HMN_DTYPE_F32), 128);
  assert_int_equal(tensor(DIMENSIONS(2, 8), HMN_DTYPE_F32), 64);
  assert_int_equal(tensor(DIMENSIONS(4, 8, 16), HMN_DTYPE_F32), 2048);
}

/* Parameters and bytes of a table of models, in 16 bits. */
static void weights_have_the_bytes_of_their_parameters(void** state) {
  (void)state;
  const uint64_t million = 1000000;
  const uint64_t table[][2] = {{6740, 13480},  {68500, 137000}, {7240, 14480},  {2780, 5560},
                               {12900, 25800}, {8030, 16060},   {70600, 141200}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    assert_int_equal(tensor(DIMENSIONS(table[i][0] * million), HMN_DTYPE_F16),
                     table[i][1] * million);
    assert_int_equal(tensor(DIMENSIONS(table[i][0] * million), HMN_DTYPE_BF16),
                     table[i][1] * million);
  }
}

static void rank_0_is_one_element_and_a_dimension_of_0_is_none(void** state) {
  (void)state;
  assert_int_equal(tensor(NULL, 0, HMN_DTYPE_F64), 8);
  assert_int_equal(tensor(DIMENSIONS(0), HMN_DTYPE_F32), 0);
  assert_int_equal(tensor(DIMENSIONS(5, 0), HMN_DTYPE_F32), 0);
  assert_int_equal(tensor(DIMENSIONS(0, 5), HMN_DTYPE_F4), 0);
  /* even if the other dimensions would be too large */
  assert_int_equal(tensor(DIMENSIONS(UINT64_MAX, UINT64_MAX, UINT64_MAX, 0), HMN_DTYPE_F32), 0);
  assert_int_equal(tensor(DIMENSIONS(0, UINT64_MAX, UINT64_MAX, UINT64_MAX), HMN_DTYPE_F32), 0);
}

static void a_tensor_is_rounded_up_to_whole_bytes_once(void** state) {
  (void)state;
  assert_int_equal(tensor(DIMENSIONS(1), HMN_DTYPE_F4), 1);
  assert_int_equal(tensor(DIMENSIONS(3, 3), HMN_DTYPE_I4), 5);      /* 36 bits */
  assert_int_equal(tensor(DIMENSIONS(4), HMN_DTYPE_F6E2M3), 3);     /* 24 bits */
  assert_int_equal(tensor(DIMENSIONS(3, 7), HMN_DTYPE_F6E3M2), 16); /* 126 bits */
}

static void a_size_above_64_bits_is_an_overflow(void** state) {
  (void)state;
  /* 2^61 - 1 elements of 8 bytes are 2^64 - 8, one more is 2^64 */
  const uint64_t max_elements = (UINT64_C(1) << 61) - 1;
  assert_true(tensor(DIMENSIONS(max_elements), HMN_DTYPE_F64) == UINT64_MAX - 7);
  assert_true(tensor(DIMENSIONS(UINT64_MAX), HMN_DTYPE_U8) == UINT64_MAX);
  assert_true(tensor(DIMENSIONS(UINT64_MAX, 2), HMN_DTYPE_U4) == UINT64_MAX);
  const struct {
    uint64_t shape[4];
    uint32_t rank, dtype;
  } too_large[] = {
      {{max_elements + 1}, 1, HMN_DTYPE_F64},
      {{UINT64_C(1) << 32, UINT64_C(1) << 32}, 2, HMN_DTYPE_U8},
      {{UINT64_MAX, 2}, 2, HMN_DTYPE_F6E2M3},
      {{UINT64_MAX, UINT64_MAX}, 2, HMN_DTYPE_F4},
      {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, 3, HMN_DTYPE_U8},
      {{UINT64_C(1) << 63, UINT64_C(1) << 63, 4, 4}, 4, HMN_DTYPE_F32},
  };
  for (size_t i = 0; i < sizeof too_large / sizeof too_large[0]; ++i) {
    uint64_t out = 99;
    assert_returns(hmn_estimate_tensor(too_large[i].shape, too_large[i].rank, too_large[i].dtype,
                                       &out, &error),
                   HMN_E_OVERFLOW);
    assert_int_equal(out, 0);
  }
}

static void an_unknown_dtype_is_refused(void** state) {
  (void)state;
  const uint64_t one = 1;
  uint64_t out = 99;
  assert_returns(hmn_estimate_tensor(&one, 1, HMN_DTYPE_UNKNOWN, &out, &error), HMN_E_RANGE);
  assert_returns(hmn_estimate_tensor(&one, 1, HMN_DTYPE_BOOL + 1, &out, &error), HMN_E_RANGE);
  assert_returns(hmn_estimate_tensor(NULL, 1, HMN_DTYPE_U8, &out, &error), HMN_E_ARGUMENT);
  assert_int_equal(out, 0);
}

static uint64_t pack(const uint64_t* shape, size_t rank, hmn_packing p) {
  uint64_t out = 99;
  p.struct_size = sizeof p;
  assert_returns(hmn_estimate_packed(shape, (uint32_t)rank, &p, &out, &error), HMN_OK);
  return out;
}

static void a_packed_tensor_includes_its_scales(void** state) {
  (void)state;
  const hmn_packing q4_0 = {.dtype = HMN_DTYPE_I4, .group_size = 32, .group_bits = 16};
  const hmn_packing q8_0 = {.dtype = HMN_DTYPE_I8, .group_size = 32, .group_bits = 16};
  const hmn_packing gptq = {.dtype = HMN_DTYPE_U4, .group_size = 128, .group_bits = 16 + 4};
  const hmn_packing mxfp4 = {.dtype = HMN_DTYPE_F4, .group_size = 32, .group_bits = 8};
  const hmn_packing q6_k = {.element_bits = 6, .group_size = 256, .group_bits = 210 * 8 - 6 * 256};
  assert_int_equal(pack(DIMENSIONS(32), q4_0), 18);
  assert_int_equal(pack(DIMENSIONS(4096, 4096), q4_0), 4096 * 4096 / 32 * 18);
  assert_int_equal(pack(DIMENSIONS(4096, 4096), q8_0), 4096 * 4096 / 32 * 34);
  assert_int_equal(pack(DIMENSIONS(4096, 4096), gptq), 4096 * 32 * (128 * 4 + 20) / 8);
  assert_int_equal(pack(DIMENSIONS(2880, 2880), mxfp4), 2880 * 90 * 17);
  assert_int_equal(pack(DIMENSIONS(2, 256), q6_k), 2 * 210);
}

static void a_group_does_not_span_two_rows(void** state) {
  (void)state;
  const hmn_packing q4_0 = {.dtype = HMN_DTYPE_I4, .group_size = 32, .group_bits = 16};
  const hmn_packing plain = {.dtype = HMN_DTYPE_F16};
  /* 33 elements need two groups: 3 * (33 * 4 + 2 * 16) bits are 492, 61.5 bytes */
  assert_int_equal(pack(DIMENSIONS(3, 33), q4_0), 62);
  assert_int_equal(pack(NULL, 0, q4_0), 3); /* 4 + 16 bits */
  assert_int_equal(pack(DIMENSIONS(7, 0), q4_0), 0);
  assert_int_equal(pack(DIMENSIONS(3, 33), plain), 3 * 33 * 2);
}

static void an_invalid_packing_is_refused(void** state) {
  (void)state;
  const struct {
    hmn_packing packing;
    hmn_status status;
  } wrong[] = {
      {{.struct_size = sizeof(hmn_packing)}, HMN_E_ARGUMENT},
      {{.struct_size = sizeof(hmn_packing), .dtype = HMN_DTYPE_I4, .element_bits = 4},
       HMN_E_ARGUMENT},
      {{.struct_size = sizeof(hmn_packing), .dtype = HMN_DTYPE_I4, .group_bits = 16},
       HMN_E_ARGUMENT},
      {{.struct_size = sizeof(hmn_packing), .dtype = HMN_DTYPE_BOOL + 1}, HMN_E_RANGE},
      {{.struct_size = sizeof(hmn_packing), .element_bits = 65}, HMN_E_RANGE},
      {{.struct_size = sizeof(hmn_packing), .flags = 1, .dtype = 1}, HMN_E_UNKNOWN_FLAG},
      {{.struct_size = HMN_PACKING_SIZE_V1 - 8, .dtype = 1}, HMN_E_STRUCT_SIZE},
  };
  const uint64_t one = 1;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    uint64_t out = 99;
    assert_returns(hmn_estimate_packed(&one, 1, &wrong[i].packing, &out, &error), wrong[i].status);
    assert_int_equal(out, 0);
  }
}

static uint64_t attention(hmn_attention a) {
  uint64_t out = 99;
  a.struct_size = sizeof a;
  assert_returns(hmn_estimate_attention(&a, &out, &error), HMN_OK);
  return out;
}

static void attention_is_the_sum_of_its_parts(void** state) {
  (void)state;
  hmn_attention a = {.dtype = HMN_DTYPE_F32, .heads = 1, .sequence = 4, .head_dim = 2};
  assert_int_equal(attention(a), 96 + 64 + 32);
  a.batch = 1;
  assert_int_equal(attention(a), 192);
  a.batch = 3;
  assert_int_equal(attention(a), 3 * 192);
  a.flags = HMN_ATTENTION_FUSED;
  assert_int_equal(attention(a), 3 * (96 + 32));
  /* queries and output of 32 heads, keys and values of 8 */
  const hmn_attention grouped = {
      .dtype = HMN_DTYPE_BF16, .heads = 32, .kv_heads = 8, .sequence = 8192, .head_dim = 128};
  assert_int_equal(attention(grouped), 2 * (80 * 8192 * 128 + 32 * UINT64_C(8192) * 8192));
}

static void an_invalid_attention_is_refused(void** state) {
  (void)state;
  const hmn_attention valid = {.struct_size = sizeof valid,
                               .dtype = HMN_DTYPE_F16,
                               .heads = 2,
                               .sequence = 3,
                               .head_dim = 4};
  hmn_attention wrong[9];
  for (size_t i = 0; i < 9; ++i) wrong[i] = valid;
  wrong[0].heads = 0;
  wrong[1].sequence = 0;
  wrong[2].head_dim = 0;
  wrong[3].kv_heads = 3;
  wrong[4].dtype = 0;
  wrong[5].flags = 2;
  wrong[6].reserved0 = 1;
  wrong[7].sequence = UINT64_C(1) << 33;
  wrong[8].struct_size = HMN_ATTENTION_SIZE_V1 - 8;
  const hmn_status expected[] = {HMN_E_RANGE,        HMN_E_RANGE,    HMN_E_RANGE,
                                 HMN_E_RANGE,        HMN_E_RANGE,    HMN_E_UNKNOWN_FLAG,
                                 HMN_E_UNKNOWN_FLAG, HMN_E_OVERFLOW, HMN_E_STRUCT_SIZE};
  for (size_t i = 0; i < 9; ++i) {
    uint64_t out = 99;
    assert_returns(hmn_estimate_attention(&wrong[i], &out, &error), expected[i]);
    assert_int_equal(out, 0);
  }
}

static uint64_t cache(hmn_cache c, uint64_t sequence, uint64_t sequences) {
  uint64_t out = 99;
  c.struct_size = sizeof c;
  assert_returns(hmn_estimate_cache(&c, sequence, sequences, &out, &error), HMN_OK);
  return out;
}

static hmn_cache full_cache(uint64_t layers, uint64_t kv_heads, uint64_t head_dim) {
  const hmn_cache c = {
      .dtype = HMN_DTYPE_F16, .layers = layers, .kv_heads = kv_heads, .row_dim = head_dim};
  return c;
}

static void a_full_cache_grows_with_each_token(void** state) {
  (void)state;
  /* Keys of a token, and as many values. */
  assert_int_equal(2 * cache(full_cache(80, 64, 128), 1, 1), 2621440); /* Llama 2 70B, as if MHA */
  assert_int_equal(2 * cache(full_cache(80, 8, 128), 1, 1), 327680);   /* Llama 3 70B */
  assert_int_equal(2 * cache(full_cache(32, 1, 128), 1, 1), 16384);    /* MQA */
  assert_int_equal(2 * cache(full_cache(32, 8, 128), 1, 1), 131072);   /* Llama 3 8B */
  assert_int_equal(2 * cache(full_cache(1, 64, 128), 1, 1), 32768);    /* one layer of the first */
  assert_int_equal(2 * cache(full_cache(80, 64, 128), 32000, 1), UINT64_C(83886080000));
  assert_int_equal(2 * cache(full_cache(80, 8, 128), 32000, 1), UINT64_C(10485760000));
  assert_int_equal(2 * cache(full_cache(28, 4, 128), 8000, 1), 458752000);
  assert_int_equal(2 * cache(full_cache(32, 1, 128), 1024, 1), 16777216);
  assert_int_equal(2 * cache(full_cache(80, 8, 128), 8192, 4), UINT64_C(327680) * 8192 * 4);
  assert_int_equal(cache(full_cache(80, 8, 128), 0, 4), 0);
  assert_int_equal(cache(full_cache(80, 8, 128), 8192, 0), 0);
}

static void a_quantised_cache_includes_its_scales(void** state) {
  (void)state;
  hmn_cache q8_0 = full_cache(32, 8, 128);
  q8_0.dtype = HMN_DTYPE_I8;
  q8_0.group_size = 32;
  q8_0.group_bits = 16;
  assert_int_equal(cache(q8_0, 4096, 1), 32 * 8 * (128 / 32 * 34) * 4096);
  hmn_cache three_bits = full_cache(1, 1, 8);
  three_bits.dtype = 0;
  three_bits.element_bits = 3;
  assert_int_equal(cache(three_bits, 1, 1), 3);
}

/* Llama 3 8B with -ctk q8_0 -ctv q4_0, with a value as large as a key and with a smaller one. */
static void keys_and_values_may_differ_in_type_and_size(void** state) {
  (void)state;
  hmn_cache keys = full_cache(32, 8, 128);
  keys.dtype = HMN_DTYPE_I8;
  keys.group_size = 32;
  keys.group_bits = 16;
  hmn_cache values = keys;
  values.dtype = HMN_DTYPE_I4;
  uint64_t sides[] = {cache(keys, 4096, 1), cache(values, 4096, 1)}, sum = 0;
  assert_returns(hmn_estimate_sum(sides, 2, &sum, &error), HMN_OK);
  assert_int_equal(sum, 32 * 8 * (128 / 32) * (34 + 18) * 4096);
  values.row_dim = 64;
  sides[1] = cache(values, 4096, 1);
  assert_returns(hmn_estimate_sum(sides, 2, &sum, &error), HMN_OK);
  assert_int_equal(sum, 32 * 8 * (128 / 32 * 34 + 64 / 32 * 18) * 4096);
}

static void a_latent_cache_has_one_vector_per_layer(void** state) {
  (void)state;
  const hmn_cache v3 = {.kind = HMN_CACHE_LATENT,
                        .dtype = HMN_DTYPE_BF16,
                        .layers = 61,
                        .latent_dim = 512 + 64}; /* DeepSeek-V3, in each layer */
  assert_int_equal(cache(v3, 1, 1), 61 * 1152);
  assert_int_equal(cache(v3, 32 * ki, 1), 61 * 1152 * 32 * ki);
  assert_int_equal(cache(v3, 128 * ki, 2), 61 * 1152 * 128 * ki * 2);
}

static void a_window_cache_holds_at_most_its_window_and_sinks(void** state) {
  (void)state;
  hmn_cache c = full_cache(32, 8, 128);
  c.kind = HMN_CACHE_WINDOW;
  c.window = 4096;
  assert_int_equal(cache(c, 32000, 1), 536870912 / 2);
  assert_int_equal(cache(c, 1024, 1), 131072 / 2 * 1024);
  assert_int_equal(cache(c, 4096, 1), 536870912 / 2);
  assert_int_equal(cache(c, 4095, 1), 536870912 / 2 / 4096 * 4095);
  hmn_cache sinks = full_cache(80, 8, 128);
  sinks.kind = HMN_CACHE_WINDOW;
  sinks.sinks = 4;
  sinks.window = 2044;
  assert_int_equal(cache(sinks, 10000, 1), 671088640 / 2);
  assert_int_equal(cache(sinks, 3, 1), 327680 / 2 * 3);
  sinks.sinks = sinks.window = UINT64_MAX; /* larger than the sequence */
  assert_int_equal(cache(sinks, 10000, 1), UINT64_C(327680) / 2 * 10000);
}

static void a_state_cache_is_the_same_for_any_sequence(void** state) {
  (void)state;
  const hmn_cache ssm = {
      .kind = HMN_CACHE_STATE, .dtype = HMN_DTYPE_F16, .layers = 48, .state_elements = 64};
  assert_int_equal(cache(ssm, 1 * ki, 1), 6144);
  assert_int_equal(cache(ssm, 128 * ki, 1), 6144);
  assert_int_equal(cache(ssm, 0, 1), 6144);
  assert_int_equal(cache(ssm, 1 * ki, 5), 5 * 6144);
}

static void a_hybrid_cache_is_the_sum_of_its_kinds(void** state) {
  (void)state;
  const hmn_cache states = {
      .kind = HMN_CACHE_STATE, .dtype = HMN_DTYPE_F32, .layers = 30, .state_elements = 1 << 20};
  /* 10 layers of 40 are full attention */
  assert_int_equal(2 * cache(full_cache(10, 2, 256), 1, 1), 20480);
  const uint64_t side = cache(full_cache(10, 2, 256), ki, 1);
  const uint64_t parts[] = {side, side, cache(states, ki, 1)};
  uint64_t sum = 0;
  assert_returns(hmn_estimate_sum(parts, 3, &sum, &error), HMN_OK);
  assert_int_equal(sum, 20480 * ki + 30 * 4 * mi);
}

/* With one field of a valid cache changed. */
static void assert_refused(const hmn_cache* valid, size_t offset, uint64_t value,
                           hmn_status expected) {
  hmn_cache cache = *valid;
  uint64_t out = 99;
  memcpy((char*)&cache + offset, &value, sizeof value);
  print_message("  kind %u, offset %u\n", valid->kind, (unsigned)offset);
  assert_returns(hmn_estimate_cache(&cache, 1, 1, &out, &error), expected);
  assert_int_equal(out, 0);
}
#define NEEDS(valid, field) assert_refused(&valid, offsetof(hmn_cache, field), 0, HMN_E_RANGE)
#define REFUSES(valid, field) assert_refused(&valid, offsetof(hmn_cache, field), 1, HMN_E_ARGUMENT)

static void each_cache_kind_requires_its_own_fields(void** state) {
  (void)state;
  hmn_cache f = full_cache(1, 1, 1), w = full_cache(1, 1, 1);
  f.struct_size = w.struct_size = sizeof f;
  w.kind = HMN_CACHE_WINDOW;
  w.window = 1;
  const hmn_cache l = {
      .struct_size = sizeof l, .kind = HMN_CACHE_LATENT, .dtype = 1, .layers = 1, .latent_dim = 1};
  const hmn_cache s = {.struct_size = sizeof s,
                       .kind = HMN_CACHE_STATE,
                       .dtype = 1,
                       .layers = 1,
                       .state_elements = 1};
  NEEDS(f, layers), NEEDS(f, kv_heads), NEEDS(f, row_dim);
  REFUSES(f, window), REFUSES(f, sinks), REFUSES(f, latent_dim), REFUSES(f, state_elements);
  NEEDS(w, layers), NEEDS(w, kv_heads), NEEDS(w, row_dim), NEEDS(w, window);
  REFUSES(w, latent_dim), REFUSES(w, state_elements);
  NEEDS(l, layers), NEEDS(l, latent_dim);
  REFUSES(l, kv_heads), REFUSES(l, row_dim), REFUSES(l, window);
  REFUSES(l, sinks), REFUSES(l, state_elements);
  NEEDS(s, layers), NEEDS(s, state_elements);
  REFUSES(s, kv_heads), REFUSES(s, row_dim), REFUSES(s, window);
  REFUSES(s, sinks), REFUSES(s, latent_dim);
}

static void an_invalid_cache_is_refused(void** state) {
  (void)state;
  hmn_cache valid = full_cache(2, 3, 4);
  valid.struct_size = sizeof valid;
  hmn_cache wrong[8];
  for (size_t i = 0; i < 8; ++i) wrong[i] = valid;
  wrong[0].kind = HMN_CACHE_STATE + 1;
  wrong[1].dtype = 0;
  wrong[2].element_bits = 3;
  wrong[3].group_bits = 16;
  wrong[4].flags = 1;
  wrong[5].reserved0 = 1;
  wrong[6].layers = UINT64_MAX;
  wrong[7].struct_size = HMN_CACHE_SIZE_V1 + 4;
  const hmn_status expected[] = {HMN_E_RANGE,    HMN_E_ARGUMENT,     HMN_E_ARGUMENT,
                                 HMN_E_ARGUMENT, HMN_E_UNKNOWN_FLAG, HMN_E_UNKNOWN_FLAG,
                                 HMN_E_OVERFLOW, HMN_E_STRUCT_SIZE};
  for (size_t i = 0; i < 8; ++i) {
    uint64_t out = 99;
    assert_returns(hmn_estimate_cache(&wrong[i], 1, 1, &out, &error), expected[i]);
    assert_int_equal(out, 0);
  }
}

static uint64_t add_overhead(uint64_t bytes, uint32_t per_thousand) {
  uint64_t out = 99;
  assert_returns(hmn_estimate_overhead(bytes, per_thousand, &out, &error), HMN_OK);
  return out;
}

/* As rust-ai-core, but rounded up */
static void overhead_is_rounded_up(void** state) {
  (void)state;
  assert_int_equal(add_overhead(1000, 0), 1100);
  assert_int_equal(add_overhead(4000, 1100), 4400);
  assert_int_equal(add_overhead(1, 0), 2);
  assert_int_equal(add_overhead(10, 1050), 11); /* 10.5 */
  assert_int_equal(add_overhead(0, 0), 0);
  assert_int_equal(add_overhead(7, 1000), 7);
  assert_int_equal(add_overhead(1001, 500), 501);
  /* exact where a double is not: 1152921504606846977 * 1.1 is 1268213655067531674.7 */
  assert_true(add_overhead((UINT64_C(1) << 60) + 1, 0) == UINT64_C(1268213655067531675));
  assert_true(add_overhead(UINT64_MAX, 1000) == UINT64_MAX);
  uint64_t out = 99;
  assert_returns(hmn_estimate_overhead(UINT64_MAX, 1001, &out, &error), HMN_E_OVERFLOW);
  assert_returns(hmn_estimate_overhead(UINT64_MAX, UINT32_MAX, &out, &error), HMN_E_OVERFLOW);
  assert_int_equal(out, 0);
}

static void a_sum_above_64_bits_is_an_overflow(void** state) {
  (void)state;
  const uint64_t all[] = {UINT64_MAX - 3, 1, 2, 1};
  uint64_t out = 99;
  assert_returns(hmn_estimate_sum(all, 3, &out, &error), HMN_OK);
  assert_true(out == UINT64_MAX);
  assert_returns(hmn_estimate_sum(all, 4, &out, &error), HMN_E_OVERFLOW);
  assert_int_equal(out, 0);
  assert_returns(hmn_estimate_sum(NULL, 0, &out, &error), HMN_OK);
  assert_int_equal(out, 0);
  assert_returns(hmn_estimate_sum(NULL, 1, &out, &error), HMN_E_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tensor_has_the_bytes_of_its_elements),
      cmocka_unit_test(weights_have_the_bytes_of_their_parameters),
      cmocka_unit_test(rank_0_is_one_element_and_a_dimension_of_0_is_none),
      cmocka_unit_test(a_tensor_is_rounded_up_to_whole_bytes_once),
      cmocka_unit_test(a_size_above_64_bits_is_an_overflow),
      cmocka_unit_test(an_unknown_dtype_is_refused),
      cmocka_unit_test(a_packed_tensor_includes_its_scales),
      cmocka_unit_test(a_group_does_not_span_two_rows),
      cmocka_unit_test(an_invalid_packing_is_refused),
      cmocka_unit_test(attention_is_the_sum_of_its_parts),
      cmocka_unit_test(an_invalid_attention_is_refused),
      cmocka_unit_test(a_full_cache_grows_with_each_token),
      cmocka_unit_test(a_quantised_cache_includes_its_scales),
      cmocka_unit_test(keys_and_values_may_differ_in_type_and_size),
      cmocka_unit_test(a_latent_cache_has_one_vector_per_layer),
      cmocka_unit_test(a_window_cache_holds_at_most_its_window_and_sinks),
      cmocka_unit_test(a_state_cache_is_the_same_for_any_sequence),
      cmocka_unit_test(a_hybrid_cache_is_the_sum_of_its_kinds),
      cmocka_unit_test(each_cache_kind_requires_its_own_fields),
      cmocka_unit_test(an_invalid_cache_is_refused),
      cmocka_unit_test(overhead_is_rounded_up),
      cmocka_unit_test(a_sum_above_64_bits_is_an_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
