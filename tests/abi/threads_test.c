/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/machine.h"

enum { THREADS = 8, ROUNDS = 200 };

typedef struct team {
  fixture* f;
  int has_workers;
  atomic_int refused;
  atomic_int started;
} team;

static void* ask_everything(void* argument) {
  team* t = argument;
  guarded* g = malloc(sizeof *g);
  const size_t first = (size_t)atomic_fetch_add(&t->started, 1);
  for (size_t round = 0; round < ROUNDS; ++round) {
    const call* c = &calls[(first + round) % call_count];
    NEW(hmn_error, error);
    memcpy(g->bytes, &c->size_v1, sizeof c->size_v1);
    const hmn_status status = c->run(t->f, g->bytes, &error);
    const int is_idle = !t->has_workers && is_of_sampler_thread(c) &&
                        (status == HMN_E_EMPTY || status == HMN_E_NO_DEVICE);
    if (status != HMN_OK && !is_idle) atomic_fetch_add(&t->refused, 1);
    const text_call* text = &text_calls[round % text_call_count];
    if (text->run(t->f, (char*)g->bytes, sizeof g->bytes, NULL) != HMN_OK)
      atomic_fetch_add(&t->refused, 1);
  }
  free(g);
  return NULL;
}

static void run_team(team* t) {
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, t), 0);
  }
  for (size_t i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

static void eight_threads_may_use_one_context(void** state) {
  team t = {*state, 1, 0, 0};
  run_team(&t);
  assert_int_equal(t.refused, 0);
}

static void eight_threads_may_use_one_context_without_workers(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  team t = {&f, 0, 0, 0};
  run_team(&t);
  assert_int_equal(t.refused, 0);
  fixture_close(&f);
}

static void* make_and_end(void* argument) {
  atomic_int* refused = argument;
  for (int i = 0; i < 20; ++i) {
    fixture f;
    if (fixture_open(&f, 0) != 0) atomic_fetch_add(refused, 1);
    fixture_close(&f);
  }
  return NULL;
}

static void contexts_may_come_and_go_in_eight_threads(void** state) {
  (void)state;
  atomic_int refused = 0;
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, make_and_end, &refused);
  for (size_t i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(refused, 0);
}

static int thread_count(void) {
  DIR* folder = opendir("/proc/self/task");
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count - 2;
}

/* Workers end in their own time once their context is gone. */
static void wait_for_threads(int count) {
  for (int i = 0; i < 6000 && thread_count() > count; ++i) sleep_ms(10);
}

/* Makes a context. Touches no driver and starts no thread. */
static void create_starts_no_thread(void** state) {
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
  assert_answers(hmn_process_memory_read_self(context, 63, &memory, &error), HMN_OK);
  assert_answers(hmn_process_memory_read(context, (uint32_t)getpid(), 63, &memory, &error), HMN_OK);
  assert_answers(hmn_system_memory_read(context, &system_memory, &error), HMN_OK);
  assert_int_equal(thread_count(), before);
  hmn_context_destroy(context);
}

static void without_threads_none_is_started(void** state) {
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
  assert_int_equal(fixture_open(&f, 0), 0); /* a sanitizer starts a thread beside the first */
  fixture_close(&f);
  sleep_ms(200);
  const int before = thread_count();
  assert_int_equal(fixture_open(&f, 0), 0);
  fixture_close(&f);
  wait_for_threads(before);
  assert_true(thread_count() <= before);
}

/* Of a thread that is about to end the kernel tells no thread count and no signals any more. */
static bool is_living(const char* task, uint64_t* blocked) {
  char path[300], line[256];
  unsigned long threads = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "Threads:", 8) == 0) threads = strtoul(line + 8, NULL, 10);
    if (strncmp(line, "SigBlk:", 7) == 0) *blocked = strtoull(line + 7, NULL, 16);
  }
  if (file != NULL) fclose(file);
  return threads != 0;
}

/* The threads of the library block every signal, so that the program's handlers run in its own. */
static void workers_block_every_signal(void** state) {
  (void)state;
  if (HMN_TEST_EMULATED) skip(); /* qemu-user keeps the guest's masks to itself */
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  DIR* folder = opendir("/proc/self/task");
  assert_non_null(folder);
  int workers = 0;
  for (const struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid()) continue;
    const uint64_t usual = (1u << (SIGINT - 1)) | (1u << (SIGTERM - 1)) | (1u << (SIGUSR1 - 1)) |
                           (1u << (SIGCHLD - 1)) | (1u << (SIGALRM - 1)) | (1u << (SIGPROF - 1));
    uint64_t blocked = 0;
    if (!is_living(entry->d_name, &blocked)) continue;
    assert_int_equal(blocked & usual, usual);
    ++workers;
  }
  closedir(folder);
  assert_in_range(workers, 1, 8);
  fixture_close(&f);
}

typedef struct cancelled {
  const fixture* f;
  hmn_status status[64];
  int returned;
} cancelled;

static void* cancelled_while_reading(void* argument) {
  cancelled* c = argument;
  guarded* g = malloc(sizeof *g);
  pthread_cleanup_push(free, g);
  pthread_cancel(pthread_self());
  for (size_t i = 0; i < call_count; ++i) {
    memcpy(g->bytes, &calls[i].size_v1, sizeof calls[i].size_v1);
    c->status[i] = calls[i].run(c->f, g->bytes, NULL);
  }
  hmn_context* context = NULL;
  hmn_context_create(NULL, &context, NULL);
  hmn_context_destroy(context);
  c->returned = 1;
  pthread_testcancel();
  c->returned = 2;
  pthread_cleanup_pop(1);
  return NULL;
}

/* No function is a point of thread cancellation. */
static void a_pending_cancellation_waits_for_the_end_of_the_call(void** state) {
  cancelled c = {*state, {0}, 0};
  pthread_t thread;
  void* result = NULL;
  assert_int_equal(pthread_create(&thread, NULL, cancelled_while_reading, &c), 0);
  pthread_join(thread, &result);
  assert_ptr_equal(result, PTHREAD_CANCELED);
  assert_int_equal(c.returned, 1);
  for (size_t i = 0; i < call_count; ++i) assert_status(c.status[i], HMN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(create_starts_no_thread),
      cmocka_unit_test(reading_host_memory_starts_no_thread),
      cmocka_unit_test(without_threads_none_is_started),
      cmocka_unit_test(destroy_leaves_no_thread_behind),
      cmocka_unit_test(workers_block_every_signal),
      cmocka_unit_test_setup_teardown(eight_threads_may_use_one_context, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test(eight_threads_may_use_one_context_without_workers),
      cmocka_unit_test(contexts_may_come_and_go_in_eight_threads),
      cmocka_unit_test_setup_teardown(a_pending_cancellation_waits_for_the_end_of_the_call,
                                      fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
