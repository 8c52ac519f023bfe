/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/machine.h"

static hmn_context* context_of(void** state) {
  return ((fixture*)*state)->context;
}

static void dirty(hmn_error* error) {
  memset(error, 0xA5, sizeof *error);
  error->struct_size = sizeof *error;
}

/* Every call writes it, also on HMN_OK (status 0, empty message). */
static void every_call_writes_it_also_on_success(void** state) {
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

static void it_is_the_callers_and_nothing_is_kept(void** state) {
  hmn_error first, second;
  dirty(&first);
  dirty(&second);
  NEW(hmn_pool, pool);
  assert_status(hmn_pool_read(context_of(state), 999, 0, 0, &pool, &first), HMN_E_NO_DEVICE);
  const hmn_error copy = first;
  assert_status(hmn_pool_read(context_of(state), 0, 999, 0, &pool, &second), HMN_E_RANGE);
  assert_memory_equal(&first, &copy, sizeof first);
  assert_string_not_equal(first.message, second.message);
}

/* backend 0: this library refused. */
static void a_refusal_of_the_library_names_no_backend(void** state) {
  hmn_error error;
  dirty(&error);
  NEW(hmn_pool, pool);
  assert_status(hmn_pool_read(context_of(state), 0, 999, 0, &pool, &error), HMN_E_RANGE);
  assert_int_equal(error.backend, HMN_BACKEND_NONE);
  assert_int_equal(error.native_domain, HMN_NATIVE_NONE);
  assert_int_equal(error.native_code, 0);
}

/* A sentence that names the value. */
static void the_sentence_names_the_value(void** state) {
  hmn_error error;
  dirty(&error);
  NEW(hmn_pool, pool);
  hmn_pool_read(context_of(state), 4711, 0, 0, &pool, &error);
  assert_non_null(strstr(error.message, "4711"));
  hmn_pool_read(context_of(state), 0, 4712, 0, &pool, &error);
  assert_non_null(strstr(error.message, "4712"));
  hmn_context_set_path(context_of(state), 4713, "/proc", &error);
  assert_non_null(strstr(error.message, "4713"));
  NEW(hmn_backend_info, info);
  hmn_context_backend(context_of(state), 4714, &info, &error);
  assert_non_null(strstr(error.message, "4714"));
  uint32_t index = 0;
  hmn_device_find(context_of(state), "uuid:GPU-4715", &index, &error);
  assert_non_null(strstr(error.message, "GPU-4715"));
  NEW(hmn_process_memory, memory);
  hmn_process_memory_read(context_of(state), 471600, 0, &memory, &error);
  assert_non_null(strstr(error.message, "471600"));
  NEW(hmn_usage, usage);
  hmn_usage_read(context_of(state), 0, 471700, 0, &usage, &error);
  assert_non_null(strstr(error.message, "471700"));
}

/* HMN_NOTE_TRUNCATED: the message was cut. */
static void a_message_that_is_too_long_is_cut_at_a_code_point_and_reported(void** state) {
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
  assert_status(hmn_pool_read(m.context, 0, 0, 0, &pool, &error), HMN_E_BACKEND);
  assert_int_equal(error.notes, HMN_NOTE_TRUNCATED);
  assert_text(error.message, sizeof error.message);
  assert_in_range(strlen(error.message), 250, 255);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_writes_it_also_on_success),
      cmocka_unit_test(it_is_the_callers_and_nothing_is_kept),
      cmocka_unit_test(a_refusal_of_the_library_names_no_backend),
      cmocka_unit_test(the_sentence_names_the_value),
      cmocka_unit_test(a_message_that_is_too_long_is_cut_at_a_code_point_and_reported),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
