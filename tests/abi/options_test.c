/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../bindings/c/records.h"
#include "support/calls.h"

enum { ALL_CONTEXT_FLAGS = 63, ALL_SNAPSHOT_FLAGS = 31 };

static hmn_status create_context(const void* options) {
  NEW(hmn_error, error);
  hmn_context* context = (hmn_context*)&error;
  const hmn_status status = hmn_context_create(options, &context, &error);
  assert_reported(&error, status);
  assert_int_equal(context != NULL, status == HMN_OK);
  hmn_context_destroy(context);
  return status;
}

static hmn_status take_snapshot(hmn_context* context, const void* options) {
  NEW(hmn_error, error);
  hmn_snapshot* snapshot = (hmn_snapshot*)&error;
  const hmn_status status = hmn_snapshot_take(context, options, &snapshot, &error);
  assert_reported(&error, status);
  assert_int_equal(snapshot != NULL, status == HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return status;
}

static hmn_status read_metric(hmn_context* context, hmn_metric_key* key) {
  NEW(hmn_error, error);
  NEW(hmn_metric, metric);
  if (key->struct_size >= HMN_METRIC_KEY_SIZE_V1 && key->struct_size <= 65536) {
    key->id = HMN_METRIC_PCIE_REPLAYS;
  }
  const hmn_status status = hmn_metric_read(context, 0, key, 0, &metric, &error);
  assert_reported(&error, status);
  return status;
}

static hmn_status read_reason(const hmn_snapshot* snapshot, hmn_reason_key* key) {
  NEW(hmn_error, error);
  NEW(hmn_diagnostic, reason);
  if (key->struct_size >= HMN_REASON_KEY_SIZE_V1 && key->struct_size <= 65536) {
    key->subject = HMN_COLLECT_POOLS;
  }
  const hmn_status status = hmn_snapshot_reason(snapshot, key, &reason, &error);
  assert_reported(&error, status);
  return status;
}

static void* zeroed(guarded* g, uint32_t size) {
  guard_arm(g, size);
  memset((char*)g->bytes + sizeof size, 0, size - sizeof size);
  return g->bytes;
}

static const uint32_t refused_sizes[] = {0, 4, 8, 65537, 65544, 0xAAAAAAAAu, 0xFFFFFFFFu};

static void an_invalid_struct_size_is_refused(void** state) {
  const fixture* f = *state;
  guarded* g = guard_new();
  for (size_t i = 0; i < sizeof refused_sizes / sizeof refused_sizes[0]; ++i) {
    memset(g, 0, sizeof *g);
    memcpy(g->bytes, &refused_sizes[i], sizeof refused_sizes[i]);
    assert_status(create_context(g->bytes), HMN_E_STRUCT_SIZE);
    assert_status(take_snapshot(f->context, g->bytes), HMN_E_STRUCT_SIZE);
    assert_status(read_metric(f->context, (hmn_metric_key*)g->bytes), HMN_E_STRUCT_SIZE);
    assert_status(read_reason(f->after, (hmn_reason_key*)g->bytes), HMN_E_STRUCT_SIZE);
  }
  assert_status(create_context(zeroed(g, HMN_CONTEXT_OPTIONS_SIZE_V1 - 8)), HMN_E_STRUCT_SIZE);
  assert_status(create_context(zeroed(g, HMN_CONTEXT_OPTIONS_SIZE_V1 + 4)), HMN_E_STRUCT_SIZE);
  assert_status(take_snapshot(f->context, zeroed(g, HMN_SNAPSHOT_OPTIONS_SIZE_V1 - 8)),
                HMN_E_STRUCT_SIZE);
  assert_status(take_snapshot(f->context, zeroed(g, HMN_SNAPSHOT_OPTIONS_SIZE_V1 + 4)),
                HMN_E_STRUCT_SIZE);
  assert_status(read_metric(f->context, zeroed(g, HMN_METRIC_KEY_SIZE_V1 + 4)), HMN_E_STRUCT_SIZE);
  assert_status(read_reason(f->after, zeroed(g, HMN_REASON_KEY_SIZE_V1 + 4)), HMN_E_STRUCT_SIZE);
  free(g);
}

static void a_longer_struct_with_a_zero_tail_is_accepted(void** state) {
  const fixture* f = *state;
  const uint32_t sizes[] = {72, 80, 1024, 65536};
  guarded* g = guard_new();
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    assert_status(create_context(zeroed(g, sizes[i])), HMN_OK);
    assert_status(take_snapshot(f->context, zeroed(g, sizes[i])), HMN_OK);
    assert_status(read_metric(f->context, zeroed(g, sizes[i])), HMN_OK);
    assert_status(read_reason(f->after, zeroed(g, sizes[i])), HMN_OK);
  }
  free(g);
}

static void a_nonzero_byte_after_the_known_fields_is_refused(void** state) {
  const fixture* f = *state;
  guarded* g = guard_new();
  for (uint32_t more = 8; more <= 4096; more *= 8) {
    const uint32_t offsets[] = {0, 1, more / 2, more - 1};
    for (size_t i = 0; i < 4; ++i) {
      char* bytes = zeroed(g, HMN_CONTEXT_OPTIONS_SIZE_V1 + more);
      bytes[HMN_CONTEXT_OPTIONS_SIZE_V1 + offsets[i]] = 1;
      assert_status(create_context(bytes), HMN_E_UNKNOWN_FLAG);
      bytes = zeroed(g, HMN_SNAPSHOT_OPTIONS_SIZE_V1 + more);
      bytes[HMN_SNAPSHOT_OPTIONS_SIZE_V1 + offsets[i]] = 1;
      assert_status(take_snapshot(f->context, bytes), HMN_E_UNKNOWN_FLAG);
    }
  }
  free(g);
}

static void bytes_after_struct_size_are_ignored(void** state) {
  const fixture* f = *state;
  guarded* g = guard_new();
  assert_status(create_context(zeroed(g, HMN_CONTEXT_OPTIONS_SIZE_V1)), HMN_OK);
  assert_untouched_from(g, HMN_CONTEXT_OPTIONS_SIZE_V1);
  assert_status(take_snapshot(f->context, zeroed(g, HMN_SNAPSHOT_OPTIONS_SIZE_V1)), HMN_OK);
  assert_untouched_from(g, HMN_SNAPSHOT_OPTIONS_SIZE_V1);
  free(g);
}

static void an_unknown_flag_is_refused(void** state) {
  const fixture* f = *state;
  for (unsigned bit = 0; bit < 32; ++bit) {
    NEW(hmn_context_options, context);
    context.flags = 1u << bit;
    const int is_known = (context.flags & ALL_CONTEXT_FLAGS) != 0;
    assert_status(create_context(&context), is_known ? HMN_OK : HMN_E_UNKNOWN_FLAG);

    NEW(hmn_snapshot_options, collect);
    collect.collect = 1u << bit;
    const int is_subject = (collect.collect & EVERYTHING) != 0;
    assert_status(take_snapshot(f->context, &collect), is_subject ? HMN_OK : HMN_E_UNKNOWN_FLAG);

    NEW(hmn_snapshot_options, snapshot);
    snapshot.flags = 1u << bit;
    snapshot.pid = snapshot.flags == HMN_SNAPSHOT_ONE_PROCESS;
    const int is_filter = (snapshot.flags & ALL_SNAPSHOT_FLAGS) != 0;
    assert_status(take_snapshot(f->context, &snapshot), is_filter ? HMN_OK : HMN_E_UNKNOWN_FLAG);
  }
}

static hmn_status create_sampler(hmn_context* context, const void* options) {
  hmn_sampler* sampler = NULL;
  NEW(hmn_error, error);
  const hmn_status status = hmn_sampler_create(context, options, NULL, &sampler, &error);
  assert_int_equal(sampler != NULL, status == HMN_OK);
  assert_reported(&error, status);
  hmn_sampler_destroy(sampler);
  return status;
}

static void a_nonzero_reserved_field_is_refused(void** state) {
  const fixture* f = *state;
  NEW(hmn_sampler_options, options);
  assert_status(create_sampler(f->context, &options), HMN_OK);
  options.reserved0 = 1;
  assert_status(create_sampler(f->context, &options), HMN_E_UNKNOWN_FLAG);
  options.reserved0 = 0x80000000u;
  assert_status(create_sampler(f->context, &options), HMN_E_UNKNOWN_FLAG);

  NEW(hmn_snapshot_options, snapshot_options);
  snapshot_options.reserved0 = 1;
  assert_status(take_snapshot(f->context, &snapshot_options), HMN_E_UNKNOWN_FLAG);
}

static void invalid_options_of_a_sampler_are_refused(void** state) {
  const fixture* f = *state;
  for (unsigned bit = 0; bit < 32; ++bit) {
    NEW(hmn_sampler_options, options);
    options.flags = 1u << bit;
    const int is_known = options.flags == HMN_SAMPLER_PEAKS_ONLY;
    assert_status(create_sampler(f->context, &options), is_known ? HMN_OK : HMN_E_UNKNOWN_FLAG);
  }
  const uint32_t sizes[] = {0, HMN_SAMPLER_OPTIONS_SIZE_V1 - 8, HMN_SAMPLER_OPTIONS_SIZE_V1 + 4,
                            65544};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    hmn_sampler_options options = {.struct_size = sizes[i]};
    assert_status(create_sampler(f->context, &options), HMN_E_STRUCT_SIZE);
  }
  NEW(hmn_sampler_options, largest);
  largest.interval_ns = largest.process_interval_ns = HMN_NS_UNLIMITED - 1;
  largest.capacity = 65536;
  assert_status(create_sampler(f->context, &largest), HMN_OK);
  ++largest.capacity;
  assert_status(create_sampler(f->context, &largest), HMN_E_RANGE);
}

static void any_percentage_of_a_core_is_allowed_for_scans(void** state) {
  (void)state;
  const uint32_t values[] = {1, 99, 100, UINT32_MAX};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
    NEW(hmn_context_options, options);
    options.rescan_percent = values[i];
    assert_status(create_context(&options), HMN_OK);
  }
}

static void an_unknown_device_class_is_refused(void** state) {
  (void)state;
  for (uint32_t n = 0; n < 32; ++n) {
    NEW(hmn_context_options, options);
    options.device_classes = UINT32_C(1) << n;
    assert_status(create_context(&options),
                  n <= HMN_DEVICE_CLASS_NPU ? HMN_OK : HMN_E_UNKNOWN_FLAG);
  }
}

static void every_bit_of_backends_off_is_allowed(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  options.backends_off = UINT64_MAX;
  assert_status(create_context(&options), HMN_OK);
}

static void the_largest_value_of_every_number_is_allowed(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  options.deadline_ns = options.stale_ns = options.open_deadline_ns = UINT64_MAX;
  options.max_age_ns = options.idle_close_ns = options.rescan_ns = UINT64_MAX;
  hmn_context* context = NULL;
  assert_status(open_machine_with_options("everything.json", &options, &context), HMN_OK);
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  hmn_context_destroy(context);
}

/* Zero is the default in every field, so NULL, a zeroed struct and a shorter one mean the same. */
static void a_zeroed_struct_is_equivalent_to_null(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, zero);
  hmn_snapshot* snapshots[2] = {NULL, NULL};
  assert_returns(hmn_snapshot_take(f->context, NULL, &snapshots[0], &error), HMN_OK);
  assert_returns(hmn_snapshot_take(f->context, &zero, &snapshots[1], &error), HMN_OK);
  hmn_snapshot_info info[2];
  for (size_t i = 0; i < 2; ++i) {
    memset(&info[i], 0, sizeof info[i]);
    info[i].struct_size = sizeof info[i];
    assert_status(hmn_snapshot_read(snapshots[i], &info[i], NULL), HMN_OK);
    hmn_snapshot_destroy(snapshots[i]);
  }
  assert_int_equal(info[0].collect, info[1].collect);
  assert_int_equal(info[0].collect,
                   HMN_COLLECT_MEMORY | HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_SELF);
  assert_int_equal(info[0].device_count, info[1].device_count);
  assert_int_equal(info[0].pool_count, info[1].pool_count);
  assert_int_equal(info[0].usage_count, info[1].usage_count);
}

/* HMN_E_ARGUMENT: device_index or pid without its flag. */
static void a_filter_without_its_flag_is_refused(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, device);
  device.device_index = 1;
  assert_status(take_snapshot(f->context, &device), HMN_E_ARGUMENT);
  NEW(hmn_snapshot_options, process);
  process.pid = 1;
  assert_status(take_snapshot(f->context, &process), HMN_E_ARGUMENT);
}

/* HMN_E_NO_DEVICE: no device has the index. HMN_E_RANGE: pid 0. */
static void a_filter_for_an_unknown_device_or_pid_0_is_refused(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, device);
  device.flags = HMN_SNAPSHOT_ONE_DEVICE;
  device.device_index = 999;
  assert_status(take_snapshot(f->context, &device), HMN_E_NO_DEVICE);
  NEW(hmn_snapshot_options, process);
  process.flags = HMN_SNAPSHOT_ONE_PROCESS;
  assert_status(take_snapshot(f->context, &process), HMN_E_RANGE);
}

static hmn_fields known_bits(const struct field* fields) {
  hmn_fields bits = 0;
  for (; fields->name != NULL; ++fields) bits |= fields->bit;
  return bits;
}

static void an_unknown_field_bit_is_refused(void** state) {
  const fixture* f = *state;
  const hmn_fields telemetry_bits = known_bits(telemetry_fields);
  for (unsigned n = 0; n < 64; ++n) {
    const hmn_fields bit = HMN_PRESENCE(n);
    NEW(hmn_process_memory, memory);
    NEW(hmn_telemetry, telemetry);
    NEW(hmn_error, error);
    if (n >= 11) {
      const hmn_status self = hmn_process_memory_read_self(f->context, bit, &memory, &error);
      assert_status(self, HMN_E_UNKNOWN_FLAG);
      assert_reported(&error, HMN_E_UNKNOWN_FLAG);
      const hmn_status other = hmn_process_memory_read(f->context, 4242, bit, &memory, &error);
      assert_status(other, HMN_E_UNKNOWN_FLAG);
    }
    if ((bit & telemetry_bits) == 0) {
      const hmn_status status = hmn_telemetry_read(f->context, 0, bit, &telemetry, &error);
      assert_status(status, HMN_E_UNKNOWN_FLAG);
      assert_reported(&error, HMN_E_UNKNOWN_FLAG);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_invalid_struct_size_is_refused),
      cmocka_unit_test(a_longer_struct_with_a_zero_tail_is_accepted),
      cmocka_unit_test(a_nonzero_byte_after_the_known_fields_is_refused),
      cmocka_unit_test(bytes_after_struct_size_are_ignored),
      cmocka_unit_test(an_unknown_flag_is_refused),
      cmocka_unit_test(a_nonzero_reserved_field_is_refused),
      cmocka_unit_test(invalid_options_of_a_sampler_are_refused),
      cmocka_unit_test(any_percentage_of_a_core_is_allowed_for_scans),
      cmocka_unit_test(an_unknown_device_class_is_refused),
      cmocka_unit_test(every_bit_of_backends_off_is_allowed),
      cmocka_unit_test(the_largest_value_of_every_number_is_allowed),
      cmocka_unit_test(a_zeroed_struct_is_equivalent_to_null),
      cmocka_unit_test(a_filter_without_its_flag_is_refused),
      cmocka_unit_test(a_filter_for_an_unknown_device_or_pid_0_is_refused),
      cmocka_unit_test(an_unknown_field_bit_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
