/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library leaves the program's signals alone, and the program's threads may be cancelled.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/machine.h"

static void no_signal_handler_is_installed(void** state) {
  const fixture* f = *state;
  struct sigaction before[65], after;
  for (int number = 1; number < 65; ++number) sigaction(number, NULL, &before[number]);
  run_everything(f);
  for (int number = 1; number < 65; ++number) {
    if (sigaction(number, NULL, &after) != 0) continue;
    assert_ptr_equal((void*)(uintptr_t)after.sa_handler,
                     (void*)(uintptr_t)before[number].sa_handler);
    assert_int_equal(after.sa_flags, before[number].sa_flags);
  }
}

static void the_signal_mask_is_unchanged(void** state) {
  const fixture* f = *state;
  sigset_t mask, after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  run_everything(f);
  sigprocmask(SIG_SETMASK, NULL, &after);
  for (int number = 1; number < 65; ++number) {
    assert_int_equal(sigismember(&after, number), sigismember(&mask, number));
  }
  sigemptyset(&mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* The threads of the library start with the first reading and with a sampler. */
static void the_signal_mask_is_unchanged_after_threads_start(void** state) {
  (void)state;
  sigset_t mask, after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  sigprocmask(SIG_SETMASK, NULL, &after);
  for (int number = 1; number < 65; ++number) {
    assert_int_equal(sigismember(&after, number), sigismember(&mask, number));
  }
  fixture_close(&f);
  sigemptyset(&mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* For a thread that is about to end the kernel reports neither a thread count nor signals. */
static bool is_alive(const char* task, uint64_t* blocked) {
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
    const uint64_t common = (1u << (SIGINT - 1)) | (1u << (SIGTERM - 1)) | (1u << (SIGUSR1 - 1)) |
                            (1u << (SIGCHLD - 1)) | (1u << (SIGALRM - 1)) | (1u << (SIGPROF - 1));
    uint64_t blocked = 0;
    if (!is_alive(entry->d_name, &blocked)) continue;
    assert_int_equal(blocked & common, common);
    ++workers;
  }
  closedir(folder);
  assert_in_range(workers, 1, 8);
  fixture_close(&f);
}

typedef struct cancellation {
  const fixture* f;
  hmn_status status[64];
  int returned;
} cancellation;

static void* read_while_cancelled(void* argument) {
  cancellation* c = argument;
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

/* No function is a cancellation point. */
static void a_pending_cancellation_does_not_interrupt_a_call(void** state) {
  cancellation c = {*state, {0}, 0};
  pthread_t thread;
  void* result = NULL;
  assert_int_equal(pthread_create(&thread, NULL, read_while_cancelled, &c), 0);
  pthread_join(thread, &result);
  assert_ptr_equal(result, PTHREAD_CANCELED);
  assert_int_equal(c.returned, 1);
  for (size_t i = 0; i < call_count; ++i) assert_status(c.status[i], HMN_OK);
}

/* Reads the "SigBlk" line of each thread of this process that is named hmn-sampler. */
static int has_thread_with_all_signals_blocked(void) {
  int is_found = 0;
  DIR* tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent* entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
    char path[300];
    char line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE* status = fopen(path, "r");
    int is_sampler = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
      unsigned long long blocked = 0;
      is_sampler |= strcmp(line, "Name:\thmn-sampler\n") == 0;
      if (!is_sampler || sscanf(line, "SigBlk: %llx", &blocked) != 1) continue;
      /* SIGKILL and SIGSTOP cannot be; glibc keeps 32 and 33 to itself. */
      const unsigned long long unblockable =
          1ull << (9 - 1) | 1ull << (19 - 1) | 1ull << (32 - 1) | 1ull << (33 - 1);
      assert_true((blocked | unblockable) == ~0ull);
      is_found = 1;
    }
    if (status != NULL) fclose(status);
  }
  closedir(tasks);
  return is_found;
}

static void the_thread_of_a_sampler_blocks_all_signals(void** state) {
  if (HMN_TEST_EMULATED) skip();
  hmn_sampler* sampler = NULL;
  assert_returns(hmn_sampler_create(((fixture*)*state)->context, NULL, NULL, &sampler, &error),
                 HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  wait_until(has_thread_with_all_signals_blocked());
  hmn_sampler_destroy(sampler);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(workers_block_every_signal),
      cmocka_unit_test(the_signal_mask_is_unchanged_after_threads_start),
      WITH_FIXTURE(no_signal_handler_is_installed),
      WITH_FIXTURE(the_signal_mask_is_unchanged),
      WITH_FIXTURE(a_pending_cancellation_does_not_interrupt_a_call),
      WITH_FIXTURE(the_thread_of_a_sampler_blocks_all_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
