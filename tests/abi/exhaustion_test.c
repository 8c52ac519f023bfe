/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A sampler works on for a long time, with each allocation refused once, and from then on: a try
 * that failed is counted, nothing leaks, and all of it goes on afterwards.
 */
#include "support/calls.h"
#include "support/machine.h"
#include "support/refusal.h"

enum { TRIES = 3 };
static const long patterns[] = {ONCE, FROM_THEN_ON};

static hmn_sampler_info info_of(hmn_sampler* sampler) {
  NEW(hmn_sampler_info, info);
  assert_status(hmn_sampler_read(sampler, &info, NULL), HMN_OK);
  return info;
}

static hmn_sampler_info wait_for_tries(hmn_sampler* sampler, uint64_t count) {
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
  options.interval_ns = options.process_interval_ns = HMN_MILLISECONDS(1);
  options.capacity = 2;
  what.collect = EVERYTHING;
  return hmn_sampler_create(context, &options, &what, out, error);
}

static void samplers_are_made_or_not(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  /* A context keeps its list of samplers once it has had one. */
  hmn_sampler* first = NULL;
  assert_status(make_sampler(context, &first, NULL), HMN_OK);
  hmn_sampler_destroy(first);
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
    assert_reported(&error, status);
    if (refused != 0) assert_null(sampler);
    hmn_sampler_destroy(sampler);
    assert_settled(before);
  }
  hmn_context_destroy(context);
}

/* A snapshot that lacks something for want of memory has a diagnostic. */
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

static void assert_serves(hmn_sampler* sampler) {
  const uint64_t done = info_of(sampler).taken_count + info_of(sampler).failed_count;
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

/* The life of a sampler from its start on; how many allocations were refused in its first tries. */
static long life(void* of, long skip, long times) {
  (void)of;
  hmn_context* context = NULL;
  hmn_sampler* sampler = NULL;
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  allocator_refuse(skip, times);
  const hmn_status started = hmn_sampler_start(sampler, NULL);
  if (started == HMN_OK) wait_for_tries(sampler, TRIES);
  const hmn_sampler_info info = info_of(sampler);
  const long refused = allocator_allow();
  if (started != HMN_OK) {
    assert_exhausted(started);
    assert_true(refused != 0);
    assert_int_equal(info.state, HMN_SAMPLER_STATE_IDLE);
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
  for (size_t p = 0; p < WORKERS_BEAR; ++p) {
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
  assert_status(open_machine(MACHINE_FILE, 0, &context), HMN_OK);
  assert_status(make_sampler(context, &sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  for (long skip = 0; skip < 200; ++skip) {
    hmn_snapshot* snapshot = NULL;
    allocator_refuse(skip % 50, ONCE);
    wait_for_tries(sampler, info_of(sampler).taken_count + info_of(sampler).failed_count + 2);
    allocator_allow();
    assert_in_range(info_of(sampler).failed_count, 0, skip + 1);
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
      cmocka_unit_test(samplers_are_made_or_not),
      cmocka_unit_test(samplers_go_on_without_memory),
      cmocka_unit_test(what_was_taken_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, refuse_first, NULL);
}
