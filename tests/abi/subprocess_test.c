/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program that the library runs leaves nothing behind in the host program.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/machine.h"

static const char answers[] =
    "{\"gpus\": [{\"fields\": {\"name\": \"NVIDIA Example\", "
    "\"uuid\": \"GPU-11111111-2222-3333-4444-555555555555\", \"pci.bus_id\": \"00000000:01:00.0\", "
    "\"driver_version\": \"595.80\", \"memory.total\": 46068, \"memory.used\": 9123, "
    "\"memory.free\": 36346, "
    "\"memory.reserved\": 599}, \"compute_apps\": []}]}";
static const char hangs[] =
    "{\"gpus\": [], \"behaviour\": {\"hang\": true, \"ignore_sigterm\": true}}";

typedef struct tool {
  tree folder;
  char path[128];
  hmn_context* context;
} tool;

static void copy_file(const char* source, const char* target) {
  static char block[65536];
  FILE* source_file = fopen(source, "rb");
  FILE* target_file = fopen(target, "wb");
  assert_true(source_file != NULL && target_file != NULL);
  for (size_t count; (count = fread(block, 1, sizeof block, source_file)) > 0;)
    fwrite(block, 1, count, target_file);
  fclose(source_file);
  fclose(target_file);
  chmod(target, 0755);
}

static void make(tool* t, const char* scenario, hmn_flags flags) {
  NEW(hmn_context_options, options);
  options.flags = flags;
  options.deadline_ns = options.open_deadline_ns =
      HMN_MILLISECONDS(scenario == hangs ? 300 : PATIENT_MS);
  assert_int_equal(tree_make(&t->folder), 0);
  snprintf(t->path, sizeof t->path, "%s/nvidia-smi", t->folder.path);
  copy_file(HMN_TEST_NVIDIA_SMI, t->path);
  tree_write(&t->folder, "nvidia-smi.json", scenario);
  assert_returns(hmn_context_create(&options, &t->context, &error), HMN_OK);
  assert_returns(hmn_context_set_path(t->context, HMN_PATH_NVIDIA_SMI, t->path, &error), HMN_OK);
  if (HMN_WITH_NVML) {
    assert_returns(
        hmn_context_set_path(t->context, HMN_PATH_NVML, "/nowhere/libnvidia-ml.so.1", &error),
        HMN_OK);
  }
}

static void end(tool* t) {
  hmn_context_destroy(t->context);
  tree_remove(&t->folder);
}

static int was_run(const tool* t) {
  char log[160];
  snprintf(log, sizeof log, "%s.log", t->path);
  return access(log, F_OK) == 0;
}

static void assert_reads_pool(tool* t) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(t->context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.total_bytes, UINT64_C(46068) << 20);
  assert_int_equal(pool.backend, HMN_BACKEND_NVIDIA_SMI);
  assert_true(was_run(t));
}

static atomic_int child_count;
static void count_child(int number) {
  (void)number;
  atomic_fetch_add(&child_count, 1);
}

static void handle_children(void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(SIGCHLD, &action, NULL);
}

/* The thread sanitizer does not support clone(2): with it the library starts its child as usual. */
#ifdef __SANITIZE_THREAD__
enum { CHILDREN_ARE_SEEN = 1 };
#else
enum { CHILDREN_ARE_SEEN = 0 };
#endif

static void the_programs_sigchld_handler_sees_no_child(void** state) {
  (void)state;
  if (CHILDREN_ARE_SEEN) skip();
  tool t;
  make(&t, answers, 0);
  child_count = 0;
  handle_children(count_child);
  assert_reads_pool(&t);
  sleep_ms(50);
  handle_children(SIG_DFL);
  assert_int_equal(child_count, 0);
  end(&t);
}

static void a_program_that_ignores_sigchld_gets_its_values(void** state) {
  (void)state;
  tool t;
  make(&t, answers, 0);
  handle_children(SIG_IGN);
  assert_reads_pool(&t);
  handle_children(SIG_DFL);
  end(&t);
}

static atomic_int reaping, reaped_count;
static void* reap_all(void* argument) {
  (void)argument;
  while (reaping) {
    if (waitpid(-1, NULL, WNOHANG) > 0) ++reaped_count;
  }
  return NULL;
}

static void waitpid_for_any_child_never_reaps_the_tool(void** state) {
  (void)state;
  if (CHILDREN_ARE_SEEN) skip();
  tool t;
  pthread_t thread;
  make(&t, answers, 0);
  reaping = 1;
  reaped_count = 0;
  assert_int_equal(pthread_create(&thread, NULL, reap_all, NULL), 0);
  for (int i = 0; i < 5; ++i) assert_reads_pool(&t);
  reaping = 0;
  pthread_join(thread, NULL);
  assert_int_equal(reaped_count, 0);
  end(&t);
}

static int count_descriptors(void) {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void no_child_and_no_descriptor_is_left_behind(void** state) {
  (void)state;
  tool t;
  make(&t, answers, HMN_CONTEXT_NO_THREADS);
  assert_reads_pool(&t);
  const int before = count_descriptors();
  for (int i = 0; i < 5; ++i) assert_reads_pool(&t);
  assert_int_equal(count_descriptors(), before);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  end(&t);
}

static int fails_after_running_the_tool(const tool* t) {
  NEW(hmn_pool, pool);
  const int64_t start = now_ms();
  assert_int_not_equal(hmn_pool_read(t->context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_OK);
  assert_in_range(now_ms() - start, 0, 20000);
  return was_run(t);
}

/* On a busy machine a reading may reach its deadline before it runs the tool. */
static void a_hung_tool_is_abandoned_at_the_deadline(void** state) {
  (void)state;
  tool t;
  make(&t, hangs, 0);
  wait_until(fails_after_running_the_tool(&t));
  end(&t);
}

/* HMN_CONTEXT_NO_SUBPROCESS: never run a helper program. */
static void the_tool_is_not_run_without_subprocesses(void** state) {
  (void)state;
  tool t;
  make(&t, answers, HMN_CONTEXT_NO_SUBPROCESS);
  uint32_t count = 7;
  assert_returns(hmn_device_scan(t.context, &count, NULL, &error), HMN_OK);
  assert_int_equal(count, 0);
  NEW(hmn_backend_info, info);
  assert_returns(hmn_context_backend(t.context, HMN_BACKEND_NVIDIA_SMI, &info, &error), HMN_OK);
  assert_int_equal(info.state, HMN_RUN_STATE_OFF);
  assert_false(was_run(&t));
  end(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_programs_sigchld_handler_sees_no_child),
      cmocka_unit_test(a_program_that_ignores_sigchld_gets_its_values),
      cmocka_unit_test(waitpid_for_any_child_never_reaps_the_tool),
      cmocka_unit_test(no_child_and_no_descriptor_is_left_behind),
      cmocka_unit_test(a_hung_tool_is_abandoned_at_the_deadline),
      cmocka_unit_test(the_tool_is_not_run_without_subprocesses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
