/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Recording Linux's files while one allocation, or every allocation from one on, is refused: an
 * incomplete recording is refused, nothing leaks, and the next call works.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "support/calls.h"
#include "support/machine.h"
#include "support/refusal.h"

enum { RECORDED = HMN_CONTEXT_RECORD | HMN_CONTEXT_NO_THREADS };
static const long patterns[] = {ONCE, FROM_THEN_ON};

/* A small machine of files, and the fake driver if it is built. */
static void make_files(const tree* t) {
  assert_int_equal(tree_write(t, "proc/meminfo", "MemTotal: 65536 kB\nMemAvailable: 4096 kB\n"), 0);
  assert_int_equal(tree_write(t, "proc/self/statm", "100 50 10 1 0 20 0\n"), 0);
  assert_int_equal(tree_write(t, "proc/4242/comm", "trainer\n"), 0);
  const char* const files[][2] = {{"vendor", "0x1002\n"},
                                  {"device", "0x6779\n"},
                                  {"power/runtime_status", "active\n"},
                                  {"uevent", "DRIVER=radeon\nPCI_SLOT_NAME=0000:03:00.0\n"}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
    char name[128];
    snprintf(name, sizeof name, "sys/class/drm/renderD128/device/%s", files[i][0]);
    assert_int_equal(tree_write(t, name, files[i][1]), 0);
  }
  assert_int_equal(tree_write(t, "sys/class/drm/renderD128/dev", "1:7\n"), 0);
}

static hmn_context* open_files(const tree* t) {
  const hmn_context_options options = patient_options(RECORDED);
  hmn_context* context = NULL;
  char proc[128];
  char sys[128];
  snprintf(proc, sizeof proc, "%s/proc", t->path);
  snprintf(sys, sizeof sys, "%s/sys", t->path);
  assert_status(hmn_context_create(&options, &context, NULL), HMN_OK);
  assert_status(hmn_context_set_path(context, HMN_PATH_PROC, proc, NULL), HMN_OK);
  assert_status(hmn_context_set_path(context, HMN_PATH_SYS, sys, NULL), HMN_OK);
#ifdef HMN_TEST_NVML
  assert_status(hmn_context_set_path(context, HMN_PATH_NVML, HMN_TEST_NVML, NULL), HMN_OK);
#endif
  return context;
}

static hmn_status take(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  hmn_snapshot* snapshot = NULL;
  options.collect = EVERYTHING;
  const hmn_status status = hmn_snapshot_take(context, &options, &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
  return status;
}

enum { TEXT = 1 << 20 };

typedef struct recording {
  tree files;
  char* complete;
  char* text;
} recording;

static long record(void* argument, long skip, long times) {
  const recording* r = argument;
  uint32_t needed = 0;
  hmn_context* context = open_files(&r->files);
  allocator_refuse(skip, times);
  const hmn_status take_status = take(context);
  const long refused = allocator_allow();
  if (take_status != HMN_OK) assert_exhausted(take_status);
  if (refused != 0) assert_status(take(context), HMN_OK);
  const hmn_status status = hmn_context_recording(context, 0, r->text, TEXT, &needed, NULL);
  if (status == HMN_OK) {
    assert_string_equal(r->text, r->complete);
  } else {
    assert_status(status, HMN_E_NO_MEMORY);
    assert_true(refused != 0);
    assert_int_equal(needed, 0);
  }
  hmn_context_destroy(context);
  return refused;
}

/* An incomplete recording must not be returned as a complete one. */
static void a_recording_is_complete_or_refused(void** state) {
  (void)state;
  recording r = {.complete = malloc(TEXT), .text = malloc(TEXT)};
  uint32_t needed = 0;
  assert_int_equal(tree_make(&r.files), 0);
  make_files(&r.files);
  hmn_context* context = open_files(&r.files);
  assert_status(take(context), HMN_OK);
  assert_status(hmn_context_recording(context, 0, r.complete, TEXT, &needed, NULL), HMN_OK);
  hmn_context_destroy(context);
  assert_non_null(strstr(r.complete, "renderD128"));
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    assert_in_range(skip, 0, MAX_ALLOCATIONS);
    refused = run_without_leak(record, &r, skip, ONCE);
  }
  tree_remove(&r.files);
  free(r.complete);
  free(r.text);
}

static void writing_and_replaying_a_recording_without_memory_fails_cleanly(void** state) {
  (void)state;
  tree t;
  char* text = malloc(TEXT);
  uint32_t needed = 7;
  assert_int_equal(tree_make(&t), 0);
  make_files(&t);
  hmn_context* context = open_files(&t);
  assert_status(take(context), HMN_OK);
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    assert_in_range(skip, 0, MAX_ALLOCATIONS);
    const long before = allocator_live();
    allocator_refuse(skip, ONCE);
    const hmn_status status = hmn_context_recording(context, 0, text, TEXT, &needed, NULL);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    if (refused != 0) assert_int_equal(needed, 0);
    assert_no_leak(before);
  }
  assert_int_equal(tree_write(&t, "machine.json", text), 0);
  hmn_context_destroy(context);
  free(text);

  /* The recording is replayed. */
  char path[128];
  snprintf(path, sizeof path, "%s/machine.json", t.path);
  for (size_t p = 0; p < 2; ++p) {
    refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MAX_ALLOCATIONS);
      const long before = allocator_live();
      const hmn_context_options options = patient_options(HMN_CONTEXT_NO_THREADS);
      assert_status(hmn_context_create(&options, &context, NULL), HMN_OK);
      assert_status(hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL), HMN_OK);
      allocator_refuse(skip, patterns[p]);
      const hmn_status status = take(context);
      refused = allocator_allow();
      if (status != HMN_OK) assert_exhausted(status);
      assert_status(take(context), HMN_OK);
      hmn_context_destroy(context);
      assert_no_leak(before);
    }
  }
  tree_remove(&t);
}

int main(void) {
#ifdef HMN_TEST_NVML
  /* The fake driver leaks its memory whenever it is loaded again. */
  if (dlopen(HMN_TEST_NVML, RTLD_NOW | RTLD_LOCAL) == NULL) return 1;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_recording_is_complete_or_refused),
      cmocka_unit_test(writing_and_replaying_a_recording_without_memory_fails_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
