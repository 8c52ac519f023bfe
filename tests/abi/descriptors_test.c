/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * State of the process that the library leaves as it is, and that only POSIX systems have: file
 * descriptors, the working directory and the umask.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/child.h"
#include "support/thread.h"

static void no_descriptor_is_left_open(void** state) {
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

static void later_readings_open_no_descriptors(void** state) {
  const fixture* f = *state;
  run_everything(f);
  const int before = descriptor_count();
  for (int i = 0; i < 50; ++i) run_everything(f);
  assert_int_equal(descriptor_count(), before);
}

static void every_descriptor_closes_on_exec(void** state) {
  (void)state;
  fixture f;
  int64_t handle = -1;
  int open_before[256] = {0};
  for (int fd = 0; fd < 256; ++fd) open_before[fd] = fcntl(fd, F_GETFD) != -1;
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_status(hmn_process_memory_read_self(context, 63, &memory, NULL), HMN_OK);
  assert_int_equal(fixture_open(&f, 0), 0);
  run_everything(&f);
  assert_status(hmn_sampler_handle(f.sampler, &handle, NULL), HMN_OK);
  assert_in_range(handle, 0, 255);
  int checked = 0;
  for (int fd = 0; fd < 256; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (open_before[fd] || flags == -1) continue;
    assert_int_equal(flags & FD_CLOEXEC, FD_CLOEXEC);
    ++checked;
  }
  assert_true(checked > 0); /* the handle at least */
  fixture_close(&f);
  hmn_context_destroy(context);
}

static void run_without_standard_descriptors(void* argument) {
  (void)argument;
  for (int fd = 0; fd < 3; ++fd) close(fd);
  fixture f;
  if (fixture_open(&f, 0) != 0) _exit(1);
  run_everything(&f);
  fixture_close(&f);
}

static void closed_standard_descriptors_do_no_harm(void** state) {
  (void)state;
  assert_child(run_without_standard_descriptors, NULL);
}

static uint64_t own_resident(hmn_context* context) {
  NEW(hmn_process_memory, memory);
  CHECK_STATUS(hmn_process_memory_read_self(context, 0, &memory, NULL), HMN_OK);
  return memory.resident_bytes;
}

static void read_after_closefrom(void* argument) {
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
  assert_child(read_after_closefrom, NULL);
}

/* The library checks its descriptors before each use and before close, and drops one whose number
 * the program has reused. */
static void read_after_descriptors_are_reused(void* argument) {
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

static void a_descriptor_the_program_reuses_is_neither_read_nor_closed(void** state) {
  (void)state;
  assert_child(read_after_descriptors_are_reused, NULL);
}

static void the_working_directory_and_the_umask_are_unchanged(void** state) {
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
      cmocka_unit_test(no_descriptor_is_left_open),
      cmocka_unit_test(later_readings_open_no_descriptors),
      cmocka_unit_test(every_descriptor_closes_on_exec),
      cmocka_unit_test(closed_standard_descriptors_do_no_harm),
      cmocka_unit_test(closing_every_descriptor_does_no_harm),
      cmocka_unit_test(a_descriptor_the_program_reuses_is_neither_read_nor_closed),
      cmocka_unit_test(the_working_directory_and_the_umask_are_unchanged),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
