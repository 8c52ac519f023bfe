/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/keys.h"
#include "support/machine.h"

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static void dirty(hmn_error* error) {
  memset(error, 0xA5, sizeof *error);
  error->struct_size = sizeof *error;
}

/* Every call writes the error, even on HMN_OK (status 0, empty message). */
static void every_call_writes_the_error_even_on_success(void** state) {
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    hmn_error error;
    dirty(&error);
    assert_status(calls[i].run(*state, guard_arm(g, calls[i].size_v1), &error), HMN_OK);
    assert_reported(&error, HMN_OK);
  }
  for (size_t i = 0; i < text_call_count; ++i) {
    hmn_error error;
    dirty(&error);
    assert_status(text_calls[i].run(*state, (char*)g->bytes, sizeof g->bytes, NULL, &error),
                  HMN_OK);
    assert_reported(&error, HMN_OK);
  }
  free(g);
  hmn_error error;
  hmn_context* context = NULL;
  dirty(&error);
  assert_status(hmn_context_create(NULL, &context, &error), HMN_OK);
  assert_reported(&error, HMN_OK);
  dirty(&error);
  assert_status(hmn_context_set_path(context, HMN_PATH_PROC, NULL, &error), HMN_OK);
  assert_reported(&error, HMN_OK);
  hmn_context_destroy(context);
}

static void a_later_call_does_not_change_an_error(void** state) {
  hmn_error first, second;
  dirty(&first);
  dirty(&second);
  NEW(hmn_pool, pool);
  assert_status(hmn_pool_read(fixture_context(state), 999, 0, 0, 0, &pool, &first),
                HMN_E_NO_DEVICE);
  const hmn_error copy = first;
  assert_status(hmn_pool_read(fixture_context(state), 0, 999, 0, 0, &pool, &second), HMN_E_RANGE);
  assert_memory_equal(&first, &copy, sizeof first);
  assert_string_not_equal(first.message, second.message);
}

/* backend 0: this library refused the call. */
static void a_refusal_of_the_library_has_no_backend(void** state) {
  hmn_error error;
  dirty(&error);
  NEW(hmn_pool, pool);
  assert_status(hmn_pool_read(fixture_context(state), 0, 999, 0, 0, &pool, &error), HMN_E_RANGE);
  assert_int_equal(error.backend, HMN_BACKEND_NONE);
  assert_int_equal(error.native_domain, HMN_NATIVE_NONE);
  assert_int_equal(error.native_code, 0);
}

static void the_message_contains_the_refused_value(void** state) {
  hmn_error error;
  dirty(&error);
  NEW(hmn_pool, pool);
  hmn_pool_read(fixture_context(state), 4711, 0, 0, 0, &pool, &error);
  assert_non_null(strstr(error.message, "4711"));
  hmn_pool_read(fixture_context(state), 0, 4712, 0, 0, &pool, &error);
  assert_non_null(strstr(error.message, "4712"));
  hmn_context_set_path(fixture_context(state), 4713, "/proc", &error);
  assert_non_null(strstr(error.message, "4713"));
  NEW(hmn_backend_info, info);
  hmn_context_backend(fixture_context(state), 4714, &info, &error);
  assert_non_null(strstr(error.message, "4714"));
  uint32_t index = 0;
  hmn_device_find(fixture_context(state), "uuid:GPU-4715", &index, &error);
  assert_non_null(strstr(error.message, "GPU-4715"));
  NEW(hmn_process_memory, memory);
  hmn_process_memory_read(fixture_context(state), 471600, 0, &memory, &error);
  assert_non_null(strstr(error.message, "471600"));
  NEW(hmn_usage, usage);
  hmn_usage_read(fixture_context(state), 0, 471700, 0, &usage, &error);
  assert_non_null(strstr(error.message, "471700"));
}

#define assert_message(call, status, text)    \
  do {                                        \
    NEW(hmn_error, error);                    \
    const hmn_status actual = (call);         \
    assert_status(actual, status);            \
    assert_reported(&error, status);          \
    assert_string_equal(error.message, text); \
  } while (0)

/* The message has the field's name alone, its value, and the expected values. */
static void the_message_for_an_invalid_option_names_its_field(void** state) {
  hmn_context* context = fixture_context(state);
  hmn_context* new_context = NULL;
  hmn_context_options options = {.struct_size = sizeof options, .flags = 1u << 31};
  assert_message(hmn_context_create(&options, &new_context, &error), HMN_E_UNKNOWN_FLAG,
                 "flags: unknown bits 0x80000000");
  options.flags = 0;
  options.device_classes = 1u << 31;
  assert_message(hmn_context_create(&options, &new_context, &error), HMN_E_UNKNOWN_FLAG,
                 "device_classes: unknown bits 0x80000000");
  options.struct_size = 12;
  assert_message(hmn_context_create(&options, &new_context, &error), HMN_E_STRUCT_SIZE,
                 "struct_size: 12, expected a multiple of 8 from 72 to 65536");

  hmn_snapshot* snapshot = NULL;
  hmn_snapshot_options snapshot_options = {.struct_size = sizeof snapshot_options,
                                           .collect = 1u << 31};
  assert_message(hmn_snapshot_take(context, &snapshot_options, &snapshot, &error),
                 HMN_E_UNKNOWN_FLAG, "collect: unknown bits 0x80000000");
  snapshot_options.collect = 0;
  snapshot_options.device_index = 7;
  assert_message(hmn_snapshot_take(context, &snapshot_options, &snapshot, &error), HMN_E_ARGUMENT,
                 "device_index: 7 is set without the flag for one device");
  snapshot_options.device_index = 0;
  snapshot_options.pid = 8;
  assert_message(hmn_snapshot_take(context, &snapshot_options, &snapshot, &error), HMN_E_ARGUMENT,
                 "pid: 8 is set without the flag for one process");
  snapshot_options.flags = HMN_SNAPSHOT_SLOW | HMN_SNAPSHOT_QUICK;
  assert_message(hmn_snapshot_take(context, &snapshot_options, &snapshot, &error), HMN_E_ARGUMENT,
                 "flags: a snapshot is either slow or quick");

  hmn_sampler* sampler = NULL;
  const hmn_sampler_options sampler_options = {.struct_size = sizeof sampler_options,
                                               .capacity = 100000};
  assert_message(hmn_sampler_create(context, &sampler_options, NULL, &sampler, &error), HMN_E_RANGE,
                 "capacity: 100000 is above 65536");
  hmn_tracker* tracker = NULL;
  const hmn_tracker_options tracker_options = {.struct_size = sizeof tracker_options,
                                               .tag_capacity = 70000};
  assert_message(hmn_tracker_create(NULL, 0, &tracker_options, &tracker, &error), HMN_E_RANGE,
                 "tag_capacity: 70000 is above 65536");
  assert_message(hmn_tracker_create(NULL, 3, NULL, &tracker, &error), HMN_E_ARGUMENT,
                 "device_index: 3 is set without a context");
  hmn_spill* spill = NULL;
  const hmn_spill_options spill_options = {.struct_size = sizeof spill_options,
                                           .episode_capacity = 70000};
  assert_message(hmn_spill_create(NULL, 0, &spill_options, &spill, &error), HMN_E_RANGE,
                 "episode_capacity: 70000 is above 65536");
  assert_status(hmn_spill_create(NULL, 0, NULL, &spill, NULL), HMN_OK);
  const hmn_spill_sample sample = {.struct_size = sizeof sample, .limit_bytes = 5};
  assert_message(hmn_spill_feed(spill, &sample, NULL, &error), HMN_E_ARGUMENT,
                 "limit_bytes: 5 is set without its flag");
  hmn_spill_destroy(spill);
}

/* Numbers that are arguments, not fields of a struct. */
static void the_message_for_an_invalid_argument_names_the_argument(void** state) {
  const fixture* f = *state;
  NEW(hmn_pool, pool);
  NEW(hmn_metric, metric);
  NEW(hmn_usage, usage);
  NEW(hmn_process_memory, memory);
  NEW(hmn_backend_info, info);
  NEW(hmn_diagnostic, diagnostic);
  NEW(hmn_tag, tag);
  NEW(hmn_episode, episode);
  char text[64];
  uint32_t number = 0;
  uint64_t bytes = 0;
  assert_message(hmn_pool_read(f->context, 0, 99, 0, 0, &pool, &error), HMN_E_RANGE,
                 "kind: 99 is not a pool kind");
  assert_message(hmn_snapshot_find_pool(f->after, 0, 99, 0, &pool, &error), HMN_E_RANGE,
                 "kind: 99 is not a pool kind");
  assert_message(read_metric(f->context, 0, 9999, 0, &metric, &error), HMN_E_RANGE,
                 "id: 9999 is not a known metric");
  assert_message(hmn_usage_read(f->context, 0, 0, 0, &usage, &error), HMN_E_RANGE,
                 "pid: 0 is not a process");
  assert_message(hmn_process_memory_read(f->context, 0, 0, &memory, &error), HMN_E_RANGE,
                 "pid: 0 is not a process");
  assert_message(hmn_process_memory_read_self(f->context, 1u << 31, &memory, &error),
                 HMN_E_UNKNOWN_FLAG, "fields: bits unknown, or past struct_size: 0x80000000");
  assert_message(hmn_context_backend(f->context, 63, &info, &error), HMN_E_RANGE,
                 "backend: 63 is not a known backend");
  assert_message(hmn_context_set_path(f->context, 99, "/proc", &error), HMN_E_RANGE,
                 "path: 99 is not a known path");
  NEW(hmn_snapshot_info, counts);
  NEW(hmn_reason_key, key);
  key.subject = 3;
  assert_status(hmn_snapshot_read(f->after, &counts, NULL), HMN_OK);
  (void)snprintf(text, sizeof text, "position: 4711 is past the end of %u entries",
                 counts.diagnostic_count);
  assert_message(hmn_snapshot_diagnostic_at(f->after, 4711, &diagnostic, &error), HMN_E_RANGE,
                 text);
  assert_message(hmn_snapshot_reason(f->after, &key, &diagnostic, &error), HMN_E_RANGE,
                 "subject: 0x3, expected one known bit");
  assert_message(hmn_snapshot_text_at(f->after, 99, 0, text, sizeof text, NULL, &error),
                 HMN_E_RANGE, "text: 99 is not a known text");
  assert_message(hmn_format_device(f->after, 0, 99, 0, text, sizeof text, NULL, &error),
                 HMN_E_RANGE, "format: 99 is not a known format");
  assert_message(hmn_format_bytes(1 << 20, text, 3, NULL, &error), HMN_E_BUFFER,
                 "capacity: 3 is less than the 6 bytes of the text");
  assert_message(hmn_tracker_read_tag(f->tracker, 99, &tag, &error), HMN_E_RANGE,
                 "tag: the tracker has no tag 99");
  assert_message(hmn_tracker_release(f->tracker, 5, &error), HMN_E_RANGE,
                 "bytes: 5 is more than is allocated");
  assert_message(hmn_tracker_tag(f->tracker, "", &number, &error), HMN_E_ARGUMENT,
                 "name: expected UTF-8 of 1 to 63 bytes");
  assert_message(hmn_dtype_from_name("f33", &number, &error), HMN_E_ARGUMENT,
                 "name: \"f33\" is not a dtype, for instance f32, bf16, f8e4m3 or i4");
  assert_message(hmn_estimate_tensor(NULL, 1, HMN_DTYPE_U8, &bytes, &error), HMN_E_ARGUMENT,
                 "shape is NULL and rank is not 0");
  assert_message(hmn_estimate_tensor(NULL, 0, 99, &bytes, &error), HMN_E_RANGE,
                 "dtype: 99 is not a known dtype");
  const hmn_cache cache = {.struct_size = sizeof cache, .kind = 99};
  assert_message(hmn_estimate_cache(&cache, 1, 1, &bytes, &error), HMN_E_RANGE,
                 "kind: 99 is not a cache kind");
  const hmn_attention attention = {.struct_size = sizeof attention, .dtype = HMN_DTYPE_U8};
  assert_message(hmn_estimate_attention(&attention, &bytes, &error), HMN_E_RANGE,
                 "heads: 0, expected at least 1");
  hmn_spill* spill = NULL;
  assert_status(hmn_spill_create(NULL, 0, NULL, &spill, NULL), HMN_OK);
  assert_message(hmn_spill_episode(spill, 5, &episode, &error), HMN_E_RANGE,
                 "number: episode 5 has not started yet, or was dropped");
  hmn_spill_destroy(spill);
}

/* HMN_NOTE_TRUNCATED: the message was cut. */
static void a_long_message_is_cut_at_a_code_point_and_marked_as_truncated(void** state) {
  (void)state;
  char json[4096] =
      "{\"devices\": [{\"name\": \"GPU\", \"failures\": [{\"call\": \"pools\", \"status\": "
      "\"backend\", "
      "\"message\": \"";
  for (int i = 0; i < 200; ++i) strcat(json, "\xE2\x82\xAC");
  strcat(json, "\"}]}]}");
  machine m;
  machine_make(&m, json, NULL);
  hmn_error error;
  dirty(&error);
  NEW(hmn_pool, pool);
  assert_status(hmn_pool_read(m.context, 0, 0, 0, 0, &pool, &error), HMN_E_BACKEND);
  assert_int_equal(error.notes, HMN_NOTE_TRUNCATED);
  assert_text(error.message, sizeof error.message);
  assert_in_range(strlen(error.message), 250, 255);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_writes_the_error_even_on_success),
      cmocka_unit_test(a_later_call_does_not_change_an_error),
      cmocka_unit_test(a_refusal_of_the_library_has_no_backend),
      cmocka_unit_test(the_message_contains_the_refused_value),
      cmocka_unit_test(the_message_for_an_invalid_option_names_its_field),
      cmocka_unit_test(the_message_for_an_invalid_argument_names_the_argument),
      cmocka_unit_test(a_long_message_is_cut_at_a_code_point_and_marked_as_truncated),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
