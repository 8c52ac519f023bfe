/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"

static const uint32_t past_any_version = 65536;

static int has_size(size_t i) {
  return calls[i].size_v1 != 0;
}

static void an_invalid_struct_size_is_refused_and_nothing_is_written(void** state) {
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!has_size(i)) continue;
    const uint32_t v1 = calls[i].size_v1;
    const uint32_t refused[] = {
        0,      4,      8,      v1 - 8,      v1 - 1,      v1 + 1,      v1 + 4,      65535u,
        65537u, 65540u, 65544u, 0x80000000u, 0xAAAAAAA8u, 0xAAAAAAAAu, 0xFFFFFFF8u, 0xFFFFFFFFu};
    for (size_t j = 0; j < sizeof refused / sizeof refused[0]; ++j) {
      NEW(hmn_error, error);
      void* out = guard_arm(g, refused[j]);
      print_message("  %s %u\n", calls[i].name, refused[j]);
      assert_status(calls[i].run(*state, out, &error), HMN_E_STRUCT_SIZE);
      assert_untouched_from(g, sizeof(uint32_t));
      assert_memory_equal(out, &refused[j], sizeof refused[j]);
      assert_reported(&error, HMN_E_STRUCT_SIZE);
    }
  }
  free(g);
}

static void every_byte_up_to_struct_size_is_written_and_none_after_it(void** state) {
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!has_size(i)) continue;
    const uint32_t v1 = calls[i].size_v1;
    const uint32_t newest = calls[i].size;
    const uint32_t sizes[] = {v1, v1 + 8, newest, newest + 256, past_any_version};
    for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; ++j) {
      print_message("  %s %u\n", calls[i].name, sizes[j]);
      assert_status(calls[i].run(*state, guard_arm(g, sizes[j]), NULL), HMN_OK);
      assert_untouched_from(g, sizes[j]);
      assert_memory_equal(g->bytes, &sizes[j], sizeof sizes[j]);
      const uint32_t known_size = sizes[j] < newest ? sizes[j] : newest;
      assert_true(is_zero((char*)g->bytes + known_size, sizes[j] - known_size));
    }
  }
  free(g);
}

static void a_failed_call_leaves_zeros_up_to_struct_size(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  const uint32_t sizes[] = {HMN_POOL_SIZE_V1, HMN_POOL_SIZE_V1 + 8, past_any_version};
  guarded* g = guard_new();
  for (size_t i = 0; i < 3; ++i) {
    assert_returns(hmn_pool_read(context, 999, HMN_POOL_MAIN, 0, 0, guard_arm(g, sizes[i]), &error),
                   HMN_E_NO_DEVICE);
    assert_cleared(g, sizes[i]);
  }
  assert_status(hmn_snapshot_read(NULL, guard_arm(g, past_any_version), NULL), HMN_E_ARGUMENT);
  assert_cleared(g, past_any_version);
  free(g);
}

static void an_invalid_error_size_refuses_the_call_before_it_does_anything(void** state) {
  const uint32_t refused[] = {0,      8,          HMN_ERROR_SIZE_V1 - 8, HMN_ERROR_SIZE_V1 + 4,
                              65544u, 0xAAAAAAAAu};
  guarded* out = guard_new();
  guarded* error = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (strncmp(calls[i].name, "hmn_spill_", 10) == 0) continue; /* a detector is created first */
    for (size_t j = 0; j < sizeof refused / sizeof refused[0]; ++j) {
      print_message("  %s %u\n", calls[i].name, refused[j]);
      const uint32_t size = calls[i].size_v1;
      assert_status(calls[i].run(*state, guard_arm(out, size), guard_arm(error, refused[j])),
                    HMN_E_STRUCT_SIZE);
      assert_untouched_from(error, sizeof(uint32_t));
      if (size > 0) assert_untouched_from(out, sizeof(uint32_t));
    }
  }
  free(error);
  free(out);
}

static void create_and_set_path_check_the_error_size_too(void** state) {
  (void)state;
  hmn_error error = {.struct_size = 12};
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, &error), HMN_E_STRUCT_SIZE);
  assert_null(context);
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_status(hmn_context_set_path(context, HMN_PATH_PROC, HMN_TEST_ROOT "/nowhere", &error),
                HMN_E_STRUCT_SIZE);
  NEW(hmn_process_memory, memory);
  assert_status(hmn_process_memory_read_self(context, 0, &memory, NULL), HMN_OK);
  hmn_context_destroy(context);
}

static void an_error_of_any_allowed_size_is_written_completely(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  const uint32_t sizes[] = {HMN_ERROR_SIZE_V1, HMN_ERROR_SIZE_V1 + 8, past_any_version};
  guarded* g = guard_new();
  for (size_t i = 0; i < 3; ++i) {
    NEW(hmn_pool, pool);
    hmn_error* error = guard_arm(g, sizes[i]);
    assert_status(hmn_pool_read(context, 0, 0, 0, 0, &pool, error), HMN_OK);
    assert_cleared(g, sizes[i]);
    error = guard_arm(g, sizes[i]);
    assert_status(hmn_pool_read(context, 999, 0, 0, 0, &pool, error), HMN_E_NO_DEVICE);
    assert_untouched_from(g, sizes[i]);
    assert_true(is_zero((char*)g->bytes + HMN_ERROR_SIZE_V1, sizes[i] - HMN_ERROR_SIZE_V1));
    assert_status(error->status, HMN_E_NO_DEVICE);
  }
  free(g);
}

static void a_struct_ends_with_its_newest_version(void** state) {
  (void)state;
  assert_int_equal(sizeof(hmn_error), HMN_ERROR_SIZE_V1);
  assert_int_equal(sizeof(hmn_backend_info), HMN_BACKEND_INFO_SIZE_V1);
  assert_int_equal(sizeof(hmn_process_memory), HMN_PROCESS_MEMORY_SIZE_V1);
  assert_int_equal(sizeof(hmn_system_memory), HMN_SYSTEM_MEMORY_SIZE_V1);
  assert_int_equal(sizeof(hmn_device), HMN_DEVICE_SIZE_V1);
  assert_int_equal(sizeof(hmn_pool), HMN_POOL_SIZE_V1);
  assert_int_equal(sizeof(hmn_telemetry), HMN_TELEMETRY_SIZE_V1);
  assert_int_equal(sizeof(hmn_metric), HMN_METRIC_SIZE_V1);
  assert_int_equal(sizeof(hmn_usage), HMN_USAGE_SIZE_V1);
  assert_int_equal(sizeof(hmn_snapshot_info), HMN_SNAPSHOT_INFO_SIZE_V1);
  assert_int_equal(sizeof(hmn_group), HMN_GROUP_SIZE_V1);
  assert_int_equal(sizeof(hmn_diagnostic), HMN_DIAGNOSTIC_SIZE_V1);
  assert_int_equal(sizeof(hmn_delta), HMN_DELTA_SIZE_V1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_invalid_struct_size_is_refused_and_nothing_is_written),
      cmocka_unit_test(every_byte_up_to_struct_size_is_written_and_none_after_it),
      cmocka_unit_test(a_failed_call_leaves_zeros_up_to_struct_size),
      cmocka_unit_test(an_invalid_error_size_refuses_the_call_before_it_does_anything),
      cmocka_unit_test(create_and_set_path_check_the_error_size_too),
      cmocka_unit_test(an_error_of_any_allowed_size_is_written_completely),
      cmocka_unit_test(a_struct_ends_with_its_newest_version),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
