/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the library leaves as it was in the process that it is a guest of.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/child.h"

static void run_everything(const fixture* f) {
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) calls[i].run(f, guard_arm(g, calls[i].size_v1), NULL);
  for (size_t i = 0; i < text_call_count; ++i) {
    text_calls[i].run(f, (char*)g->bytes, sizeof g->bytes, NULL);
  }
  free(g);
}

static int descriptor_count(void) {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void every_call_leaves_errno_as_it_was(void** state) {
  const fixture nothing = {NULL, NULL, NULL, NULL, NULL};
  const fixture* sides[] = {*state, &nothing};
  guarded* g = guard_new();
  for (size_t side = 0; side < 2; ++side) {
    for (size_t i = 0; i < call_count; ++i) {
      void* out = guard_arm(g, calls[i].size_v1);
      errno = 4711;
      calls[i].run(sides[side], out, NULL);
      assert_int_equal(errno, 4711);
    }
    for (size_t i = 0; i < text_call_count; ++i) {
      errno = 4711;
      text_calls[i].run(sides[side], (char*)g->bytes, 16, NULL);
      assert_int_equal(errno, 4711);
    }
  }
  free(g);
}

static void making_and_ending_leave_errno_as_it_was(void** state) {
  (void)state;
  fixture f;
  errno = 4711;
  assert_int_equal(fixture_open(&f, 0), 0);
  assert_int_equal(errno, 4711);
  fixture_close(&f);
  assert_int_equal(errno, 4711);
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  hmn_context_create(NULL, &context, NULL);
  hmn_context_set_path(context, HMN_PATH_PROC, "/nowhere", NULL);
  assert_status(hmn_process_memory_read(context, 1, 0, &memory, NULL), HMN_E_NO_SOURCE);
  assert_int_equal(errno, 4711);
  hmn_context_destroy(context);
  assert_int_equal(errno, 4711);
}

static void no_descriptor_is_left_behind(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  fixture_close(&f);
  const int before = descriptor_count();
  for (int i = 0; i < 20; ++i) {
    assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
    run_everything(&f);
    fixture_close(&f);
  }
  assert_int_equal(descriptor_count(), before);
}

static void readings_open_no_more_descriptors(void** state) {
  const fixture* f = *state;
  run_everything(f);
  const int before = descriptor_count();
  for (int i = 0; i < 50; ++i) run_everything(f);
  assert_int_equal(descriptor_count(), before);
}

static void every_descriptor_closes_on_exec(void** state) {
  const fixture* f = *state;
  int open_before[256] = {0};
  for (int fd = 0; fd < 256; ++fd) open_before[fd] = fcntl(fd, F_GETFD) != -1;
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_status(hmn_process_memory_read_self(context, 63, &memory, NULL), HMN_OK);
  run_everything(f);
  for (int fd = 0; fd < 256; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (!open_before[fd] && flags != -1) assert_int_equal(flags & FD_CLOEXEC, FD_CLOEXEC);
  }
  hmn_context_destroy(context);
}

static off_t size_of(int fd) {
  struct stat status;
  CHECK(fstat(fd, &status) == 0);
  return status.st_size;
}

static int to_file(int fd) {
  char path[] = "/tmp/hmn-abi-output-XXXXXX";
  const int file = mkstemp(path);
  unlink(path);
  CHECK(file != -1 && dup2(file, fd) == fd);
  return file;
}

static void runs_with_captured_output(void* argument) {
  (void)argument;
  const int out = to_file(STDOUT_FILENO);
  const int shown = dup(STDERR_FILENO);
  const int err = to_file(STDERR_FILENO);
  fixture f;
  const int opened = fixture_open(&f, HMN_CONTEXT_TRACE);
  run_everything(&f);
  fixture_close(&f);
  hmn_context* broken = NULL;
  NEW(hmn_pool, pool);
  hmn_context_create(NULL, &broken, NULL);
  hmn_context_set_path(broken, HMN_PATH_SIMULATION, "/nowhere/machine.json", NULL);
  hmn_pool_read(broken, 0, HMN_POOL_MAIN, &pool, NULL);
  hmn_context_destroy(broken);
  fflush(NULL);
  dup2(shown, STDERR_FILENO);
  CHECK(opened == 0);
  CHECK(size_of(out) == 0);
  CHECK(size_of(err) == 0);
}

static void nothing_is_printed(void** state) {
  (void)state;
  assert_child(runs_with_captured_output, NULL);
}

static void runs_without_standard_descriptors(void* argument) {
  (void)argument;
  for (int fd = 0; fd < 3; ++fd) close(fd);
  fixture f;
  if (fixture_open(&f, 0) != 0) _exit(1);
  run_everything(&f);
  fixture_close(&f);
}

static void closed_standard_descriptors_do_no_harm(void** state) {
  (void)state;
  assert_child(runs_without_standard_descriptors, NULL);
}

static uint64_t own_resident(hmn_context* context) {
  NEW(hmn_process_memory, memory);
  CHECK_STATUS(hmn_process_memory_read_self(context, 0, &memory, NULL), HMN_OK);
  return memory.resident_bytes;
}

static void reads_after_closefrom(void* argument) {
  (void)argument;
  hmn_context* context = NULL;
  CHECK_STATUS(hmn_context_create(NULL, &context, NULL), HMN_OK);
  CHECK(own_resident(context) > 0);
  for (int round = 0; round < 3; ++round) {
    for (int fd = 3; fd < 256; ++fd) close(fd);
    CHECK(own_resident(context) > 0);
  }
  hmn_context_destroy(context);
}

static void closing_every_descriptor_does_no_harm(void** state) {
  (void)state;
  assert_child(reads_after_closefrom, NULL);
}

/* A kept descriptor is checked before each use and before close: when it is no longer ours it is
 * forgotten. */
static void reads_after_its_numbers_were_taken(void* argument) {
  (void)argument;
  hmn_context* context = NULL;
  CHECK_STATUS(hmn_context_create(NULL, &context, NULL), HMN_OK);
  CHECK(own_resident(context) > 0);
  for (int fd = 3; fd < 64; ++fd) close(fd);
  char path[] = "/tmp/hmn-abi-foreign-XXXXXX";
  const int file = mkstemp(path);
  unlink(path);
  CHECK(file != -1 && write(file, "1 1 1 1 1 1 1\n", 14) == 14);
  for (int fd = 3; fd < 64; ++fd) CHECK(fd == file || dup2(file, fd) == fd);
  CHECK(own_resident(context) > 65536);
  hmn_context_destroy(context);
  for (int fd = 3; fd < 64; ++fd) CHECK(fcntl(fd, F_GETFD) != -1);
}

static void a_number_that_is_now_the_programs_is_neither_read_nor_closed(void** state) {
  (void)state;
  assert_child(reads_after_its_numbers_were_taken, NULL);
}

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

static void the_signal_mask_stays(void** state) {
  const fixture* f = *state;
  sigset_t mine, after;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  sigprocmask(SIG_SETMASK, &mine, NULL);
  run_everything(f);
  sigprocmask(SIG_SETMASK, NULL, &after);
  for (int number = 1; number < 65; ++number) {
    assert_int_equal(sigismember(&after, number), sigismember(&mine, number));
  }
  sigemptyset(&mine);
  sigprocmask(SIG_SETMASK, &mine, NULL);
}

static void the_folder_and_the_umask_stay(void** state) {
  const fixture* f = *state;
  char before[1024], after[1024];
  umask(027);
  assert_non_null(getcwd(before, sizeof before));
  run_everything(f);
  assert_non_null(getcwd(after, sizeof after));
  assert_string_equal(after, before);
  assert_int_equal(umask(022), 027);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_leaves_errno_as_it_was),
      cmocka_unit_test(making_and_ending_leave_errno_as_it_was),
      cmocka_unit_test(no_descriptor_is_left_behind),
      cmocka_unit_test(readings_open_no_more_descriptors),
      cmocka_unit_test(every_descriptor_closes_on_exec),
      cmocka_unit_test(nothing_is_printed),
      cmocka_unit_test(closed_standard_descriptors_do_no_harm),
      cmocka_unit_test(closing_every_descriptor_does_no_harm),
      cmocka_unit_test(a_number_that_is_now_the_programs_is_neither_read_nor_closed),
      cmocka_unit_test(no_signal_handler_is_installed),
      cmocka_unit_test(the_signal_mask_stays),
      cmocka_unit_test(the_folder_and_the_umask_stay),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
