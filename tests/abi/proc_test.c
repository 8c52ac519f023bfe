/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Memory of the host and of processes, as Linux reports it in files.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/environment.h"
#include "support/memory.h"
#include "support/suite.h"
#include "support/tree.h"

enum { CHEAP = HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL };
static const uint64_t mib = 1024 * 1024;

static int setup(void** state) {
  return hmn_context_create(NULL, (hmn_context**)state, NULL);
}

static int teardown(void** state) {
  hmn_context_destroy(*state);
  return 0;
}

static hmn_context* make_context(const tree* proc) {
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, proc->path, &error), HMN_OK);
  return context;
}

static void the_values_of_one_process_are_consistent(void** state) {
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(*state, 63, &memory, &error), HMN_OK);
  assert_int_equal(memory.present, 63);
  assert_in_range(memory.private_bytes, 1, memory.proportional_bytes);
  assert_in_range(memory.proportional_bytes, memory.private_bytes, memory.resident_bytes + mib);
  assert_true(memory.peak_resident_bytes + mib >= memory.resident_bytes);
}

static void memory_is_read_from_the_configured_proc_tree(void** state) {
  (void)state;
  tree proc;
  assert_int_equal(tree_make(&proc), 0);
  tree_write(&proc, "stat", "btime 1700000000\n");
  tree_write(&proc, "4242/statm", "1000 300 50 10 0 200 0\n");
  tree_write(&proc, "4242/stat",
             "4242 (trainer) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 300\n");
  tree_write(&proc, "4242/status",
             "Name:\ttrainer\nState:\tS (sleeping)\nVmHWM:\t   2000 kB\nVmSwap:\t      12 kB\n");
  hmn_context* context = make_context(&proc);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read(context, 4242, 0, &memory, &error), HMN_OK);
  const uint64_t page = page_bytes();
  assert_int_equal(memory.virtual_bytes, 1000 * page);
  assert_int_equal(memory.resident_bytes, 300 * page);
  const hmn_fields fields = HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT | HMN_PROCESS_MEMORY_HAS_SWAP;
  assert_returns(hmn_process_memory_read(context, 4242, fields, &memory, &error), HMN_OK);
  assert_int_equal(memory.peak_resident_bytes, 2000 * 1024);
  assert_int_equal(memory.swap_bytes, 12 * 1024);
  assert_returns(hmn_process_memory_read(context, 4243, 0, &memory, &error), HMN_E_NO_PROCESS);
  hmn_context_destroy(context);
  tree_remove(&proc);
}

static void a_folder_without_proc_files_is_no_source(void** state) {
  (void)state;
  tree proc;
  assert_int_equal(tree_make(&proc), 0);
  hmn_context* context = make_context(&proc);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read(context, 4243, 0, &memory, &error), HMN_E_NO_SOURCE);
  hmn_context_destroy(context);
  tree_remove(&proc);
}

static void a_kernel_thread_has_no_memory_of_its_own(void** state) {
  (void)state;
  tree proc;
  assert_int_equal(tree_make(&proc), 0);
  tree_write(&proc, "2/statm", "0 0 0 0 0 0 0\n");
  tree_write(
      &proc, "2/stat",
      "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615 0\n");
  tree_write(&proc, "2/status", "Name:\tkthreadd\nState:\tS (sleeping)\nKthread:\t1\n");
  hmn_context* context = make_context(&proc);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read(context, 2, 0, &memory, &error), HMN_E_UNSUPPORTED);
  hmn_context_destroy(context);
  tree_remove(&proc);
}

static void malformed_statm_is_a_backend_error(void** state) {
  (void)state;
  const char* statms[] = {"", "one two three\n", "12\n", "-5 -6 0 0 0 0 0\n",
                          "99999999999999999999 1 0 0 0 0 0\n"};
  for (size_t i = 0; i < sizeof statms / sizeof statms[0]; ++i) {
    tree proc;
    assert_int_equal(tree_make(&proc), 0);
    tree_write(&proc, "4242/statm", statms[i]);
    tree_write(&proc, "4242/stat",
               "4242 (trainer) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 300\n");
    hmn_context* context = make_context(&proc);
    NEW(hmn_process_memory, memory);
    print_message("  %s", statms[i]);
    assert_returns(hmn_process_memory_read(context, 4242, 0, &memory, &error), HMN_E_BACKEND);
    assert_true(memory.resident_bytes == 0 && memory.virtual_bytes == 0);
    hmn_context_destroy(context);
    tree_remove(&proc);
  }
}

/* Mounts /proc, for this process, without the option hidepid, which hides other users' processes.
 */
static int show_all_processes(void) {
  return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("proc", "/proc", "proc", 0, "hidepid=0") == 0;
}

/* Runs in a child without privileges; returns 0, or the number of the check that failed. */
static int read_as_nobody(void) {
  const int is_mounted = show_all_processes();
  if (setgid(65534) != 0 || setuid(65534) != 0) return SKIPPED;
  if (!is_mounted && access("/proc/1/stat", R_OK) != 0) return SKIPPED;
  hmn_context* context = NULL;
  NEW(hmn_process_memory, memory);
  NEW(hmn_error, error);
  if (hmn_context_create(NULL, &context, NULL) != HMN_OK) return 1;
  const hmn_fields fields = HMN_PROCESS_MEMORY_HAS_PROPORTIONAL | HMN_PROCESS_MEMORY_HAS_PRIVATE;
  if (hmn_process_memory_read(context, 1, fields, &memory, &error) != HMN_E_PERMISSION) return 2;
  if (error.native_domain != HMN_NATIVE_ERRNO || error.native_code == 0 || error.message[0] == 0)
    return 3;
  if (hmn_process_memory_read(context, 1, fields | CHEAP, &memory, &error) != HMN_OK) return 4;
  if ((memory.notes & HMN_NOTE_PARTIAL) == 0 || memory.present != CHEAP) return 5;
  hmn_context_destroy(context);
  return 0;
}

static void memory_that_the_system_hides_is_a_permission_error(void** state) {
  (void)state;
  if (getuid() != 0) skip();
  const pid_t child = fork();
  if (child == 0) _exit(read_as_nobody());
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == SKIPPED) skip();
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* A variable that changes later has no effect. */
static void the_proc_tree_is_set_by_a_variable(void** state) {
  (void)state;
  const hmn_context_options options = patient_options(HMN_CONTEXT_ENVIRONMENT);
  hmn_context *proc_context = NULL, *missing_context = NULL;
  NEW(hmn_process_memory, memory);
  environment_set("HMN_PROC", "/nowhere");
  assert_returns(hmn_context_create(&options, &missing_context, &error), HMN_OK);
  assert_returns(hmn_context_create(&options, &proc_context, &error), HMN_OK);
  environment_set("HMN_PROC", NULL);
  assert_returns(hmn_context_set_path(proc_context, HMN_PATH_PROC, "/proc", &error), HMN_OK);
  assert_returns(hmn_process_memory_read_self(missing_context, 0, &memory, &error),
                 HMN_E_NO_SOURCE);
  assert_returns(hmn_process_memory_read_self(proc_context, 0, &memory, &error), HMN_OK);
  hmn_context_destroy(missing_context);
  hmn_context_destroy(proc_context);
}

static void a_missing_meminfo_is_no_source(void** state) {
  (void)state;
  tree proc;
  assert_int_equal(tree_make(&proc), 0);
  hmn_context* context = make_context(&proc);
  NEW(hmn_system_memory, memory);
  assert_returns(hmn_system_memory_read(context, 0, &memory, &error), HMN_E_NO_SOURCE);
  hmn_context_destroy(context);
  tree_remove(&proc);
}

static void available_memory_is_estimated_if_meminfo_lacks_it(void** state) {
  (void)state;
  tree proc;
  assert_int_equal(tree_make(&proc), 0);
  tree_write(
      &proc, "meminfo",
      "MemTotal:        8000000 kB\nMemFree:         1000000 kB\nBuffers:           10000 kB\n"
      "Cached:          2000000 kB\nActive(file):     900000 kB\nInactive(file):   800000 kB\n"
      "SReclaimable:     100000 kB\nShmem:             50000 kB\nSwapTotal:       4000 "
      "kB\nSwapFree:  3000 kB\n");
  hmn_context* context = make_context(&proc);
  NEW(hmn_system_memory, memory);
  assert_returns(hmn_system_memory_read(context, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.total_bytes, 8000000ull * 1024);
  assert_int_equal(memory.swap_total_bytes, 4000 * 1024);
  assert_int_equal(memory.swap_free_bytes, 3000 * 1024);
  if (memory.present & HMN_SYSTEM_MEMORY_HAS_AVAILABLE) {
    assert_int_equal(memory.notes & HMN_NOTE_ESTIMATED, HMN_NOTE_ESTIMATED);
    assert_in_range(memory.available_bytes, 1, memory.total_bytes);
  }
  hmn_context_destroy(context);
  tree_remove(&proc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_values_of_one_process_are_consistent),
      cmocka_unit_test(memory_is_read_from_the_configured_proc_tree),
      cmocka_unit_test(a_folder_without_proc_files_is_no_source),
      cmocka_unit_test(a_kernel_thread_has_no_memory_of_its_own),
      cmocka_unit_test(malformed_statm_is_a_backend_error),
      cmocka_unit_test(memory_that_the_system_hides_is_a_permission_error),
      cmocka_unit_test(the_proc_tree_is_set_by_a_variable),
      cmocka_unit_test(a_missing_meminfo_is_no_source),
      cmocka_unit_test(available_memory_is_estimated_if_meminfo_lacks_it),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
