/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"

enum { HANDLES = 4 };

typedef struct handles {
  hmn_context* contexts[2];
  hmn_snapshot* snapshots[2];
} handles;

static void make(handles* h) {
  for (size_t i = 0; i < 2; ++i) {
    assert_status(open_machine("everything.json", 0, &h->contexts[i]), HMN_OK);
    h->snapshots[i] = take_everything(h->contexts[i]);
    assert_non_null(h->snapshots[i]);
  }
}

static void end(handles* h, int which) {
  if (which < 2) {
    hmn_context_destroy(h->contexts[which]);
    h->contexts[which] = NULL;
  } else {
    hmn_snapshot_destroy(h->snapshots[which - 2]);
    h->snapshots[which - 2] = NULL;
  }
}

/* What is left answers as before. */
static void use(const handles* h) {
  for (size_t i = 0; i < 2; ++i) {
    NEW(hmn_pool, pool);
    if (h->contexts[i] != NULL) {
      assert_answers(hmn_pool_read(h->contexts[i], 0, HMN_POOL_MAIN, &pool, &error), HMN_OK);
    }
    if (h->snapshots[i] != NULL) {
      assert_status(hmn_snapshot_pool(h->snapshots[i], 0, &pool), HMN_OK);
      assert_status(hmn_format_json(h->snapshots[i], NULL, 0, NULL), HMN_OK);
    }
  }
}

static int is_permutation(const int* order) {
  unsigned seen = 0;
  for (size_t i = 0; i < HANDLES; ++i) seen |= 1u << order[i];
  return seen == (1u << HANDLES) - 1;
}

static void handles_may_be_destroyed_in_any_order(void** state) {
  (void)state;
  for (int code = 0; code < HANDLES * HANDLES * HANDLES * HANDLES; ++code) {
    const int order[HANDLES] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3};
    if (!is_permutation(order)) continue;
    handles h;
    make(&h);
    for (size_t i = 0; i < HANDLES; ++i) {
      use(&h);
      end(&h, order[i]);
    }
  }
}

static void a_snapshot_outlives_its_context(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  hmn_context_destroy(f.context);
  f.context = NULL;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (calls[i].of_context) continue;
    assert_status(calls[i].run(&f, guard_arm(g, calls[i].size_v1), NULL), HMN_OK);
  }
  for (size_t i = 0; i < text_call_count; ++i) {
    assert_status(text_calls[i].run(&f, (char*)g->bytes, sizeof g->bytes, NULL), HMN_OK);
  }
  free(g);
  fixture_close(&f);
}

static void a_snapshot_never_changes(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  NEW(hmn_snapshot_info, first);
  NEW(hmn_snapshot_info, second);
  NEW(hmn_pool, pool);
  NEW(hmn_pool, again);
  assert_status(hmn_snapshot_read(f.before, &first), HMN_OK);
  assert_status(hmn_snapshot_pool(f.before, 0, &pool), HMN_OK);
  for (int i = 0; i < 3; ++i) hmn_snapshot_destroy(take_everything(f.context));
  hmn_context_destroy(f.context);
  f.context = NULL;
  assert_status(hmn_snapshot_read(f.before, &second), HMN_OK);
  assert_status(hmn_snapshot_pool(f.before, 0, &again), HMN_OK);
  assert_memory_equal(&first, &second, sizeof first);
  assert_memory_equal(&pool, &again, sizeof pool);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handles_may_be_destroyed_in_any_order),
      cmocka_unit_test(a_snapshot_outlives_its_context),
      cmocka_unit_test(a_snapshot_never_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
