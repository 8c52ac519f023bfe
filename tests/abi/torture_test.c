/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each allocation of every call is refused, alone or with all later ones: the call returns
 * HMN_E_NO_MEMORY, its results are zero, nothing leaks, and the same call works afterwards.
 */
#include "support/calls.h"
#include "support/child.h"
#include "support/refusal.h"

static const long patterns[] = {ONCE, FROM_THEN_ON};

/* Otherwise the suite would refuse nothing and pass. */
static void the_library_uses_the_allocator_of_this_program(void** state) {
  (void)state;
  const long before = allocator_total();
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_true(allocator_total() > before);
  hmn_context_destroy(context);
}

static void create_without_memory_fails_cleanly(void** state) {
  (void)state;
  for (size_t p = 0; p < 2; ++p) {
    long refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MAX_ALLOCATIONS);
      NEW(hmn_error, error);
      hmn_context* context = (hmn_context*)&error;
      const long before = allocator_live();
      allocator_refuse(skip, patterns[p]);
      const hmn_status status = hmn_context_create(NULL, &context, &error);
      refused = allocator_allow();
      if (refused != 0) {
        assert_status(status, HMN_E_NO_MEMORY);
        assert_reported(&error, HMN_E_NO_MEMORY);
        assert_null(context);
      }
      hmn_context_destroy(context);
      assert_no_leak(before);
    }
  }
}

static void set_path_without_memory_fails_cleanly(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const char* path = HMN_TEST_ROOT "/a/path/that/is/longer/than/what/a/string/keeps/within/itself";
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    NEW(hmn_error, error);
    allocator_refuse(skip, ONCE);
    const hmn_status status = hmn_context_set_path(context, HMN_PATH_PROC, path, &error);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    assert_reported(&error, status);
  }
  hmn_context_destroy(context);
}

static void simulate_without_memory(long times) {
  hmn_context* context = NULL;
  CHECK_STATUS(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const char* path = HMN_TEST_ROOT "/no/machine/file/is/needed/to/say/where/one/may/be";
  hmn_status status = HMN_E_NO_MEMORY;
  for (long skip = 0; status != HMN_OK; ++skip) {
    NEW(hmn_error, error);
    allocator_refuse(skip, times);
    status = hmn_context_set_path(context, HMN_PATH_SIMULATION, path, &error);
    allocator_allow();
    CHECK(status == HMN_OK || status == HMN_E_NO_MEMORY);
    CHECK(status == error.status);
  }
  hmn_context_destroy(context);
  /* The library that was loaded in the end is intact: exceptions pass through it. */
  for (long skip = 0, refused = 1; refused != 0; ++skip) {
    hmn_context* fresh = NULL;
    uint32_t count = 0;
    CHECK_STATUS(open_machine(MACHINE_FILE, HMN_CONTEXT_NO_THREADS, &fresh), HMN_OK);
    allocator_refuse(skip, times);
    status = hmn_device_scan(fresh, &count, NULL, NULL);
    refused = allocator_allow();
    CHECK(status == HMN_E_NO_MEMORY || (status == HMN_OK && (refused == 0 || times == ONCE)));
    hmn_context_destroy(fresh);
  }
}

static void simulate_in_child(void* times) {
  simulate_without_memory(*(const long*)times);
}

/* The first simulation of a process loads a library for good, so each pattern needs a process. */
static void the_first_simulation_without_memory_fails_cleanly(void** state) {
  (void)state;
  for (size_t p = 0; p < 2; ++p) {
    long times = patterns[p];
    assert_child_with_copy(simulate_in_child, &times, sizeof times);
  }
  hmn_context* context = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  hmn_context_destroy(context);
}

static const call* find_snapshot_take(void) {
  for (size_t i = 0; i < call_count; ++i) {
    if (strcmp(calls[i].name, "hmn_snapshot_take") == 0) return &calls[i];
  }
  return NULL;
}

/* A call may try again and succeed if one allocation is refused, but not if all later ones are. A
 * snapshot succeeds with diagnostics for the values that it lacks; see try_snapshot. */
static int is_excused(const call* c, hmn_status status, long times) {
  return status == HMN_OK && (times == ONCE || c == find_snapshot_take());
}

/* Without memory for a thread the system reports HMN_E_LIMIT. */
static int is_memory_failure(hmn_status status, hmn_flags flags) {
  return status == HMN_E_NO_MEMORY ||
         (status == HMN_E_LIMIT && (flags & HMN_CONTEXT_NO_THREADS) == 0);
}

static long call_without_memory(const call* c, const fixture* f, hmn_flags flags, long skip,
                                long times, guarded* g) {
  NEW(hmn_error, error);
  void* out = guard_arm(g, c->size_v1);
  allocator_refuse(skip, times);
  const hmn_status status = c->run(f, out, &error);
  const long refused = allocator_allow();
  assert_reported(&error, status);
  if (refused == 0) assert_status(status, HMN_OK);
  if (refused == 0 || is_excused(c, status, times)) return refused;
  if (!is_memory_failure(status, flags)) {
    fail_msg("%s without allocation %ld: %s, \"%s\"", c->name, skip, hmn_status_name(status),
             error.message);
  }
  if (c->size_v1 > 0) assert_cleared(g, c->size_v1);
  return refused;
}

/* The first reading of a fresh context opens its sources. */
static long read_first_without_memory(const call* c, long skip, long times, hmn_flags flags,
                                      guarded* g) {
  fixture f = {NULL, NULL, NULL, NULL, NULL};
  assert_status(open_machine(MACHINE_FILE, flags, &f.context), HMN_OK);
  const long refused = call_without_memory(c, &f, flags, skip, times, g);
  NEW(hmn_error, error);
  const hmn_status second = c->run(&f, guard_arm(g, c->size_v1), &error);
  if (second != HMN_OK) fail_msg("%s after allocation %ld: %s", c->name, skip, error.message);
  hmn_context_destroy(f.context);
  return refused;
}

static void first_readings_without_memory_fail_cleanly(void** state) {
  (void)state;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].takes_context) continue;
    for (size_t p = 0; p < 2; ++p) {
      long refused = 1;
      for (long skip = 0; refused != 0; skip += STEP) {
        assert_in_range(skip, 0, MAX_ALLOCATIONS);
        const long before = allocator_live();
        refused =
            read_first_without_memory(&calls[i], skip, patterns[p], HMN_CONTEXT_NO_THREADS, g);
        assert_no_leak(before);
      }
    }
  }
  free(g);
}

static void first_readings_by_workers_without_memory_fail_cleanly(void** state) {
  (void)state;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].takes_context) continue;
    for (size_t p = 0; p < WORKER_PATTERNS; ++p) {
      for (long skip = 0; read_first_without_memory(&calls[i], skip, patterns[p], 0, g) != 0;
           skip += STEP) {
        assert_in_range(skip, 0, MAX_ALLOCATIONS);
      }
    }
  }
  free(g);
}

static void later_readings_without_memory_fail_cleanly(void** state) {
  (void)state;
  const long before = allocator_live();
  fixture f;
  assert_int_equal(fixture_open_machine(&f, MACHINE_FILE, HMN_CONTEXT_NO_THREADS), 0);
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (reads_sampler_results(&calls[i])) continue;
    for (size_t p = 0; p < 2; ++p) {
      for (long skip = 0;
           call_without_memory(&calls[i], &f, HMN_CONTEXT_NO_THREADS, skip, patterns[p], g) != 0;
           ++skip) {
        assert_in_range(skip, 0, MAX_ALLOCATIONS);
      }
    }
  }
  free(g);
  fixture_close(&f);
  assert_no_leak(before);
}

typedef struct counts {
  uint32_t devices, pools, usages, diagnostics;
  int lacks_memory;
} counts;

static counts count_rows(const hmn_snapshot* snapshot) {
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  counts c = {info.device_count, info.pool_count, info.usage_count, info.diagnostic_count, 0};
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, diagnostic);
    assert_status(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic, NULL), HMN_OK);
    if (is_memory_failure(diagnostic.status, 0)) c.lacks_memory = 1;
  }
  if (c.lacks_memory) assert_int_equal(info.notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
  return c;
}

/* The snapshot is complete, has a diagnostic with the reason, or is not taken. */
static long try_snapshot(const counts* complete, hmn_flags flags, int is_warm, long skip,
                         long times) {
  hmn_context* context = NULL;
  assert_status(open_machine(MACHINE_FILE, flags, &context), HMN_OK);
  if (is_warm) hmn_snapshot_destroy(take_everything(context));
  NEW(hmn_snapshot_options, options);
  NEW(hmn_error, error);
  options.collect = EVERYTHING;
  hmn_snapshot* snapshot = (hmn_snapshot*)&error;
  allocator_refuse(skip, times);
  const hmn_status status = hmn_snapshot_take(context, &options, &snapshot, &error);
  const long refused = allocator_allow();
  assert_reported(&error, status);
  if (status == HMN_OK) {
    const counts c = count_rows(snapshot);
    if (!c.lacks_memory) assert_memory_equal(&c, complete, sizeof c);
  } else {
    assert_true(is_memory_failure(status, flags));
    assert_null(snapshot);
  }
  hmn_snapshot_destroy(snapshot);
  hmn_context_destroy(context);
  return refused;
}

static void snapshots_without_memory_have_diagnostics_or_fail(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open_machine(&f, MACHINE_FILE, 0), 0);
  const counts complete = count_rows(f.after);
  fixture_close(&f);
  const hmn_flags flags[] = {0, HMN_CONTEXT_NO_THREADS};
  for (size_t i = 0; i < 8; ++i) {
    if (flags[i >> 1 & 1] == 0 && (i & 1) >= WORKER_PATTERNS) continue;
    const long times = patterns[i & 1];
    long skip = 0;
    while (try_snapshot(&complete, flags[i >> 1 & 1], i >> 2 & 1, skip, times) != 0) {
      assert_in_range(++skip, 0, MAX_ALLOCATIONS);
    }
  }
}

static long write_text_without_memory(const text_call* c, const fixture* f, long skip) {
  static char buffer[65536];
  uint32_t needed = 7;
  const long before = allocator_live();
  allocator_refuse(skip, ONCE);
  NEW(hmn_error, error);
  const hmn_status status = c->run(f, buffer, sizeof buffer, &needed, &error);
  const long refused = allocator_allow();
  assert_reported(&error, status);
  assert_no_leak(before);
  assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
  if (refused != 0) assert_int_equal(needed, 0);
  return refused;
}

static void texts_without_memory_fail_cleanly(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open_machine(&f, MACHINE_FILE, HMN_CONTEXT_NO_THREADS), 0);
  for (size_t i = 0; i < text_call_count; ++i) {
    text_calls[i].run(&f, NULL, 0, NULL, NULL); /* the first call of a thread may keep memory */
    for (long skip = 0; write_text_without_memory(&text_calls[i], &f, skip) != 0; ++skip)
      assert_in_range(skip, 0, MAX_ALLOCATIONS);
  }
  fixture_close(&f);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_uses_the_allocator_of_this_program),
      cmocka_unit_test(create_without_memory_fails_cleanly),
      cmocka_unit_test(set_path_without_memory_fails_cleanly),
      cmocka_unit_test(the_first_simulation_without_memory_fails_cleanly),
      cmocka_unit_test(first_readings_without_memory_fail_cleanly),
      cmocka_unit_test(first_readings_by_workers_without_memory_fail_cleanly),
      cmocka_unit_test(later_readings_without_memory_fail_cleanly),
      cmocka_unit_test(snapshots_without_memory_have_diagnostics_or_fail),
      cmocka_unit_test(texts_without_memory_fail_cleanly),
  };
  return cmocka_run_group_tests(tests, throw_first_exception, NULL);
}
