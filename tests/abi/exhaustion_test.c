/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A sampler while one allocation, or every allocation from one on, is refused: a failed try is
 * counted, nothing leaks, and the sampler works again afterwards.
 */
#include "support/calls.h"
#include "support/machine.h"
#include "support/refusal.h"

enum { TRIES = 3 };
static const long patterns[] = {ONCE, FROM_THEN_ON};

static hmn_sampler_info read_info(hmn_sampler* sampler) {
  NEW(hmn_sampler_info, info);
  assert_status(hmn_sampler_read(sampler, &info, NULL), HMN_OK);
  return info;
}

static hmn_sampler_info wait_for_tries(hmn_sampler* sampler, uint64_t count) {
  hmn_sampler_info info = read_info(sampler);
  for (int64_t start = now_ms(); now_ms() - start < PATIENT_MS; sleep_ms(1)) {
    info = read_info(sampler);
    if (info.taken_count + info.failed_count >= count) return info;
  }
  fail_msg("the sampler has stopped: %d tries", (int)(info.taken_count + info.failed_count));
  return info;
}

static hmn_status make_sampler(hmn_context* context, hmn_sampler** out, hmn_error* error) {
  NEW(hmn_sampler_options, options);
  NEW(hmn_snapshot_options, snapshot_options);
  options.interval_ns = options.process_interval_ns = HMN_MILLISECONDS(1);
  options.capacity = 2;
  snapshot_options.collect = EVERYTHING;
  return hmn_sampler_create(context, &options, &snapshot_options, out, error);
}

static void creating_a_sampler_without_memory_fails_cleanly(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  /* The first sampler allocates the context's list of samplers. */
  hmn_sampler* first = NULL;
  assert_status(make_sampler(context, &first, NULL), HMN_OK);
  hmn_sampler_destroy(first);
  const long before = allocator_live();
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    assert_in_range(skip, 0, MAX_ALLOCATIONS);
    NEW(hmn_error, error);
    hmn_sampler* sampler = (hmn_sampler*)&error;
    allocator_refuse(skip, ONCE);
    const hmn_status status = make_sampler(context, &sampler, &error);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    assert_reported(&error, status);
    if (refused != 0) assert_null(sampler);
    hmn_sampler_destroy(sampler);
    assert_no_leak(before);
  }
  hmn_context_destroy(context);
}

/* A snapshot that lacks values because there was no memory has a diagnostic. */
static int lacks_memory(const hmn_snapshot* snapshot) {
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, diagnostic);
    assert_status(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic, NULL), HMN_OK);
    if (diagnostic.status == HMN_E_NO_MEMORY || diagnostic.status == HMN_E_LIMIT) return 1;
  }
  return 0;
}

static void assert_works(hmn_sampler* sampler) {
  const uint64_t done = read_info(sampler).taken_count + read_info(sampler).failed_count;
  const hmn_sampler_info after = wait_for_tries(sampler, done + TRIES);
  assert_status(after.last_status, HMN_OK);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, NULL), HMN_OK);
  assert_status(hmn_sampler_peak_device(sampler, 0, &peak, NULL), HMN_OK);
  assert_status(hmn_sampler_peak(sampler, 0, 4242, &peak, NULL), HMN_OK);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
}

/* Runs a sampler from its start; returns how many allocations its first tries were refused. */
static long run_sampler(void* argument, long skip, long times) {
  (void)argument;
  hmn_context* context = NULL;
  hmn_sampler* sampler = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  allocator_refuse(skip, times);
  const hmn_status start_status = hmn_sampler_start(sampler, NULL);
  if (start_status == HMN_OK) wait_for_tries(sampler, TRIES);
  const hmn_sampler_info info = read_info(sampler);
  const long refused = allocator_allow();
  if (start_status != HMN_OK) {
    assert_exhausted(start_status);
    assert_true(refused != 0);
    assert_int_equal(info.state, HMN_SAMPLER_STATE_IDLE);
    assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  } else if (info.last_status != HMN_OK) {
    assert_exhausted(info.last_status);
    assert_true(refused != 0 && info.failed_count > 0);
  }
  if (refused == 0) assert_int_equal(info.failed_count, 0);
  if (times == ONCE) assert_in_range(info.failed_count, 0, 1);
  assert_works(sampler);
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
  return refused;
}

static void samplers_continue_after_refused_allocations(void** state) {
  (void)state;
  for (size_t p = 0; p < WORKER_PATTERNS; ++p) {
    long refused = 1;
    /* The ring is small, so that each try allocates about as much. */
    for (long skip = 0; refused != 0 && skip < 400; ++skip) {
      refused = run_without_leak(run_sampler, NULL, skip, patterns[p]);
    }
  }
}

static void snapshots_report_values_that_lacked_memory(void** state) {
  (void)state;
  hmn_context* context = NULL;
  hmn_sampler* sampler = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  for (long skip = 0; skip < 200; ++skip) {
    hmn_snapshot* snapshot = NULL;
    allocator_refuse(skip % 50, ONCE);
    wait_for_tries(sampler, read_info(sampler).taken_count + read_info(sampler).failed_count + 2);
    allocator_allow();
    assert_in_range(read_info(sampler).failed_count, 0, skip + 1);
    if (hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, NULL) != HMN_OK) fail();
    NEW(hmn_snapshot_info, info);
    assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
    if (!lacks_memory(snapshot)) assert_int_equal(info.pool_count, 1);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creating_a_sampler_without_memory_fails_cleanly),
      cmocka_unit_test(samplers_continue_after_refused_allocations),
      cmocka_unit_test(snapshots_report_values_that_lacked_memory),
  };
  return cmocka_run_group_tests(tests, throw_first_exception, NULL);
}
