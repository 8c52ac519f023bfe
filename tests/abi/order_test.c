/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"

enum { HANDLES = 5 };

typedef struct handles {
  hmn_context* contexts[2];
  hmn_snapshot* snapshots[2];
  hmn_sampler* sampler; /* of the first context, running */
} handles;

static void make(handles* h) {
  for (size_t i = 0; i < 2; ++i) {
    assert_status(open_machine("everything.json", 0, &h->contexts[i]), HMN_OK);
    h->snapshots[i] = take_everything(h->contexts[i]);
    assert_non_null(h->snapshots[i]);
  }
  assert_returns(hmn_sampler_create(h->contexts[0], NULL, NULL, &h->sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(h->sampler, &error), HMN_OK);
  hmn_snapshot* first = NULL;
  assert_returns(hmn_sampler_next(h->sampler, HMN_MILLISECONDS(PATIENT_MS), &first, &error),
                 HMN_OK);
  hmn_snapshot_destroy(first);
}

static void end(handles* h, int index) {
  if (index < 2) {
    hmn_context_destroy(h->contexts[index]);
    h->contexts[index] = NULL;
  } else if (index < 4) {
    hmn_snapshot_destroy(h->snapshots[index - 2]);
    h->snapshots[index - 2] = NULL;
  } else {
    hmn_sampler_destroy(h->sampler);
    h->sampler = NULL;
  }
}

/* The remaining handles still work. */
static void use(const handles* h) {
  for (size_t i = 0; i < 2; ++i) {
    NEW(hmn_pool, pool);
    if (h->contexts[i] != NULL) {
      assert_returns(hmn_pool_read(h->contexts[i], 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
    }
    if (h->snapshots[i] != NULL) {
      assert_status(hmn_snapshot_pool_at(h->snapshots[i], 0, &pool, NULL), HMN_OK);
      assert_status(hmn_format_json(h->snapshots[i], 0, NULL, 0, NULL, NULL), HMN_OK);
    }
  }
  NEW(hmn_pool, latest);
  if (h->sampler == NULL) return;
  assert_status(hmn_sampler_latest_pool(h->sampler, 0, &latest, NULL), HMN_OK);
}

/* Advances to the next permutation in lexicographic order; 0: there is none. */
static int next_permutation(int* order) {
  int i = HANDLES - 2;
  while (i >= 0 && order[i] > order[i + 1]) --i;
  if (i < 0) return 0;
  int j = HANDLES - 1;
  while (order[j] < order[i]) --j;
  int swap = order[i];
  order[i] = order[j];
  order[j] = swap;
  for (int low = i + 1, high = HANDLES - 1; low < high; ++low, --high) {
    swap = order[low];
    order[low] = order[high];
    order[high] = swap;
  }
  return 1;
}

static void handles_may_be_destroyed_in_any_order(void** state) {
  (void)state;
  int order[HANDLES] = {0, 1, 2, 3, 4};
  do {
    handles h;
    make(&h);
    for (size_t i = 0; i < HANDLES; ++i) {
      use(&h);
      end(&h, order[i]);
    }
  } while (next_permutation(order));
}

static void snapshot_and_sampler_outlive_their_context(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  hmn_context_destroy(f.context);
  f.context = NULL;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (calls[i].takes_context) continue;
    assert_status(calls[i].run(&f, guard_arm(g, calls[i].size_v1), NULL), HMN_OK);
  }
  for (size_t i = 0; i < text_call_count; ++i) {
    assert_status(text_calls[i].run(&f, (char*)g->bytes, sizeof g->bytes, NULL, NULL), HMN_OK);
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
  NEW(hmn_pool, second_pool);
  assert_status(hmn_snapshot_read(f.before, &first, NULL), HMN_OK);
  assert_status(hmn_snapshot_pool_at(f.before, 0, &pool, NULL), HMN_OK);
  for (int i = 0; i < 3; ++i) hmn_snapshot_destroy(take_everything(f.context));
  hmn_context_destroy(f.context);
  f.context = NULL;
  assert_status(hmn_snapshot_read(f.before, &second, NULL), HMN_OK);
  assert_status(hmn_snapshot_pool_at(f.before, 0, &second_pool, NULL), HMN_OK);
  assert_memory_equal(&first, &second, sizeof first);
  assert_memory_equal(&pool, &second_pool, sizeof pool);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handles_may_be_destroyed_in_any_order),
      cmocka_unit_test(snapshot_and_sampler_outlive_their_context),
      cmocka_unit_test(a_snapshot_never_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
