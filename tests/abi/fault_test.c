/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each exported function, with its n-th allocation, its n-th system call and its n-th driver call
 * failing, for n = 1, 2, ... until none fails: it returns a status that the header documents,
 * nothing leaks, and the same call works afterwards.
 *
 * HMN_FAULT_REPORT: a file to which a line is written for each function, with the number of faults
 * of each kind. HMN_FAULT_ONLY: only functions whose name contains it.
 */
#include "fault/faults.h"
#include "fault/machine.h"
#include "fault/subject.h"
#include "support/clock.h"
#include "support/thread.h"

enum { MAX_FAULTS = 5000, BACKOFF_SECONDS = 60, SETTLE_MS = 2000, ATTEMPTS = 5 };

typedef struct kind {
  const char* name;
  int interposed; /* FAULT_*; FAULT_NONE: a driver call, which returns the code */
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
static long step = 1; /* HMN_FAULT_STEP: only every n-th fault */

typedef struct resources {
  long blocks;
  int descriptors, threads;
} resources;

/* A descriptor whose file cannot be identified is left open: the program may have reused it. */
static int leaves_open(const subject* s, const char* failed) {
  return strstr(s->name, "_destroy") != NULL && failed != NULL && strncmp(failed, "fstat", 5) == 0;
}

static resources count_resources(void) {
  const resources counts = {fault_live_blocks(), descriptor_count(), thread_count()};
  return counts;
}

/* Waits for the resources of threads that are still ending. */
static int wait_for_release(const resources* before) {
  for (const int64_t start = now_ms(); now_ms() - start < SETTLE_MS; sleep_ms(1)) {
    const resources now = count_resources();
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
  const long driver_calls = machine_driver_calls();
  machine_fail_driver(0, 0);
  return driver_calls >= number ? "the driver" : NULL;
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

/* Right after the fault the call may report that a failed source is in back-off. */
static void assert_works_again(const subject* s, world* w, const kind* k, long number) {
  NEW(hmn_error, error);
  const hmn_status immediate = subject_run(s, w, &error);
  if (immediate == s->normal_status) return;
  assert_true(immediate <= 0 && (s->documented >> -immediate & 1) != 0);
  fault_advance_clocks(BACKOFF_SECONDS);
  /* The next scan finds a device that the last one missed. */
  if (w->f.context != NULL) hmn_device_scan(w->f.context, NULL, NULL, NULL);
  const hmn_status later = subject_run(s, w, &error);
  if (later != s->normal_status) {
    fail_msg("%s after %s %ld: %s, \"%s\"", s->name, k->name, number, hmn_status_name(later),
             error.message);
  }
}

/* Returns the name of the function that failed. `is_warm`: the function was called before. */
static const char* run_once(const subject* s, const kind* k, long number, int is_warm, world* w) {
  const char* failed = NULL;
  assert_status(world_open(w, subject_needs(s)), HMN_OK);
  if (is_warm) subject_run(s, w, NULL);
  const hmn_status status = run_with_fault(s, w, k, number, &failed);
  if (failed == NULL) assert_status(status, s->normal_status);
  assert_works_again(s, w, k, number);
  world_close(w);
  return failed;
}

/* The loader keeps its last message, and the C library the stacks of ended threads: only resources
 * that each of several equal runs keeps are a leak. */
static const char* run_without_leak(const subject* s, const kind* k, long number, int is_warm,
                                    world* w) {
  for (int i = 0; i < ATTEMPTS; ++i) {
    resources before = count_resources();
    const char* failed = run_once(s, k, number, is_warm, w);
    before.descriptors += leaves_open(s, failed);
    if (wait_for_release(&before)) return failed;
  }
  fail_msg("%s, %s %ld: blocks, descriptors or threads leak", s->name, k->name, number);
  return NULL;
}

static long loop(const subject* s, const kind* k, int is_warm, world* w) {
  long number = 1;
  while (run_without_leak(s, k, number, is_warm, w) != NULL) {
    number += step;
    assert_in_range(number, 1, MAX_FAULTS);
  }
  return number - 1;
}

static void record_normal_status(subject* s, world* w) {
  NEW(hmn_error, error);
  assert_status(world_open(w, subject_needs(s)), HMN_OK);
  s->normal_status = subject_run(s, w, &error);
  if (s->normal_status != HMN_OK)
    fail_msg("%s: %s, %s", s->name, hmn_status_name(s->normal_status), error.message);
  subject_run(s, w, NULL);
  world_close(w);
}

static void assert_survives(const char* name, world* w) {
  long counts[REPORTED_KINDS] = {0};
  subject s = find_subject(name);
  if (s.documented == 0) fail_msg("%s is not in the header", name);
  if (s.function == NULL && s.call == NULL && s.text_call == NULL) fail_msg("%s has no loop", name);
  record_normal_status(&s, w);
  for (size_t k = 0; k < KINDS; ++k) {
    /* The sampler's thread calls the driver at any time. */
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
    subject s = find_subject(names[i]);
    record_normal_status(&s, &w);
    for (size_t k = 0; k < KINDS; ++k) {
      if (kinds[k].interposed != FAULT_NONE) loop(&s, &kinds[k], 0, &w);
    }
  }
  free(w.text);
  free(w.out);
}

static void readings_survive_faults_in_worker_threads(void** state) {
  static const char* const readings[] = {"hmn_device_scan", "hmn_pool_read", "hmn_telemetry_read",
                                         "hmn_usage_read", "hmn_snapshot_take"};
  (void)state;
  assert_readings_survive(BY_WORKERS, readings, sizeof readings / sizeof readings[0]);
}

static void readings_through_a_tool_survive_faults(void** state) {
  static const char* const readings[] = {"hmn_usage_read"};
  (void)state;
  assert_readings_survive(BY_TOOL, readings, sizeof readings / sizeof readings[0]);
}

static int setup(void** state) {
  const char* path = getenv("HMN_FAULT_REPORT");
  const char* step_text = getenv("HMN_FAULT_STEP");
  (void)state;
  if (step_text != NULL) step = atol(step_text);
  if (step < 1 || (step > 1 && path != NULL)) return -1;
  if (path != NULL && (report = fopen(path, "w")) == NULL) return -1;
  return machine_begin();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_export_survives_every_fault),
      cmocka_unit_test(readings_survive_faults_in_worker_threads),
      cmocka_unit_test(readings_through_a_tool_survive_faults),
  };
  if (getenv("HMN_FAULT_TEST") != NULL) cmocka_set_test_filter(getenv("HMN_FAULT_TEST"));
  return cmocka_run_group_tests(tests, setup, NULL);
}
