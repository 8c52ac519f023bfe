/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/child.h"
#include "support/thread.h"

/* Another thread may hold the lock of the sanitizers' own allocator at the fork, which then stays
 * locked in the child. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FORKS_DURING_ALLOCATIONS = 0 };
#else
enum { FORKS_DURING_ALLOCATIONS = 1 };
#endif

static void check_calls_fail_as_forked(void* argument) {
  const fixture* f = argument;
  guarded* g = malloc(sizeof *g);
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].takes_context && !calls[i].takes_sampler) continue;
    NEW(hmn_error, error);
    memset(g, 0xA5, sizeof *g);
    memcpy(g->bytes, &calls[i].size_v1, sizeof calls[i].size_v1);
    CHECK_STATUS(calls[i].run(f, g->bytes, &error), HMN_E_FORKED);
    CHECK(error.status == HMN_E_FORKED && error.message[0] != 0);
    if (calls[i].size_v1 > 0) CHECK(is_zero((char*)g->bytes + 4, calls[i].size_v1 - 4));
  }
  CHECK_STATUS(hmn_context_set_path(f->context, HMN_PATH_PROC, "/proc", NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_context_cancel(f->context, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_context_resume(f->context, NULL), HMN_E_FORKED);
  hmn_snapshot* snapshot = f->before;
  CHECK_STATUS(hmn_snapshot_take(f->context, NULL, &snapshot, NULL), HMN_E_FORKED);
  CHECK(snapshot == NULL);
  snapshot = f->before;
  CHECK_STATUS(hmn_sampler_next(f->sampler, HMN_MILLISECONDS(1), &snapshot, NULL), HMN_E_FORKED);
  CHECK(snapshot == NULL);
  int64_t handle = 0;
  CHECK_STATUS(hmn_sampler_handle(f->sampler, &handle, NULL), HMN_E_FORKED);
  CHECK(handle == -1);
  CHECK_STATUS(hmn_sampler_start(f->sampler, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_sampler_stop(f->sampler, NULL), HMN_E_FORKED);
  hmn_sampler* sampler = f->sampler;
  CHECK_STATUS(hmn_sampler_create(f->context, NULL, NULL, &sampler, NULL), HMN_E_FORKED);
  CHECK(sampler == NULL);
}

static void calls_on_the_parents_context_fail_in_a_child(void** state) {
  assert_child(check_calls_fail_as_forked, *state);
}

static void check_arguments(void* argument) {
  const fixture* f = argument;
  CHECK_STATUS(hmn_pool_read(f->context, 0, 0, 0, 0, NULL, NULL), HMN_E_ARGUMENT);
  hmn_pool pool = {.struct_size = 8};
  CHECK_STATUS(hmn_pool_read(f->context, 0, 0, 0, 0, &pool, NULL), HMN_E_STRUCT_SIZE);
}

static void an_invalid_argument_is_reported_before_the_fork(void** state) {
  assert_child(check_arguments, *state);
}

static void destroy_context(void* argument) {
  hmn_context_destroy(((fixture*)argument)->context);
}

static void destroy_sampler(void* argument) {
  const fixture* f = argument;
  hmn_sampler_destroy(f->sampler);
  hmn_context_destroy(f->context);
}

static void a_child_may_destroy_the_sampler(void** state) {
  assert_child(destroy_sampler, *state);
}

/* The thread that holds the sampler's lock again and again does not exist in the child. */
static void calls_on_a_running_sampler_fail_at_once_in_a_child(void** state) {
  fixture* f = *state;
  fixture running = {f->context, f->before, f->after, NULL, NULL};
  const hmn_sampler_options options = {.struct_size = sizeof options,
                                       .interval_ns = HMN_MILLISECONDS(1)};
  assert_returns(hmn_sampler_create(f->context, &options, NULL, &running.sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(running.sampler, &error), HMN_OK);
  for (int i = 0; i < 20; ++i) {
    assert_child(check_calls_fail_as_forked, &running);
    assert_child(destroy_sampler, &running);
  }
  hmn_sampler_destroy(running.sampler);
}

static void a_child_may_destroy_the_context(void** state) {
  assert_child(destroy_context, *state);
}

static void read_snapshots(void* argument) {
  const fixture* f = argument;
  guarded* g = malloc(sizeof *g);
  for (size_t i = 0; i < call_count; ++i) {
    if (calls[i].takes_context || calls[i].takes_sampler) continue;
    memcpy(g->bytes, &calls[i].size_v1, sizeof calls[i].size_v1);
    CHECK_STATUS(calls[i].run(f, g->bytes, NULL), HMN_OK);
  }
  for (size_t i = 0; i < text_call_count; ++i) {
    CHECK_STATUS(text_calls[i].run(f, (char*)g->bytes, sizeof g->bytes, NULL, NULL), HMN_OK);
  }
  hmn_tracker_destroy(f->tracker);
  hmn_snapshot_destroy(f->before);
  hmn_snapshot_destroy(f->after);
}

static void snapshots_stay_readable_in_a_child(void** state) {
  assert_child(read_snapshots, *state);
}

/* The machine lists processes 4242 to 4250, and a process that has such a PID by chance cannot read
 * it. */
static int is_listed_by_chance(void) {
  return getpid() >= 4242 && getpid() <= 4250;
}

static void use_new_context(void* argument) {
  (void)argument;
  if (is_listed_by_chance()) return;
  fixture own;
  CHECK(fixture_open(&own, 0) == 0);
  NEW(hmn_process_memory, memory);
  CHECK_STATUS(hmn_process_memory_read_self(own.context, 0, &memory, NULL), HMN_OK);
  NEW(hmn_pool, pool);
  CHECK_STATUS(hmn_pool_read(own.context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_OK);
  fixture_close(&own);
}

static void a_new_context_works_in_a_child(void** state) {
  assert_child(use_new_context, *state);
}

static void fork_again(void* argument) {
  (void)argument;
  if (is_listed_by_chance()) return;
  fixture own;
  CHECK(fixture_open(&own, 0) == 0);
  const pid_t grandchild = fork();
  if (grandchild == 0) {
    check_calls_fail_as_forked(&own);
    use_new_context(NULL);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
  NEW(hmn_pool, pool);
  CHECK_STATUS(hmn_pool_read(own.context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_OK);
  fixture_close(&own);
}

/* The child's context has a thread, too. */
static void a_childs_context_fails_in_a_grandchild(void** state) {
  if (!FORKS_DURING_ALLOCATIONS) skip();
  assert_child(fork_again, *state);
}

static void a_child_does_not_affect_the_parent(void** state) {
  const fixture* f = *state;
  assert_child(destroy_context, *state);
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(f->context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
}

/* A context without a reading has opened nothing, yet it fails in a child too. */
static void calls_on_an_unused_context_fail_in_a_child(void** state) {
  (void)state;
  fixture unused = {NULL, NULL, NULL, NULL, NULL};
  assert_status(hmn_context_create(NULL, &unused.context, NULL), HMN_OK);
  assert_returns(hmn_sampler_create(unused.context, NULL, NULL, &unused.sampler, &error), HMN_OK);
  assert_child(check_calls_fail_as_forked, &unused);
  assert_child(destroy_sampler, &unused);
  hmn_sampler_destroy(unused.sampler);
  assert_child(destroy_context, &unused);
  hmn_context_destroy(unused.context);
}

typedef struct reader {
  fixture* f;
  volatile int stop;
} reader;

static void read_until_stopped(void* argument) {
  reader* r = argument;
  while (!r->stop) {
    NEW(hmn_pool, pool);
    hmn_pool_read(r->f->context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL);
    hmn_snapshot_destroy(take_everything(r->f->context));
  }
}

static void destroy_forked_context(void* argument) {
  NEW(hmn_pool, pool);
  CHECK_STATUS(hmn_pool_read(((fixture*)argument)->context, 0, 0, 0, 0, &pool, NULL), HMN_E_FORKED);
  hmn_context_destroy(((fixture*)argument)->context);
  use_new_context(NULL);
}

/* Whatever lock another thread held at the fork, the child neither takes it nor waits for it. */
static void a_fork_during_readings_does_not_hang_the_child(void** state) {
  if (!FORKS_DURING_ALLOCATIONS) skip();
  reader r = {*state, 0};
  thread* threads[4];
  for (size_t i = 0; i < 4; ++i) threads[i] = thread_start(read_until_stopped, &r);
  for (int i = 0; i < 50; ++i) assert_child(destroy_forked_context, *state);
  r.stop = 1;
  for (size_t i = 0; i < 4; ++i) thread_join(threads[i]);
}

static void use_trackers(void* argument) {
  hmn_tracker** trackers = argument;
  for (int i = 0; i < 2; ++i) {
    NEW(hmn_tracker_info, info);
    CHECK_STATUS(hmn_tracker_allocate(trackers[i], 50, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_release(trackers[i], 100, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_read(trackers[i], &info, NULL), HMN_OK);
    CHECK(info.allocated_bytes == 50 && info.peak_bytes == 150);
    uint32_t tag = 0;
    CHECK_STATUS(hmn_tracker_tag(trackers[i], "child", &tag, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_set_limit(trackers[i], 60, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_would_fit(trackers[i], 11, NULL), HMN_E_LIMIT);
    CHECK_STATUS(hmn_tracker_would_fit(trackers[i], 10, NULL), i == 0 ? HMN_OK : HMN_E_FORKED);
    CHECK_STATUS(hmn_tracker_reset(trackers[i], NULL), HMN_OK);
    hmn_tracker_destroy(trackers[i]);
  }
}

static void a_tracker_works_on_its_own_in_a_child(void** state) {
  NEW(hmn_tracker_options, options);
  hmn_tracker* trackers[2] = {NULL, NULL};
  options.flags = HMN_TRACKER_LIMITED;
  options.limit_bytes = 1000;
  assert_returns(hmn_tracker_create(NULL, 0, &options, &trackers[0], &error), HMN_OK);
  assert_returns(hmn_tracker_create(((fixture*)*state)->context, 0, NULL, &trackers[1], &error),
                 HMN_OK);
  for (int i = 0; i < 2; ++i) {
    assert_returns(hmn_tracker_allocate(trackers[i], 100, &error), HMN_OK);
    assert_returns(hmn_tracker_would_fit(trackers[i], 100, &error), HMN_OK);
  }
  assert_child(use_trackers, trackers);
  for (int i = 0; i < 2; ++i) {
    NEW(hmn_tracker_info, info);
    assert_status(hmn_tracker_read(trackers[i], &info, NULL), HMN_OK);
    assert_true(info.allocated_bytes == 100 && info.peak_bytes == 100 && info.tag_count == 0);
    assert_returns(hmn_tracker_would_fit(trackers[i], 100, &error), HMN_OK);
    hmn_tracker_destroy(trackers[i]);
  }
}

typedef struct detectors {
  hmn_spill* linked; /* to a context */
  hmn_spill* unlinked;
} detectors;

static void read_detectors(void* argument) {
  const detectors* pair = argument;
  NEW(hmn_spill_info, info);
  NEW(hmn_episode, episode);
  CHECK_STATUS(hmn_spill_observe(pair->linked, "", NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_read(pair->linked, &info, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_episode(pair->linked, 0, &episode, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_read(pair->unlinked, &info, NULL), HMN_OK);
  CHECK_STATUS(hmn_spill_episode(pair->unlinked, 0, &episode, NULL), HMN_OK);
  hmn_spill_destroy(pair->linked);
  hmn_spill_destroy(pair->unlinked);
}

/* Evicted memory comes and goes: every second sample begins an episode. */
static void feed(hmn_spill* detector, int count) {
  for (int i = 0; i < count; ++i) {
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.evicted_bytes = (uint64_t)(i % 2) << 30;
    hmn_spill_feed(detector, &sample, "", NULL);
  }
}

static void a_detector_of_a_context_fails_in_a_child(void** state) {
  detectors pair = {NULL, NULL};
  assert_returns(hmn_spill_create(((fixture*)*state)->context, 0, NULL, &pair.linked, &error),
                 HMN_OK);
  assert_returns(hmn_spill_create(NULL, 0, NULL, &pair.unlinked, &error), HMN_OK);
  hmn_spill_observe(pair.linked, "", NULL);
  feed(pair.unlinked, 2);
  assert_child(read_detectors, &pair);
  hmn_spill_destroy(pair.linked);
  hmn_spill_destroy(pair.unlinked);
}

enum { WRITERS = 4 };

static void feed_many(void* detector) {
  feed(detector, 2000);
}

static void read_or_fail_as_forked(void* argument) {
  NEW(hmn_spill_info, info);
  const hmn_status status = hmn_spill_read(argument, &info, NULL);
  CHECK(status == HMN_OK || status == HMN_E_FORKED);
  CHECK(status != HMN_OK || info.episode_count <= info.observation_count);
}

/* A child forked while others write gets an error at once, or reads a complete record. */
static void a_fork_during_feeds_does_not_hang_the_child(void** state) {
  (void)state;
  hmn_spill* detector = NULL;
  thread* threads[WRITERS];
  assert_returns(hmn_spill_create(NULL, 0, NULL, &detector, &error), HMN_OK);
  for (int i = 0; i < WRITERS; ++i) threads[i] = thread_start(feed_many, detector);
  for (int i = 0; i < 10; ++i) assert_child(read_or_fail_as_forked, detector);
  for (int i = 0; i < WRITERS; ++i) thread_join(threads[i]);
  hmn_spill_destroy(detector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_on_the_parents_context_fail_in_a_child),
      cmocka_unit_test(an_invalid_argument_is_reported_before_the_fork),
      cmocka_unit_test(a_child_may_destroy_the_context),
      cmocka_unit_test(a_child_may_destroy_the_sampler),
      cmocka_unit_test(calls_on_a_running_sampler_fail_at_once_in_a_child),
      cmocka_unit_test(snapshots_stay_readable_in_a_child),
      cmocka_unit_test(a_new_context_works_in_a_child),
      cmocka_unit_test(a_childs_context_fails_in_a_grandchild),
      cmocka_unit_test(a_child_does_not_affect_the_parent),
      cmocka_unit_test(calls_on_an_unused_context_fail_in_a_child),
      cmocka_unit_test(a_fork_during_readings_does_not_hang_the_child),
      cmocka_unit_test(a_tracker_works_on_its_own_in_a_child),
      cmocka_unit_test(a_detector_of_a_context_fails_in_a_child),
      cmocka_unit_test(a_fork_during_feeds_does_not_hang_the_child),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
