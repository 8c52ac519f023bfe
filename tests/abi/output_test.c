/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each exported function, with readings by the caller, by workers and through a tool, prints
 * nothing and opens every descriptor with close-on-exec, even one that it closes before it returns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "fault/machine.h"
#include "fault/openings.h"
#include "fault/subject.h"

typedef struct output {
  int pipe_ends[2];
  int before[2]; /* standard output and error */
} output;

static void redirect_output(output* o) {
  fflush(NULL);
  assert_int_equal(pipe2(o->pipe_ends, O_CLOEXEC | O_NONBLOCK), 0);
  for (int i = 0; i < 2; ++i) {
    o->before[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    assert_true(o->before[i] > STDERR_FILENO);
    assert_int_equal(dup2(o->pipe_ends[1], STDOUT_FILENO + i), STDOUT_FILENO + i);
  }
}

/* Returns how many bytes were printed, including buffers of the C library. */
static size_t restore_output(output* o, char* text, size_t capacity) {
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    dup2(o->before[i], STDOUT_FILENO + i);
    close(o->before[i]);
  }
  close(o->pipe_ends[1]);
  const ssize_t length = read(o->pipe_ends[0], text, capacity - 1);
  close(o->pipe_ends[0]);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? (size_t)length : 0;
}

static void run_once(const char* name, void* argument) {
  world* w = argument;
  const subject s = find_subject(name);
  if (w->mode != BY_CALLER && subject_needs(&s) == RECORDER) return; /* see context_flags() */
  char text[256];
  output o;
  redirect_output(&o);
  const hmn_status open_status = world_open(w, subject_needs(&s));
  const hmn_status status = open_status == HMN_OK ? subject_run(&s, w, NULL) : HMN_E_STATE;
  world_close(w);
  const size_t printed = restore_output(&o, text, sizeof text);
  if (open_status != HMN_OK || status != HMN_OK) fail_msg("%s: %s", name, hmn_status_name(status));
  if (printed != 0) fail_msg("%s prints \"%s\", %u bytes", name, text, (unsigned)printed);
  if (openings_inherited() != NULL) {
    fail_msg("%s calls %s without close-on-exec", name, openings_inherited());
  }
}

static void run_all(int mode) {
  world w = {.mode = mode, .text = malloc(TEXT), .out = guard_new()};
  const long before = openings_count();
  for_each_export(run_once, &w);
  assert_true(openings_count() > before);
  free(w.text);
  free(w.out);
}

static void nothing_is_printed_or_inherited(void** state) {
  (void)state;
  run_all(BY_CALLER);
}

static void nothing_is_printed_or_inherited_by_workers(void** state) {
  (void)state;
  run_all(BY_WORKERS);
}

static void nothing_is_printed_or_inherited_through_a_tool(void** state) {
  world w = {.mode = BY_TOOL, .text = malloc(TEXT), .out = guard_new()};
  (void)state;
  run_once("hmn_usage_read", &w);
  free(w.text);
  free(w.out);
}

static int setup(void** state) {
  (void)state;
  return machine_begin();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_printed_or_inherited),
      cmocka_unit_test(nothing_is_printed_or_inherited_by_workers),
      cmocka_unit_test(nothing_is_printed_or_inherited_through_a_tool),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
