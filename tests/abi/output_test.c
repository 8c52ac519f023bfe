/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each exported function, read by the caller, by workers and through a tool: it prints nothing, and
 * every descriptor that it opens closes on exec, also one that is closed before the call returns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "fault/machine.h"
#include "fault/openings.h"
#include "fault/subject.h"

typedef struct output {
  int ends[2];
  int before[2]; /* standard output and error */
} output;

static void catch_output(output* o) {
  fflush(NULL);
  assert_int_equal(pipe2(o->ends, O_CLOEXEC | O_NONBLOCK), 0);
  for (int i = 0; i < 2; ++i) {
    o->before[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    assert_true(o->before[i] > STDERR_FILENO);
    assert_int_equal(dup2(o->ends[1], STDOUT_FILENO + i), STDOUT_FILENO + i);
  }
}

/* Returns how much was printed, also into buffers of the C library. */
static size_t let_output_pass(output* o, char* text, size_t capacity) {
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    dup2(o->before[i], STDOUT_FILENO + i);
    close(o->before[i]);
  }
  close(o->ends[1]);
  const ssize_t got = read(o->ends[0], text, capacity - 1);
  close(o->ends[0]);
  text[got > 0 ? got : 0] = 0;
  return got > 0 ? (size_t)got : 0;
}

static void run_once(const char* name, void* argument) {
  world* w = argument;
  const subject s = subject_of(name);
  if (w->mode != BY_CALLER && subject_needs(&s) == RECORDER)
    return; /* see flags_for() */
  char text[256];
  output o;
  catch_output(&o);
  const hmn_status opened = world_open(w, subject_needs(&s));
  const hmn_status status = opened == HMN_OK ? subject_run(&s, w, NULL) : HMN_E_STATE;
  world_close(w);
  const size_t printed = let_output_pass(&o, text, sizeof text);
  if (opened != HMN_OK || status != HMN_OK) fail_msg("%s: %s", name, hmn_status_name(status));
  if (printed != 0) fail_msg("%s prints \"%s\", %u bytes", name, text, (unsigned)printed);
  if (openings_inherited() != NULL) {
    fail_msg("%s calls %s without close-on-exec", name, openings_inherited());
  }
}

static void run_each(int mode) {
  world w = {.mode = mode, .text = malloc(TEXT), .out = guard_new()};
  const long before = openings_count();
  for_each_export(run_once, &w);
  assert_true(openings_count() > before);
  free(w.text);
  free(w.out);
}

static void nothing_is_printed_or_inherited(void** state) {
  (void)state;
  run_each(BY_CALLER);
}

static void nothing_is_printed_or_inherited_by_workers(void** state) {
  (void)state;
  run_each(BY_WORKERS);
}

static void nothing_is_printed_or_inherited_around_a_tool(void** state) {
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
      cmocka_unit_test(nothing_is_printed_or_inherited_around_a_tool),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
