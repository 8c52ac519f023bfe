/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <limits.h>
#include <stdatomic.h>

#include "support/calls.h"
#include "support/child.h"
#include "support/clock.h"
#include "support/machine.h"
#include "support/thread.h"

enum { THREADS = 8, ROUNDS = 200 };

typedef struct team {
  fixture* f;
  int has_workers;
  atomic_int failures;
  atomic_int start_count;
} team;

static void make_calls(void* argument) {
  team* t = argument;
  guarded* g = malloc(sizeof *g);
  const size_t first = (size_t)atomic_fetch_add(&t->start_count, 1);
  for (size_t round = 0; round < ROUNDS; ++round) {
    const call* c = &calls[(first + round) % call_count];
    NEW(hmn_error, error);
    memcpy(g->bytes, &c->size_v1, sizeof c->size_v1);
    const hmn_status status = c->run(t->f, g->bytes, &error);
    const int is_idle = !t->has_workers && reads_sampler_results(c) &&
                        (status == HMN_E_EMPTY || status == HMN_E_NO_DEVICE);
    if (status != HMN_OK && !is_idle) atomic_fetch_add(&t->failures, 1);
    const text_call* text = &text_calls[round % text_call_count];
    if (text->run(t->f, (char*)g->bytes, sizeof g->bytes, NULL, NULL) != HMN_OK)
      atomic_fetch_add(&t->failures, 1);
  }
  free(g);
}

static void run_team(team* t) {
  thread* threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) threads[i] = thread_start(make_calls, t);
  for (size_t i = 0; i < THREADS; ++i) thread_join(threads[i]);
}

static void eight_threads_may_share_a_context(void** state) {
  team t = {*state, 1, 0, 0};
  run_team(&t);
  assert_int_equal(t.failures, 0);
}

static void eight_threads_may_share_a_context_without_workers(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  team t = {&f, 0, 0, 0};
  run_team(&t);
  assert_int_equal(t.failures, 0);
  fixture_close(&f);
}

typedef struct reader {
  hmn_context* context;
  int takes_snapshots;
  int64_t deadline_ms;
  long readings;
  int failures;
} reader;

static void read_without_a_pause(void* argument) {
  reader* r = argument;
  while (now_ms() < r->deadline_ms) {
    NEW(hmn_pool, pool);
    hmn_snapshot* snapshot = NULL;
    const hmn_status status = r->takes_snapshots
                                  ? hmn_snapshot_take(r->context, NULL, &snapshot, NULL)
                                  : hmn_pool_read(r->context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL);
    hmn_snapshot_destroy(snapshot);
    if (status != HMN_OK) ++r->failures;
    ++r->readings;
  }
}

/* No reading is late, and no thread gets far fewer than the others that read the same. */
static void eight_threads_that_read_without_a_pause_are_served_fairly(void** state) {
  fixture* f = *state;
  thread* threads[THREADS];
  reader readers[THREADS];
  for (size_t i = 0; i < THREADS; ++i) {
    readers[i] = (reader){f->context, i % 2 == 0, now_ms() + 5000, 0, 0};
    threads[i] = thread_start(read_without_a_pause, &readers[i]);
  }
  for (size_t i = 0; i < THREADS; ++i) thread_join(threads[i]);
  for (size_t i = 0; i < THREADS; ++i) {
    assert_int_equal(readers[i].failures, 0);
    for (size_t k = i % 2; k < THREADS; k += 2) {
      assert_in_range(readers[k].readings, readers[i].readings / 10, LONG_MAX);
    }
  }
}

static void open_and_close(void* argument) {
  atomic_int* failures = argument;
  for (int i = 0; i < 20; ++i) {
    fixture f;
    if (fixture_open(&f, 0) != 0) atomic_fetch_add(failures, 1);
    fixture_close(&f);
  }
}

static void eight_threads_may_create_and_destroy_contexts(void** state) {
  (void)state;
  atomic_int failures = 0;
  thread* threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) threads[i] = thread_start(open_and_close, &failures);
  for (size_t i = 0; i < THREADS; ++i) thread_join(threads[i]);
  assert_int_equal(failures, 0);
}

/* Workers may end a while after their context is destroyed. */
static void wait_for_threads(int count) {
  for (int i = 0; i < 6000 && thread_count() > count; ++i) sleep_ms(10);
}

static void creating_a_context_starts_no_thread(void** state) {
  (void)state;
  wait_for_threads(1);
  const int before = thread_count();
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", 0, &context), HMN_OK);
  assert_int_equal(thread_count(), before);
  hmn_context_destroy(context);
}

static void reading_host_memory_starts_no_thread(void** state) {
  (void)state;
  const int before = thread_count();
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  assert_returns(hmn_process_memory_read_self(context, 63, &memory, &error), HMN_OK);
  assert_returns(hmn_process_memory_read(context, own_pid(), 63, &memory, &error), HMN_OK);
  assert_returns(hmn_system_memory_read(context, 0, &system_memory, &error), HMN_OK);
  assert_int_equal(thread_count(), before);
  hmn_context_destroy(context);
}

static void a_context_without_threads_starts_no_thread(void** state) {
  (void)state;
  const int before = thread_count();
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  assert_int_equal(thread_count(), before);
  fixture_close(&f);
}

static void destroy_leaves_no_thread_behind(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0); /* a sanitizer starts a second thread */
  fixture_close(&f);
  sleep_ms(200);
  const int before = thread_count();
  assert_int_equal(fixture_open(&f, 0), 0);
  fixture_close(&f);
  wait_for_threads(before);
  assert_true(thread_count() <= before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creating_a_context_starts_no_thread),
      cmocka_unit_test(reading_host_memory_starts_no_thread),
      cmocka_unit_test(a_context_without_threads_starts_no_thread),
      cmocka_unit_test(destroy_leaves_no_thread_behind),
      cmocka_unit_test_setup_teardown(eight_threads_may_share_a_context, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test(eight_threads_may_share_a_context_without_workers),
      cmocka_unit_test_setup_teardown(eight_threads_that_read_without_a_pause_are_served_fairly,
                                      fixture_setup, fixture_teardown),
      cmocka_unit_test(eight_threads_may_create_and_destroy_contexts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
