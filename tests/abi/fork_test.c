/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/child.h"
#include "support/thread.h"

/* The sanitizers' own allocators may be held by another thread at the fork, and stay so in the
 * child. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FORKS_AMID_ALLOCATIONS = 0 };
#else
enum { FORKS_AMID_ALLOCATIONS = 1 };
#endif

static void every_call_of_context_and_sampler_is_forked(void* argument) {
  const fixture* f = argument;
  guarded* g = malloc(sizeof *g);
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].of_context && !calls[i].of_sampler) continue;
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

static void in_a_child_the_parents_context_is_forked(void** state) {
  assert_child(every_call_of_context_and_sampler_is_forked, *state);
}

static void arguments_are_checked(void* argument) {
  const fixture* f = argument;
  CHECK_STATUS(hmn_pool_read(f->context, 0, 0, 0, 0, NULL, NULL), HMN_E_ARGUMENT);
  hmn_pool pool = {.struct_size = 8};
  CHECK_STATUS(hmn_pool_read(f->context, 0, 0, 0, 0, &pool, NULL), HMN_E_STRUCT_SIZE);
}

static void in_a_child_a_wrong_argument_is_reported_first(void** state) {
  assert_child(arguments_are_checked, *state);
}

static void destroys_the_context(void* argument) {
  hmn_context_destroy(((fixture*)argument)->context);
}

static void destroys_the_sampler(void* argument) {
  const fixture* f = argument;
  hmn_sampler_destroy(f->sampler);
  hmn_context_destroy(f->context);
}

static void in_a_child_the_sampler_may_be_destroyed(void** state) {
  assert_child(destroys_the_sampler, *state);
}

/* The thread that holds the sampler's lock again and again does not exist in the child. */
static void in_a_child_a_running_sampler_is_forked_at_once(void** state) {
  fixture* f = *state;
  fixture running = {f->context, f->before, f->after, NULL, NULL};
  const hmn_sampler_options options = {.struct_size = sizeof options,
                                       .interval_ns = HMN_MILLISECONDS(1)};
  assert_answers(hmn_sampler_create(f->context, &options, NULL, &running.sampler, &error), HMN_OK);
  assert_answers(hmn_sampler_start(running.sampler, &error), HMN_OK);
  for (int i = 0; i < 20; ++i) {
    assert_child(every_call_of_context_and_sampler_is_forked, &running);
    assert_child(destroys_the_sampler, &running);
  }
  hmn_sampler_destroy(running.sampler);
}

static void in_a_child_the_context_may_be_destroyed(void** state) {
  assert_child(destroys_the_context, *state);
}

static void reads_snapshots(void* argument) {
  const fixture* f = argument;
  guarded* g = malloc(sizeof *g);
  for (size_t i = 0; i < call_count; ++i) {
    if (calls[i].of_context || calls[i].of_sampler) continue;
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

static void in_a_child_snapshots_stay_readable(void** state) {
  assert_child(reads_snapshots, *state);
}

/* The machine lists processes 4242 to 4250, and cannot be read by one that has such a number by
 * chance. */
static int is_listed_by_chance(void) {
  return getpid() >= 4242 && getpid() <= 4250;
}

static void makes_a_context(void* argument) {
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

static void in_a_child_a_new_context_works(void** state) {
  assert_child(makes_a_context, *state);
}

static void forks_again(void* argument) {
  (void)argument;
  if (is_listed_by_chance()) return;
  fixture own;
  CHECK(fixture_open(&own, 0) == 0);
  const pid_t grandchild = fork();
  if (grandchild == 0) {
    every_call_of_context_and_sampler_is_forked(&own);
    makes_a_context(NULL);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
  NEW(hmn_pool, pool);
  CHECK_STATUS(hmn_pool_read(own.context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_OK);
  fixture_close(&own);
}

/* The child's context has a thread, too. */
static void a_grandchild_is_reported_apart_too(void** state) {
  if (!FORKS_AMID_ALLOCATIONS) skip();
  assert_child(forks_again, *state);
}

static void the_parent_goes_on_as_before(void** state) {
  const fixture* f = *state;
  assert_child(destroys_the_context, *state);
  NEW(hmn_pool, pool);
  assert_answers(hmn_pool_read(f->context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
}

/* A context made without a reading has opened nothing; it is forked all the same. */
static void a_context_that_was_never_used_is_forked_too(void** state) {
  (void)state;
  fixture unused = {NULL, NULL, NULL, NULL, NULL};
  assert_status(hmn_context_create(NULL, &unused.context, NULL), HMN_OK);
  assert_answers(hmn_sampler_create(unused.context, NULL, NULL, &unused.sampler, &error), HMN_OK);
  assert_child(every_call_of_context_and_sampler_is_forked, &unused);
  assert_child(destroys_the_sampler, &unused);
  hmn_sampler_destroy(unused.sampler);
  assert_child(destroys_the_context, &unused);
  hmn_context_destroy(unused.context);
}

typedef struct reader {
  fixture* f;
  volatile int stop;
} reader;

static void read_on(void* argument) {
  reader* r = argument;
  while (!r->stop) {
    NEW(hmn_pool, pool);
    hmn_pool_read(r->f->context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL);
    hmn_snapshot_destroy(take_everything(r->f->context));
  }
}

static void forked_then_destroyed(void* argument) {
  NEW(hmn_pool, pool);
  CHECK_STATUS(hmn_pool_read(((fixture*)argument)->context, 0, 0, 0, 0, &pool, NULL), HMN_E_FORKED);
  hmn_context_destroy(((fixture*)argument)->context);
  makes_a_context(NULL);
}

/* Whatever lock another thread held at the fork, the child neither takes it nor waits for it. */
static void a_fork_amid_readings_hangs_nobody(void** state) {
  if (!FORKS_AMID_ALLOCATIONS) skip();
  reader r = {*state, 0};
  thread* threads[4];
  for (size_t i = 0; i < 4; ++i) threads[i] = thread_start(read_on, &r);
  for (int i = 0; i < 50; ++i) assert_child(forked_then_destroyed, *state);
  r.stop = 1;
  for (size_t i = 0; i < 4; ++i) thread_join(threads[i]);
}

static void goes_on_alone(void* argument) {
  hmn_tracker** both = argument;
  for (int i = 0; i < 2; ++i) {
    NEW(hmn_tracker_info, info);
    CHECK_STATUS(hmn_tracker_allocate(both[i], 50, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_release(both[i], 100, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_read(both[i], &info, NULL), HMN_OK);
    CHECK(info.allocated_bytes == 50 && info.peak_bytes == 150);
    uint32_t tag = 0;
    CHECK_STATUS(hmn_tracker_tag(both[i], "child", &tag, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_set_limit(both[i], 60, NULL), HMN_OK);
    CHECK_STATUS(hmn_tracker_would_fit(both[i], 11, NULL), HMN_E_LIMIT);
    CHECK_STATUS(hmn_tracker_would_fit(both[i], 10, NULL), i == 0 ? HMN_OK : HMN_E_FORKED);
    CHECK_STATUS(hmn_tracker_reset(both[i], NULL), HMN_OK);
    hmn_tracker_destroy(both[i]);
  }
}

static void in_a_child_a_tracker_goes_on_alone(void** state) {
  NEW(hmn_tracker_options, options);
  hmn_tracker* both[2] = {NULL, NULL};
  options.flags = HMN_TRACKER_LIMITED;
  options.limit_bytes = 1000;
  assert_answers(hmn_tracker_create(NULL, 0, &options, &both[0], &error), HMN_OK);
  assert_answers(hmn_tracker_create(((fixture*)*state)->context, 0, NULL, &both[1], &error),
                 HMN_OK);
  for (int i = 0; i < 2; ++i) {
    assert_answers(hmn_tracker_allocate(both[i], 100, &error), HMN_OK);
    assert_answers(hmn_tracker_would_fit(both[i], 100, &error), HMN_OK);
  }
  assert_child(goes_on_alone, both);
  for (int i = 0; i < 2; ++i) {
    NEW(hmn_tracker_info, info);
    assert_status(hmn_tracker_read(both[i], &info, NULL), HMN_OK);
    assert_true(info.allocated_bytes == 100 && info.peak_bytes == 100 && info.tag_count == 0);
    assert_answers(hmn_tracker_would_fit(both[i], 100, &error), HMN_OK);
    hmn_tracker_destroy(both[i]);
  }
}

typedef struct detectors {
  hmn_spill* of_context;
  hmn_spill* alone;
} detectors;

static void reads_detectors(void* argument) {
  const detectors* both = argument;
  NEW(hmn_spill_info, info);
  NEW(hmn_episode, episode);
  CHECK_STATUS(hmn_spill_observe(both->of_context, "", NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_read(both->of_context, &info, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_episode(both->of_context, 0, &episode, NULL), HMN_E_FORKED);
  CHECK_STATUS(hmn_spill_read(both->alone, &info, NULL), HMN_OK);
  CHECK_STATUS(hmn_spill_episode(both->alone, 0, &episode, NULL), HMN_OK);
  hmn_spill_destroy(both->of_context);
  hmn_spill_destroy(both->alone);
}

/* What is evicted comes and goes: each second record begins an episode. */
static void feed(hmn_spill* to, int turns) {
  for (int i = 0; i < turns; ++i) {
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.evicted_bytes = (uint64_t)(i % 2) << 30;
    hmn_spill_feed(to, &sample, "", NULL);
  }
}

static void in_a_child_a_contexts_detector_is_forked(void** state) {
  detectors both = {NULL, NULL};
  assert_answers(hmn_spill_create(((fixture*)*state)->context, 0, NULL, &both.of_context, &error),
                 HMN_OK);
  assert_answers(hmn_spill_create(NULL, 0, NULL, &both.alone, &error), HMN_OK);
  hmn_spill_observe(both.of_context, "", NULL);
  feed(both.alone, 2);
  assert_child(reads_detectors, &both);
  hmn_spill_destroy(both.of_context);
  hmn_spill_destroy(both.alone);
}

enum { WRITERS = 4 };

static void feeds(void* detector) {
  feed(detector, 2000);
}

static void reads_or_is_reported(void* argument) {
  NEW(hmn_spill_info, info);
  const hmn_status status = hmn_spill_read(argument, &info, NULL);
  CHECK(status == HMN_OK || status == HMN_E_FORKED);
  CHECK(status != HMN_OK || info.episode_count <= info.observation_count);
}

/* A child made while others write gets an error at once, or reads a whole record. */
static void a_fork_amid_records_hangs_nobody(void** state) {
  (void)state;
  hmn_spill* detector = NULL;
  thread* threads[WRITERS];
  assert_answers(hmn_spill_create(NULL, 0, NULL, &detector, &error), HMN_OK);
  for (int i = 0; i < WRITERS; ++i) threads[i] = thread_start(feeds, detector);
  for (int i = 0; i < 10; ++i) assert_child(reads_or_is_reported, detector);
  for (int i = 0; i < WRITERS; ++i) thread_join(threads[i]);
  hmn_spill_destroy(detector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_a_child_the_parents_context_is_forked),
      cmocka_unit_test(in_a_child_a_wrong_argument_is_reported_first),
      cmocka_unit_test(in_a_child_the_context_may_be_destroyed),
      cmocka_unit_test(in_a_child_the_sampler_may_be_destroyed),
      cmocka_unit_test(in_a_child_a_running_sampler_is_forked_at_once),
      cmocka_unit_test(in_a_child_snapshots_stay_readable),
      cmocka_unit_test(in_a_child_a_new_context_works),
      cmocka_unit_test(a_grandchild_is_reported_apart_too),
      cmocka_unit_test(the_parent_goes_on_as_before),
      cmocka_unit_test(a_context_that_was_never_used_is_forked_too),
      cmocka_unit_test(a_fork_amid_readings_hangs_nobody),
      cmocka_unit_test(in_a_child_a_tracker_goes_on_alone),
      cmocka_unit_test(in_a_child_a_contexts_detector_is_forked),
      cmocka_unit_test(a_fork_amid_records_hangs_nobody),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
