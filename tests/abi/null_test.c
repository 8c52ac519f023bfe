/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"

/* HMN_E_ARGUMENT: a required pointer is NULL. */
#define assert_refuses_null(call) assert_returns(call, HMN_E_ARGUMENT)

static void destroy_accepts_null(void** state) {
  (void)state;
  hmn_context_destroy(NULL);
  hmn_snapshot_destroy(NULL);
  hmn_sampler_destroy(NULL);
  hmn_tracker_destroy(NULL);
}

static void a_null_result_is_an_argument_error(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  assert_refuses_null(hmn_context_create(NULL, NULL, &error));
  assert_refuses_null(hmn_context_backend(context, HMN_BACKEND_OS, NULL, &error));
  assert_refuses_null(hmn_process_memory_read(context, 1, 0, NULL, &error));
  assert_refuses_null(hmn_process_memory_read_self(context, 0, NULL, &error));
  assert_refuses_null(hmn_system_memory_read(context, 0, NULL, &error));
  assert_refuses_null(hmn_device_find(context, "driver:nvidia:0", NULL, &error));
  assert_refuses_null(hmn_device_read(context, 0, 0, NULL, &error));
  assert_refuses_null(hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, NULL, &error));
  assert_refuses_null(hmn_telemetry_read(context, 0, 0, NULL, &error));
  NEW(hmn_metric_key, key);
  key.id = HMN_METRIC_TEMPERATURE;
  assert_refuses_null(hmn_metric_read(context, 0, &key, 0, NULL, &error));
  assert_refuses_null(hmn_usage_read(context, 0, 1, 0, NULL, &error));
  assert_refuses_null(hmn_usage_read_self(context, 0, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_take(context, NULL, NULL, &error));
  assert_refuses_null(hmn_sampler_create(context, NULL, NULL, NULL, &error));
}

static void a_null_result_of_a_sampler_is_an_argument_error(void** state) {
  hmn_sampler* sampler = ((fixture*)*state)->sampler;
  assert_refuses_null(hmn_sampler_next(sampler, 0, NULL, &error));
  assert_refuses_null(hmn_sampler_handle(sampler, NULL, &error));
  assert_status(hmn_sampler_read(sampler, NULL, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_sampler_latest_pool(sampler, 0, NULL, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, NULL, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_sampler_peak(sampler, 0, 1, NULL, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_sampler_peak_device(sampler, 0, NULL, NULL), HMN_E_ARGUMENT);
}

static void a_null_sampler_is_an_argument_error(void** state) {
  (void)state;
  assert_refuses_null(hmn_sampler_start(NULL, &error));
  assert_refuses_null(hmn_sampler_stop(NULL, &error));
}

static void a_null_argument_of_a_spill_is_an_argument_error(void** state) {
  (void)state;
  NEW(hmn_spill_sample, sample);
  assert_refuses_null(hmn_spill_create(NULL, 0, NULL, NULL, &error));
  assert_refuses_null(hmn_spill_observe(NULL, "", &error));
  assert_refuses_null(hmn_spill_observe_snapshot(NULL, NULL, "", &error));
  assert_refuses_null(hmn_spill_feed(NULL, &sample, "", &error));
  hmn_spill* spill = NULL;
  assert_returns(hmn_spill_create(NULL, 0, NULL, &spill, &error), HMN_OK);
  assert_refuses_null(hmn_spill_observe_snapshot(spill, NULL, "", &error));
  assert_refuses_null(hmn_spill_feed(spill, NULL, "", &error));
  assert_status(hmn_spill_read(spill, NULL, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_spill_episode(spill, 0, NULL, NULL), HMN_E_ARGUMENT);
  assert_returns(hmn_spill_feed(spill, &sample, NULL, &error), HMN_OK);
  hmn_spill_destroy(spill);
  hmn_spill_destroy(NULL);
}

static void a_null_tracker_is_an_argument_error(void** state) {
  const fixture* f = *state;
  uint32_t tag = 7;
  assert_refuses_null(hmn_tracker_allocate(NULL, 1, &error));
  assert_refuses_null(hmn_tracker_release(NULL, 1, &error));
  assert_refuses_null(hmn_tracker_allocate_tagged(NULL, 1, 1, &error));
  assert_refuses_null(hmn_tracker_release_tagged(NULL, 1, 1, &error));
  assert_refuses_null(hmn_tracker_would_fit(NULL, 1, &error));
  assert_refuses_null(hmn_tracker_set_limit(NULL, 1, &error));
  assert_refuses_null(hmn_tracker_reset(NULL, &error));
  assert_refuses_null(hmn_tracker_tag(NULL, "tag", &tag, &error));
  assert_int_equal(tag, 0);
  assert_refuses_null(hmn_tracker_tag(f->tracker, NULL, &tag, &error));
  assert_refuses_null(hmn_tracker_tag(f->tracker, "tag", NULL, &error));
  assert_refuses_null(hmn_tracker_read(f->tracker, NULL, &error));
  assert_refuses_null(hmn_tracker_read_tag(f->tracker, 1, NULL, &error));
  assert_refuses_null(hmn_tracker_create(f->context, 0, NULL, NULL, &error));
}

static void a_null_argument_of_an_estimate_is_an_argument_error(void** state) {
  (void)state;
  const uint64_t one = 1;
  const hmn_packing packing = {.struct_size = sizeof packing, .dtype = HMN_DTYPE_U8};
  const hmn_attention attention = {.struct_size = sizeof attention,
                                   .dtype = HMN_DTYPE_U8,
                                   .heads = 1,
                                   .sequence = 1,
                                   .head_dim = 1};
  const hmn_cache cache = {
      .struct_size = sizeof cache, .dtype = HMN_DTYPE_U8, .layers = 1, .kv_heads = 1, .row_dim = 1};
  uint64_t out = 7;
  uint32_t dtype = 7;
  assert_refuses_null(hmn_estimate_packed(&one, 1, NULL, &out, &error));
  assert_int_equal(out, 0);
  assert_refuses_null(hmn_estimate_attention(NULL, &out, &error));
  assert_refuses_null(hmn_estimate_cache(NULL, 1, 1, &out, &error));
  assert_refuses_null(hmn_estimate_tensor(&one, 1, HMN_DTYPE_U8, NULL, &error));
  assert_refuses_null(hmn_estimate_packed(&one, 1, &packing, NULL, &error));
  assert_refuses_null(hmn_estimate_attention(&attention, NULL, &error));
  assert_refuses_null(hmn_estimate_cache(&cache, 1, 1, NULL, &error));
  assert_refuses_null(hmn_estimate_overhead(1, 0, NULL, &error));
  assert_refuses_null(hmn_estimate_sum(&one, 1, NULL, &error));
  assert_refuses_null(hmn_dtype_from_name(NULL, &dtype, &error));
  assert_int_equal(dtype, 0);
  assert_refuses_null(hmn_dtype_from_name("u8", NULL, &error));
}

static void a_null_struct_of_a_snapshot_is_an_argument_error(void** state) {
  const fixture* f = *state;
  assert_refuses_null(hmn_snapshot_read(f->after, NULL, &error));
  assert_refuses_null(hmn_snapshot_memory(f->after, NULL, &error));
  assert_refuses_null(hmn_snapshot_system(f->after, NULL, &error));
  assert_refuses_null(hmn_snapshot_device_at(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_find_telemetry(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_find_self(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_find_pool(f->after, 0, HMN_POOL_MAIN, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_pool_at(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_usage_at(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_diagnostic_at(f->after, 0, NULL, &error));
  NEW(hmn_reason_key, reason_key);
  reason_key.subject = HMN_COLLECT_POOLS;
  assert_refuses_null(hmn_snapshot_reason(f->after, &reason_key, NULL, &error));
  NEW(hmn_diagnostic, reason);
  assert_refuses_null(hmn_snapshot_reason(f->after, NULL, &reason, &error));
  assert_refuses_null(hmn_snapshot_group_at(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_snapshot_metric_at(f->after, 0, NULL, &error));
  assert_refuses_null(hmn_delta_read(f->before, f->after, 0, NULL, &error));
}

static void a_null_handle_is_an_argument_error_and_leaves_a_zero_result(void** state) {
  (void)state;
  const fixture nothing = {NULL, NULL, NULL, NULL, NULL};
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    NEW(hmn_error, error);
    print_message("  %s\n", calls[i].name);
    const uint32_t size = calls[i].size_v1;
    assert_status(calls[i].run(&nothing, guard_arm(g, size), &error), HMN_E_ARGUMENT);
    if (size > 0) assert_cleared(g, size);
    assert_reported(&error, HMN_E_ARGUMENT);
  }
  free(g);
}

static void a_failed_call_sets_counts_and_handles_to_zero(void** state) {
  const fixture* f = *state;
  uint32_t number = 7;
  uint64_t generation = 7;
  assert_refuses_null(hmn_device_scan(NULL, &number, &generation, &error));
  assert_int_equal(number, 0);
  assert_int_equal(generation, 0);
  number = 7;
  assert_refuses_null(hmn_device_find(NULL, "driver:nvidia:0", &number, &error));
  assert_int_equal(number, 0);
  number = 7;
  assert_refuses_null(hmn_device_find(f->context, NULL, &number, &error));
  assert_int_equal(number, 0);
  hmn_snapshot* snapshot = f->before;
  assert_refuses_null(hmn_snapshot_take(NULL, NULL, &snapshot, &error));
  assert_null(snapshot);
  snapshot = f->before;
  assert_refuses_null(hmn_sampler_next(NULL, 0, &snapshot, &error));
  assert_null(snapshot);
  hmn_sampler* sampler = f->sampler;
  assert_refuses_null(hmn_sampler_create(NULL, NULL, NULL, &sampler, &error));
  assert_null(sampler);
}

static void set_path_without_a_context_is_an_argument_error(void** state) {
  (void)state;
  assert_refuses_null(hmn_context_set_path(NULL, HMN_PATH_PROC, HMN_TEST_ROOT "/proc", &error));
}

static void cancel_without_a_context_is_an_argument_error(void** state) {
  (void)state;
  assert_refuses_null(hmn_context_cancel(NULL, &error));
  assert_refuses_null(hmn_context_resume(NULL, &error));
}

static void a_null_value_means_the_default_path(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, HMN_TEST_ROOT "/nowhere", &error),
                 HMN_OK);
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, NULL, &error), HMN_OK);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(context, 0, &memory, &error), HMN_OK);
  hmn_context_destroy(context);
}

static void a_null_error_is_allowed_everywhere(void** state) {
  const fixture* f = *state;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    print_message("  %s\n", calls[i].name);
    assert_status(calls[i].run(f, guard_arm(g, calls[i].size_v1), NULL), HMN_OK);
  }
  free(g);
  assert_status(hmn_context_set_path(f->context, HMN_PATH_PROC, HMN_TEST_ROOT "/proc", NULL),
                HMN_E_STATE);
}

static void a_report_requires_both_snapshots(void** state) {
  const fixture* f = *state;
  const hmn_snapshot* sides[][2] = {{NULL, f->after}, {f->before, NULL}, {NULL, NULL}};
  for (size_t i = 0; i < 3; ++i) {
    NEW(hmn_delta, delta);
    char text[64];
    uint32_t needed = 9;
    assert_refuses_null(hmn_delta_read(sides[i][0], sides[i][1], 0, &delta, &error));
    assert_refuses_null(
        hmn_report_delta(sides[i][0], sides[i][1], 0, "a", 0, text, sizeof text, &needed, &error));
    assert_refuses_null(hmn_report_before_after(sides[i][0], sides[i][1], 0, "a", 0, text,
                                                sizeof text, &needed, &error));
  }
}

static void a_report_requires_a_label(void** state) {
  const fixture* f = *state;
  char text[256];
  uint32_t needed = 0;
  assert_refuses_null(
      hmn_report_delta(f->before, f->after, 0, NULL, 0, text, sizeof text, &needed, &error));
  assert_refuses_null(
      hmn_report_before_after(f->before, f->after, 0, NULL, 0, text, sizeof text, &needed, &error));
}

static void text_of_a_null_snapshot_is_an_argument_error(void** state) {
  (void)state;
  char text[64];
  uint32_t needed = 9;
  assert_refuses_null(
      hmn_snapshot_text_at(NULL, HMN_TEXT_PROCESS_NAME, 0, text, sizeof text, &needed, &error));
  assert_refuses_null(
      hmn_format_device(NULL, 0, HMN_FORMAT_FREE, 0, text, sizeof text, &needed, &error));
  assert_refuses_null(hmn_context_recording(NULL, 0, text, sizeof text, &needed, &error));
  assert_refuses_null(hmn_format_json(NULL, 0, text, sizeof text, &needed, &error));
}

static void a_null_buffer_with_a_capacity_is_an_argument_error(void** state) {
  for (size_t i = 0; i < text_call_count; ++i) {
    uint32_t needed = 9;
    print_message("  %s\n", text_calls[i].name);
    assert_refuses_null(text_calls[i].run(*state, NULL, 8, &needed, &error));
    assert_int_equal(needed, 0);
    assert_status(text_calls[i].run(*state, NULL, 8, NULL, NULL), HMN_E_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(destroy_accepts_null),
      cmocka_unit_test(a_null_result_is_an_argument_error),
      cmocka_unit_test(a_null_result_of_a_sampler_is_an_argument_error),
      cmocka_unit_test(a_null_sampler_is_an_argument_error),
      cmocka_unit_test(a_null_argument_of_a_spill_is_an_argument_error),
      cmocka_unit_test(a_null_tracker_is_an_argument_error),
      cmocka_unit_test(a_null_argument_of_an_estimate_is_an_argument_error),
      cmocka_unit_test(a_null_struct_of_a_snapshot_is_an_argument_error),
      cmocka_unit_test(a_null_handle_is_an_argument_error_and_leaves_a_zero_result),
      cmocka_unit_test(a_failed_call_sets_counts_and_handles_to_zero),
      cmocka_unit_test(set_path_without_a_context_is_an_argument_error),
      cmocka_unit_test(cancel_without_a_context_is_an_argument_error),
      cmocka_unit_test(a_null_value_means_the_default_path),
      cmocka_unit_test(a_null_error_is_allowed_everywhere),
      cmocka_unit_test(a_report_requires_both_snapshots),
      cmocka_unit_test(a_report_requires_a_label),
      cmocka_unit_test(text_of_a_null_snapshot_is_an_argument_error),
      cmocka_unit_test(a_null_buffer_with_a_capacity_is_an_argument_error),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
