/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What works on for a long time, a sampler and a recording, with each allocation refused once, and
 * from then on: a try that failed is counted, a recording that lacks something is refused, nothing
 * leaks, and all of it goes on afterwards.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>

#include "support/allocator.h"
#include "support/calls.h"
#include "support/machine.h"

enum { MOST = 20000, TRIES = 3, RECORDED = HMN_CONTEXT_RECORD | HMN_CONTEXT_NO_THREADS };
static const long patterns[] = {ONCE, FROM_THEN_ON};
static const char machine_file[] = "small.json";

/* Threads that are ending give back what they held in their own time. */
static int is_settled(long before) {
  for (int i = 0; i < 100 && allocator_live() > before; ++i) sleep_ms(10);
  return allocator_live() <= before;
}

static void assert_settled(long before) {
  if (!is_settled(before)) assert_in_range(allocator_live(), 0, before);
}

/* One turn of a loop. The C library keeps the stacks of threads that have ended, and a driver what
 * it made at its first call: what is made in each of several like turns is lost. */
typedef long (*turn)(void* of, long skip, long times);
static long run_without_loss(turn run, void* of, long skip, long times) {
  for (int i = 0; i < 6; ++i) {
    const long before = allocator_live();
    const long refused = run(of, skip, times);
    if (is_settled(before)) return refused;
  }
  fail_msg("blocks are lost where allocation %ld is refused", skip);
  return 0;
}

/* Without memory for a thread the system says that a limit was reached. */
static void assert_exhausted(hmn_status status) {
  if (status != HMN_E_LIMIT) assert_status(status, HMN_E_NO_MEMORY);
}

static hmn_sampler_info info_of(const hmn_sampler* sampler) {
  NEW(hmn_sampler_info, info);
  assert_status(hmn_sampler_read(sampler, &info), HMN_OK);
  return info;
}

static hmn_sampler_info wait_for_tries(const hmn_sampler* sampler, uint64_t count) {
  hmn_sampler_info info = info_of(sampler);
  for (int64_t begun = now_ms(); now_ms() - begun < PATIENT_MS; sleep_ms(1)) {
    info = info_of(sampler);
    if (info.taken_count + info.failed_count >= count) return info;
  }
  fail_msg("the sampler has stopped: %d tries", (int)(info.taken_count + info.failed_count));
  return info;
}

static hmn_status make_sampler(hmn_context* context, hmn_sampler** out, hmn_error* error) {
  NEW(hmn_sampler_options, options);
  NEW(hmn_snapshot_options, what);
  options.interval_ms = options.process_interval_ms = 1;
  options.capacity = 2;
  what.collect = EVERYTHING;
  return hmn_sampler_create(context, &options, &what, out, error);
}

static void samplers_are_made_or_not(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine(machine_file, 0, &context), HMN_OK);
  const long before = allocator_live();
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    assert_in_range(skip, 0, MOST);
    NEW(hmn_error, error);
    hmn_sampler* sampler = (hmn_sampler*)&error;
    allocator_refuse(skip, ONCE);
    const hmn_status status = make_sampler(context, &sampler, &error);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    assert_told(&error, status);
    if (refused != 0) assert_null(sampler);
    hmn_sampler_destroy(sampler);
    assert_settled(before);
  }
  hmn_context_destroy(context);
}

/* A snapshot that lacks something for want of memory says so. */
static int lacks_memory(const hmn_snapshot* snapshot) {
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info), HMN_OK);
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, diagnostic);
    assert_status(hmn_snapshot_diagnostic(snapshot, i, &diagnostic), HMN_OK);
    if (diagnostic.status == HMN_E_NO_MEMORY || diagnostic.status == HMN_E_LIMIT) return 1;
  }
  return 0;
}

static void assert_serves(hmn_sampler* sampler) {
  const uint64_t done = info_of(sampler).taken_count + info_of(sampler).failed_count;
  const hmn_sampler_info after = wait_for_tries(sampler, done + TRIES);
  assert_status(after.last_status, HMN_OK);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool), HMN_OK);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry), HMN_OK);
  assert_status(hmn_sampler_peak_device(sampler, 0, &peak), HMN_OK);
  assert_status(hmn_sampler_peak(sampler, 0, 4242, &peak), HMN_OK);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_sampler_next(sampler, PATIENT_MS, &snapshot, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
}

/* The life of a sampler from its start on; how many allocations were refused in its first tries. */
static long life(void* of, long skip, long times) {
  (void)of;
  hmn_context* context = NULL;
  hmn_sampler* sampler = NULL;
  assert_status(open_machine(machine_file, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  allocator_refuse(skip, times);
  const hmn_status started = hmn_sampler_start(sampler, NULL);
  if (started == HMN_OK) wait_for_tries(sampler, TRIES);
  const hmn_sampler_info info = info_of(sampler);
  const long refused = allocator_allow();
  if (started != HMN_OK) {
    assert_exhausted(started);
    assert_true(refused != 0);
    assert_int_equal(info.state, HMN_SAMPLER_IDLE);
    assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  } else if (info.last_status != HMN_OK) {
    assert_exhausted(info.last_status);
    assert_true(refused != 0 && info.failed_count > 0);
  }
  if (refused == 0) assert_int_equal(info.failed_count, 0);
  if (times == ONCE) assert_in_range(info.failed_count, 0, 1);
  assert_serves(sampler);
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
  return refused;
}

static void samplers_go_on_without_memory(void** state) {
  (void)state;
  for (size_t p = 0; p < 2; ++p) {
    long refused = 1;
    /* The ring is small, so that a sampler's life allocates about as much in each try. */
    for (long skip = 0; refused != 0 && skip < 400; ++skip) {
      refused = run_without_loss(life, NULL, skip, patterns[p]);
    }
  }
}

static void what_was_taken_without_memory_says_so(void** state) {
  (void)state;
  hmn_context* context = NULL;
  hmn_sampler* sampler = NULL;
  assert_status(open_machine(machine_file, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  for (long skip = 0; skip < 200; ++skip) {
    hmn_snapshot* snapshot = NULL;
    const uint64_t failed = info_of(sampler).failed_count;
    allocator_refuse(skip % 50, ONCE);
    wait_for_tries(sampler, info_of(sampler).taken_count + info_of(sampler).failed_count + 2);
    allocator_allow();
    assert_in_range(info_of(sampler).failed_count - failed, 0, 1);
    if (hmn_sampler_next(sampler, PATIENT_MS, &snapshot, NULL) != HMN_OK) fail();
    NEW(hmn_snapshot_info, info);
    assert_status(hmn_snapshot_read(snapshot, &info), HMN_OK);
    if (!lacks_memory(snapshot)) assert_int_equal(info.pool_count, 1);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
}

/* A small machine of files, and the fake driver where there is one. */
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
  const hmn_context_options options = patient(RECORDED);
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

typedef struct recorded {
  tree files;
  char* whole;
  char* text;
} recorded;

static long record(void* of, long skip, long times) {
  const recorded* r = of;
  uint32_t needed = 0;
  hmn_context* context = open_files(&r->files);
  allocator_refuse(skip, times);
  const hmn_status taken = take(context);
  const long refused = allocator_allow();
  if (taken != HMN_OK) assert_exhausted(taken);
  if (refused != 0) assert_status(take(context), HMN_OK);
  const hmn_status status = hmn_context_recording(context, r->text, TEXT, &needed);
  if (status == HMN_OK) {
    assert_string_equal(r->text, r->whole);
  } else {
    assert_status(status, HMN_E_NO_MEMORY);
    assert_true(refused != 0);
    assert_int_equal(needed, 0);
  }
  hmn_context_destroy(context);
  return refused;
}

/* What is missing from it may not be told as if it were all there is. */
static void recordings_are_whole_or_refused(void** state) {
  (void)state;
  recorded r = {.whole = malloc(TEXT), .text = malloc(TEXT)};
  uint32_t needed = 0;
  assert_int_equal(tree_make(&r.files), 0);
  make_files(&r.files);
  hmn_context* context = open_files(&r.files);
  assert_status(take(context), HMN_OK);
  assert_status(hmn_context_recording(context, r.whole, TEXT, &needed), HMN_OK);
  hmn_context_destroy(context);
  assert_non_null(strstr(r.whole, "renderD128"));
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    assert_in_range(skip, 0, MOST);
    refused = run_without_loss(record, &r, skip, ONCE);
  }
  tree_remove(&r.files);
  free(r.whole);
  free(r.text);
}

static void texts_of_recordings_without_memory(void** state) {
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
    assert_in_range(skip, 0, MOST);
    const long before = allocator_live();
    allocator_refuse(skip, ONCE);
    const hmn_status status = hmn_context_recording(context, text, TEXT, &needed);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    if (refused != 0) assert_int_equal(needed, 0);
    assert_settled(before);
  }
  assert_int_equal(tree_write(&t, "machine.json", text), 0);
  hmn_context_destroy(context);
  free(text);

  /* And what was recorded is replayed. */
  char path[128];
  snprintf(path, sizeof path, "%s/machine.json", t.path);
  for (size_t p = 0; p < 2; ++p) {
    refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MOST);
      const long before = allocator_live();
      const hmn_context_options options = patient(HMN_CONTEXT_NO_THREADS);
      assert_status(hmn_context_create(&options, &context, NULL), HMN_OK);
      assert_status(hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL), HMN_OK);
      allocator_refuse(skip, patterns[p]);
      const hmn_status status = take(context);
      refused = allocator_allow();
      if (status != HMN_OK) assert_exhausted(status);
      assert_status(take(context), HMN_OK);
      hmn_context_destroy(context);
      assert_settled(before);
    }
  }
  tree_remove(&t);
}

int main(void) {
#ifdef HMN_TEST_NVML
  /* The fake driver loses what it holds each time that it is loaded anew. */
  if (dlopen(HMN_TEST_NVML, RTLD_NOW | RTLD_LOCAL) == NULL) return 1;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samplers_are_made_or_not),
      cmocka_unit_test(samplers_go_on_without_memory),
      cmocka_unit_test(what_was_taken_without_memory_says_so),
      cmocka_unit_test(recordings_are_whole_or_refused),
      cmocka_unit_test(texts_of_recordings_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
