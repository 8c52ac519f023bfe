/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/suite.h"

static void each_dtype_has_bits_and_a_name(void** state) {
  (void)state;
  static const struct {
    uint32_t dtype, bits;
    const char* name;
  } all[] = {
      {HMN_DTYPE_U8, 8, "u8"},         {HMN_DTYPE_I8, 8, "i8"},
      {HMN_DTYPE_U16, 16, "u16"},      {HMN_DTYPE_I16, 16, "i16"},
      {HMN_DTYPE_U32, 32, "u32"},      {HMN_DTYPE_I32, 32, "i32"},
      {HMN_DTYPE_U64, 64, "u64"},      {HMN_DTYPE_I64, 64, "i64"},
      {HMN_DTYPE_F16, 16, "f16"},      {HMN_DTYPE_BF16, 16, "bf16"},
      {HMN_DTYPE_F32, 32, "f32"},      {HMN_DTYPE_F64, 64, "f64"},
      {HMN_DTYPE_F8E4M3, 8, "f8e4m3"}, {HMN_DTYPE_F8E5M2, 8, "f8e5m2"},
      {HMN_DTYPE_F8E8M0, 8, "f8e8m0"}, {HMN_DTYPE_F6E2M3, 6, "f6e2m3"},
      {HMN_DTYPE_F6E3M2, 6, "f6e3m2"}, {HMN_DTYPE_F4, 4, "f4"},
      {HMN_DTYPE_I4, 4, "i4"},         {HMN_DTYPE_U4, 4, "u4"},
      {HMN_DTYPE_BOOL, 8, "bool"},
  };
  for (uint32_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    assert_int_equal(all[i].dtype, i + 1);
    assert_int_equal(hmn_dtype_bits(all[i].dtype), all[i].bits);
    assert_string_equal(hmn_dtype_name(all[i].dtype), all[i].name);
    uint32_t number = 99;
    assert_returns(hmn_dtype_from_name(all[i].name, &number, &error), HMN_OK);
    assert_int_equal(number, all[i].dtype);
  }
}

static void an_unknown_dtype_has_no_bits(void** state) {
  (void)state;
  const uint32_t unknown[] = {HMN_DTYPE_UNKNOWN, HMN_DTYPE_BOOL + 1, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    assert_int_equal(hmn_dtype_bits(unknown[i]), 0);
    assert_string_equal(hmn_dtype_name(unknown[i]), "unknown");
  }
}

static void spellings_of_other_libraries_are_accepted(void** state) {
  (void)state;
  static const struct {
    const char* name;
    uint32_t dtype;
  } all[] = {
      {"F32", HMN_DTYPE_F32},
      {"float32", HMN_DTYPE_F32},
      {"Float32", HMN_DTYPE_F32},
      {"fp32", HMN_DTYPE_F32},
      {"float", HMN_DTYPE_F32},
      {"torch.float32", HMN_DTYPE_F32},
      {"BF16", HMN_DTYPE_BF16},
      {"torch.bfloat16", HMN_DTYPE_BF16},
      {"fp16", HMN_DTYPE_F16},
      {"half", HMN_DTYPE_F16},
      {"float64", HMN_DTYPE_F64},
      {"double", HMN_DTYPE_F64},
      {"uint8", HMN_DTYPE_U8},
      {"byte", HMN_DTYPE_U8},
      {"int8", HMN_DTYPE_I8},
      {"uint16", HMN_DTYPE_U16},
      {"short", HMN_DTYPE_I16},
      {"uint32", HMN_DTYPE_U32},
      {"int", HMN_DTYPE_I32},
      {"uint64", HMN_DTYPE_U64},
      {"long", HMN_DTYPE_I64},
      {"BOOL", HMN_DTYPE_BOOL},
      {"bool_", HMN_DTYPE_BOOL},
      {"F8_E4M3", HMN_DTYPE_F8E4M3},
      {"float8_e4m3fn", HMN_DTYPE_F8E4M3},
      {"torch.float8_e4m3fnuz", HMN_DTYPE_F8E4M3},
      {"fp8", HMN_DTYPE_F8E4M3},
      {"fp8_e5m2", HMN_DTYPE_F8E5M2},
      {"float8_e5m2", HMN_DTYPE_F8E5M2},
      {"float8_e8m0fnu", HMN_DTYPE_F8E8M0},
      {"F6_E2M3", HMN_DTYPE_F6E2M3},
      {"float6_e3m2fn", HMN_DTYPE_F6E3M2},
      {"float4_e2m1fn", HMN_DTYPE_F4},
      {"fp4", HMN_DTYPE_F4},
      {"int4", HMN_DTYPE_I4},
      {"uint4", HMN_DTYPE_U4},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    uint32_t number = 99;
    print_message("  %s\n", all[i].name);
    assert_returns(hmn_dtype_from_name(all[i].name, &number, &error), HMN_OK);
    assert_int_equal(number, all[i].dtype);
  }
}

static void an_unknown_name_is_refused_with_a_message_that_quotes_it(void** state) {
  (void)state;
  const char* names[] = {"",       "_",     "unknown",         "invalid", "f33",      "f3",  "f322",
                         "torch.", "torch", "torch.torch.f32", "f32 ",    "\xc3\xa9", "q4_0"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    uint32_t number = 99;
    NEW(hmn_error, error);
    print_message("  \"%s\"\n", names[i]);
    assert_status(hmn_dtype_from_name(names[i], &number, &error), HMN_E_ARGUMENT);
    assert_reported(&error, HMN_E_ARGUMENT);
    assert_non_null(strstr(error.message, names[i]));
    assert_int_equal(number, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_dtype_has_bits_and_a_name),
      cmocka_unit_test(an_unknown_dtype_has_no_bits),
      cmocka_unit_test(spellings_of_other_libraries_are_accepted),
      cmocka_unit_test(an_unknown_name_is_refused_with_a_message_that_quotes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
