/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the library leaves as it was in the process that it is a guest of.
 */
#include "support/calls.h"
#include "support/child.h"
#include "support/last_error.h"

static void every_call_leaves_the_last_error_as_it_was(void** state) {
  const fixture nothing = {NULL, NULL, NULL, NULL, NULL};
  const fixture* sides[] = {*state, &nothing};
  guarded* g = guard_new();
  for (size_t side = 0; side < 2; ++side) {
    for (size_t i = 0; i < call_count; ++i) {
      void* out = guard_arm(g, calls[i].size_v1);
      last_error_set(4711);
      calls[i].run(sides[side], out, NULL);
      assert_last_error(4711);
    }
    for (size_t i = 0; i < text_call_count; ++i) {
      last_error_set(4711);
      text_calls[i].run(sides[side], (char*)g->bytes, 16, NULL, NULL);
      assert_last_error(4711);
    }
  }
  free(g);
}

static void making_and_ending_leave_the_last_error_as_it_was(void** state) {
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
  const hmn_status none = hmn_process_memory_read(context, UINT32_MAX, 0, &memory, NULL);
  assert_last_error(4711);
  assert_status(none, HMN_E_NO_PROCESS);
  last_error_set(4711);
  hmn_context_destroy(context);
  assert_last_error(4711);
}

static void runs_all_there_is(void* argument) {
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
  assert_silent(runs_all_there_is);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_leaves_the_last_error_as_it_was),
      cmocka_unit_test(making_and_ending_leave_the_last_error_as_it_was),
      cmocka_unit_test(nothing_is_printed),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
