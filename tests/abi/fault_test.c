/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each exported function, with its n-th allocation, its n-th system call and its n-th driver call
 * failing, for n = 1, 2, ... until none fails: the status is one that the header documents, nothing
 * is lost, and the same call works afterwards.
 *
 * HMN_FAULT_REPORT: a file to which a line is written for each function, with the number of faults
 * of each kind. HMN_FAULT_ONLY: functions with that in their name.
 */
#include "fault/faults.h"
#include "fault/machine.h"
#include "fault/subject.h"
#include "support/clock.h"
#include "support/thread.h"

enum { MOST = 5000, REST_SECONDS = 60, SETTLE_MS = 2000, LIKE_TURNS = 5 };

typedef struct kind {
  const char* name;
  int interposed; /* FAULT_*; FAULT_NONE: of the driver, which returns the code */
  int code;
} kind;

/* NVML: no permission, GPU lost, uninitialized, unknown. */
static const kind kinds[] = {
    {"allocation", FAULT_ALLOCATION, 0}, {"system call", FAULT_SYSTEM_CALL, 0},
    {"driver call (4)", FAULT_NONE, 4},  {"driver call (15)", FAULT_NONE, 15},
    {"driver call (1)", FAULT_NONE, 1},  {"driver call (999)", FAULT_NONE, 999},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], REPORTED_KINDS = 3 };

static FILE* report;
static long step = 1; /* HMN_FAULT_STEP: only every so manieth fault */

typedef struct held {
  long blocks;
  int descriptors, threads;
} held;

/* A descriptor whose file cannot be identified may be the program's by now: it is left open. */
static int leaves_open(const subject* s, const char* failed) {
  return strstr(s->name, "_destroy") != NULL && failed != NULL && strncmp(failed, "fstat", 5) == 0;
}

static held held_now(void) {
  const held h = {fault_live_blocks(), descriptor_count(), thread_count()};
  return h;
}

/* Threads that are ending give back what they held in their own time. */
static int settles(const held* before) {
  for (const int64_t begun = now_ms(); now_ms() - begun < SETTLE_MS; sleep_ms(1)) {
    const held now = held_now();
    if (now.blocks <= before->blocks && now.descriptors <= before->descriptors &&
        now.threads <= before->threads) {
      return 1;
    }
  }
  return 0;
}

static void arm(const kind* k, long number, int mode) {
  if (k->interposed == FAULT_NONE) {
    machine_fail_driver(number, k->code);
  } else if (mode == BY_WORKERS) {
    fault_arm_everywhere(k->interposed, number);
  } else {
    fault_arm(k->interposed, number);
  }
}

static const char* disarm(const kind* k, long number) {
  if (k->interposed != FAULT_NONE) return fault_disarm();
  const long made = machine_driver_calls();
  machine_fail_driver(0, 0);
  return made >= number ? "the driver" : NULL;
}

static hmn_status run_with_fault(const subject* s, world* w, const kind* k, long number,
                                 const char** failed) {
  NEW(hmn_error, error);
  arm(k, number, w->mode);
  const hmn_status status = subject_run(s, w, &error);
  *failed = disarm(k, number);
  if (status > 0 || -status > 31 || (s->documented >> -status & 1) == 0) {
    fail_msg("%s, %s %ld (%s): %s, \"%s\"", s->name, k->name, number, *failed,
             hmn_status_name(status), error.message);
  }
  return status;
}

/* At once it may report that a source that failed rests for a while. */
static void assert_works_again(const subject* s, world* w, const kind* k, long number) {
  NEW(hmn_error, error);
  const hmn_status at_once = subject_run(s, w, &error);
  if (at_once == s->usual) return;
  assert_true(at_once <= 0 && (s->documented >> -at_once & 1) != 0);
  fault_let_pass(REST_SECONDS);
  /* A device that the scan missed is found by the next one. */
  if (w->f.context != NULL) hmn_device_scan(w->f.context, NULL, NULL, NULL);
  const hmn_status later = subject_run(s, w, &error);
  if (later != s->usual) {
    fail_msg("%s after %s %ld: %s, \"%s\"", s->name, k->name, number, hmn_status_name(later),
             error.message);
  }
}

/* Returns what failed. `is_warm`: the function was called before. */
static const char* turn(const subject* s, const kind* k, long number, int is_warm, world* w) {
  const char* failed = NULL;
  assert_status(world_open(w, subject_needs(s)), HMN_OK);
  if (is_warm) subject_run(s, w, NULL);
  const hmn_status status = run_with_fault(s, w, k, number, &failed);
  if (failed == NULL) assert_status(status, s->usual);
  assert_works_again(s, w, k, number);
  world_close(w);
  return failed;
}

/* The loader keeps its last message, the C library the stacks of threads that have ended: what is
 * made in each of several like turns is lost. */
static const char* turn_without_loss(const subject* s, const kind* k, long number, int is_warm,
                                     world* w) {
  for (int i = 0; i < LIKE_TURNS; ++i) {
    held before = held_now();
    const char* failed = turn(s, k, number, is_warm, w);
    before.descriptors += leaves_open(s, failed);
    if (settles(&before)) return failed;
  }
  fail_msg("%s, %s %ld: blocks, descriptors or threads are lost", s->name, k->name, number);
  return NULL;
}

static long loop(const subject* s, const kind* k, int is_warm, world* w) {
  long number = 1;
  while (turn_without_loss(s, k, number, is_warm, w) != NULL) {
    number += step;
    assert_in_range(number, 1, MOST);
  }
  return number - 1;
}

static void learn_the_usual(subject* s, world* w) {
  NEW(hmn_error, error);
  assert_status(world_open(w, subject_needs(s)), HMN_OK);
  s->usual = subject_run(s, w, &error);
  if (s->usual != HMN_OK) fail_msg("%s: %s, %s", s->name, hmn_status_name(s->usual), error.message);
  subject_run(s, w, NULL);
  world_close(w);
}

static void assert_survives(const char* name, world* w) {
  long counts[REPORTED_KINDS] = {0};
  subject s = subject_of(name);
  if (s.documented == 0) fail_msg("%s is not in the header", name);
  if (s.own == NULL && s.filling == NULL && s.writing == NULL) fail_msg("%s has no loop", name);
  learn_the_usual(&s, w);
  for (size_t k = 0; k < KINDS; ++k) {
    /* A sampler's thread calls the driver, in its own time. */
    if (kinds[k].interposed == FAULT_NONE && subject_needs(&s) == SAMPLER) continue;
    for (int is_warm = 0; is_warm <= (subject_needs(&s) == CONTEXT); ++is_warm) {
      counts[k < REPORTED_KINDS ? k : REPORTED_KINDS - 1] += loop(&s, &kinds[k], is_warm, w);
    }
  }
  if (report == NULL) return;
  fprintf(report, "%s %ld %ld %ld\n", name, counts[0], counts[1], counts[2]);
  fflush(report);
}

static void export_survives(const char* name, void* w) {
  const char* only = getenv("HMN_FAULT_ONLY");
  if (only == NULL || strstr(name, only) != NULL) assert_survives(name, w);
}

static void every_export_survives_every_fault(void** state) {
  world w = {.text = malloc(TEXT), .out = guard_new()};
  (void)state;
  for_each_export(export_survives, &w);
  free(w.text);
  free(w.out);
}

static void assert_readings_survive(int mode, const char* const* names, size_t count) {
  world w = {.mode = mode, .text = malloc(TEXT), .out = guard_new()};
  for (size_t i = 0; i < count; ++i) {
    subject s = subject_of(names[i]);
    learn_the_usual(&s, &w);
    for (size_t k = 0; k < KINDS; ++k) {
      if (kinds[k].interposed != FAULT_NONE) loop(&s, &kinds[k], 0, &w);
    }
  }
  free(w.text);
  free(w.out);
}

static void readings_survive_faults_of_their_workers(void** state) {
  static const char* const readings[] = {"hmn_device_scan", "hmn_pool_read", "hmn_telemetry_read",
                                         "hmn_usage_read", "hmn_snapshot_take"};
  (void)state;
  assert_readings_survive(BY_WORKERS, readings, sizeof readings / sizeof readings[0]);
}

static void readings_survive_faults_around_a_tool(void** state) {
  static const char* const readings[] = {"hmn_usage_read"};
  (void)state;
  assert_readings_survive(BY_TOOL, readings, sizeof readings / sizeof readings[0]);
}

static int setup(void** state) {
  const char* path = getenv("HMN_FAULT_REPORT");
  const char* every = getenv("HMN_FAULT_STEP");
  (void)state;
  if (every != NULL) step = atol(every);
  if (step < 1 || (step > 1 && path != NULL)) return -1;
  if (path != NULL && (report = fopen(path, "w")) == NULL) return -1;
  return machine_begin();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_export_survives_every_fault),
      cmocka_unit_test(readings_survive_faults_of_their_workers),
      cmocka_unit_test(readings_survive_faults_around_a_tool),
  };
  if (getenv("HMN_FAULT_TEST") != NULL) cmocka_set_test_filter(getenv("HMN_FAULT_TEST"));
  return cmocka_run_group_tests(tests, setup, NULL);
}
