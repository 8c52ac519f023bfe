/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * State of the program that the library leaves as it is.
 */
#include "support/calls.h"
#include "support/child.h"
#include "support/last_error.h"

static void no_call_changes_the_last_error(void** state) {
  const fixture nothing = {NULL, NULL, NULL, NULL, NULL};
  const fixture* fixtures[] = {*state, &nothing};
  guarded* g = guard_new();
  for (size_t n = 0; n < 2; ++n) {
    for (size_t i = 0; i < call_count; ++i) {
      void* out = guard_arm(g, calls[i].size_v1);
      last_error_set(4711);
      calls[i].run(fixtures[n], out, NULL);
      assert_last_error(4711);
    }
    for (size_t i = 0; i < text_call_count; ++i) {
      last_error_set(4711);
      text_calls[i].run(fixtures[n], (char*)g->bytes, 16, NULL, NULL);
      assert_last_error(4711);
    }
  }
  free(g);
}

static void creating_and_destroying_do_not_change_the_last_error(void** state) {
  (void)state;
  fixture f;
  last_error_set(4711);
  assert_int_equal(fixture_open(&f, 0), 0);
  assert_last_error(4711);
  fixture_close(&f);
  assert_last_error(4711);
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  hmn_context_create(NULL, &context, NULL);
  const hmn_status status = hmn_process_memory_read(context, UINT32_MAX, 0, &memory, NULL);
  assert_last_error(4711);
  assert_status(status, HMN_E_NO_PROCESS);
  last_error_set(4711);
  hmn_context_destroy(context);
  assert_last_error(4711);
}

static void make_every_call(void* argument) {
  (void)argument;
  fixture f;
  CHECK(fixture_open(&f, HMN_CONTEXT_TRACE) == 0);
  run_everything(&f);
  fixture_close(&f);
  hmn_context* broken = NULL;
  NEW(hmn_pool, pool);
  hmn_context_create(NULL, &broken, NULL);
  CHECK_STATUS(hmn_context_set_path(broken, HMN_PATH_SIMULATION,
                                    HMN_TEST_ROOT "/nowhere/machine.json", NULL),
               HMN_OK);
  CHECK(hmn_pool_read(broken, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL) != HMN_OK);
  hmn_context_destroy(broken);
}

static void nothing_is_printed(void** state) {
  (void)state;
  assert_silent(make_every_call);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_call_changes_the_last_error),
      cmocka_unit_test(creating_and_destroying_do_not_change_the_last_error),
      cmocka_unit_test(nothing_is_printed),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
