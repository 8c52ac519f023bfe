/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Drivers that are slow or never answer.
 */
#include "support/child.h"
#include "support/machine.h"

/* Milliseconds: AT_ONCE is well below the deadline, SLACK allows for a busy machine. */
enum { AT_ONCE = 600, DEADLINE = 1000, SLACK = 20000 };

#define POOLS "\"pools\": [{\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\"}]"
#define ONE_GPU(more) "{\"host\": \"real\", \"devices\": [{\"name\": \"GPU\", " POOLS "}]" more "}"

static const char waits_to_go[] =
    ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]");
static const char opens_slowly[] =
    ONE_GPU(", \"delays\": [{\"call\": \"open\", \"hang_until\": \"%s\"}]");

static hmn_context_options quick_options(void) {
  NEW(hmn_context_options, options);
  options.deadline_ns = HMN_MILLISECONDS(DEADLINE);
  options.open_deadline_ns = HMN_MILLISECONDS(DEADLINE);
  options.stale_ns = HMN_MILLISECONDS(PATIENT_MS);
  return options;
}

static hmn_status read_pool(const machine* m, hmn_pool* pool) {
  memset(pool, 0, sizeof *pool);
  pool->struct_size = sizeof *pool;
  return hmn_pool_read(m->context, 0, HMN_POOL_MAIN, 0, 0, pool, NULL);
}

static int reads_fresh_pool(const machine* m) {
  hmn_pool pool;
  return read_pool(m, &pool) == HMN_OK && (pool.notes & HMN_NOTE_STALE) == 0;
}

#define assert_within(min_ms, max_ms, call, expected) \
  do {                                                \
    const int64_t start = now_ms();                   \
    assert_status(call, expected);                    \
    const int64_t spent = now_ms() - start;           \
    assert_in_range(spent, min_ms, max_ms);           \
  } while (0)

/* Reads the device once; later readings hang. */
static void make_stuck(machine* m, const hmn_context_options* options) {
  machine_make(m, waits_to_go, options);
  machine_go(m);
  wait_until(reads_fresh_pool(m));
  machine_stop(m);
}

static void a_late_answer_gives_the_last_value_marked_stale(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_within(DEADLINE - 20, DEADLINE + SLACK, read_pool(&m, &pool), HMN_OK);
  assert_int_equal(pool.notes & HMN_NOTE_STALE, HMN_NOTE_STALE);
  assert_int_equal(pool.used_bytes, UINT64_C(3) << 30);
  assert_true(pool.age_ns >= (DEADLINE - 20) * UINT64_C(1000000));
  machine_go(&m);
  machine_end(&m);
}

/* stale_ns: the oldest value that is returned instead of HMN_E_TIMEOUT. */
static void a_value_older_than_stale_ns_is_a_timeout(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = quick_options();
  options.stale_ns = HMN_MILLISECONDS(1);
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_within(DEADLINE - 20, DEADLINE + SLACK, read_pool(&m, &pool), HMN_E_TIMEOUT);
  assert_int_equal(pool.present, 0);
  machine_go(&m);
  machine_end(&m);
}

static void later_calls_return_at_once_while_a_call_hangs(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_status(read_pool(&m, &pool), HMN_OK);
  assert_at_once(AT_ONCE, assert_status(read_pool(&m, &pool), HMN_OK));
  assert_int_equal(pool.notes & HMN_NOTE_STALE, HMN_NOTE_STALE);
  machine_go(&m);
  machine_end(&m);
}

static void values_are_fresh_when_the_driver_answers_again(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_status(read_pool(&m, &pool), HMN_OK);
  machine_go(&m);
  wait_until(reads_fresh_pool(&m));
  machine_end(&m);
}

static void a_hung_driver_does_not_block_other_sources(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  read_pool(&m, &pool);
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  assert_at_once(AT_ONCE,
                 assert_status(hmn_process_memory_read_self(m.context, 0, &memory, NULL), HMN_OK));
  assert_at_once(AT_ONCE,
                 assert_status(hmn_system_memory_read(m.context, 0, &system_memory, NULL), HMN_OK));
  machine_go(&m);
  machine_end(&m);
}

static void a_snapshot_waits_for_one_deadline_and_reports_missing_values(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = quick_options();
  options.stale_ns = HMN_MILLISECONDS(1);
  make_stuck(&m, &options);
  sleep_ms(5);
  hmn_snapshot* snapshot = NULL;
  assert_within(0, DEADLINE + SLACK, hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_int_equal(info.notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
  int timeouts = 0;
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, diagnostic);
    assert_status(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic, NULL), HMN_OK);
    timeouts += diagnostic.status == HMN_E_TIMEOUT;
  }
  assert_true(timeouts > 0);
  NEW(hmn_process_memory, memory);
  assert_status(hmn_snapshot_memory(snapshot, &memory, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  machine_go(&m);
  machine_end(&m);
}

/* hmn_snapshot_options.deadline_ns: 0 = the context's. */
static void a_snapshot_may_have_its_own_deadline(void** state) {
  (void)state;
  machine m;
  const hmn_context_options long_deadlines = patient_options(0);
  make_stuck(&m, &long_deadlines);
  NEW(hmn_snapshot_options, options);
  options.deadline_ns = HMN_MILLISECONDS(DEADLINE);
  hmn_snapshot* snapshot = NULL;
  assert_within(0, DEADLINE + SLACK, hmn_snapshot_take(m.context, &options, &snapshot, NULL),
                HMN_OK);
  hmn_snapshot_destroy(snapshot);
  machine_go(&m);
  machine_end(&m);
}

/* Opening has its own deadline; later calls use an opening that finishes after it. */
static void a_later_call_uses_an_opening_that_finished_late(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  machine_make(&m, opens_slowly, &options);
  uint32_t count = 7;
  assert_within(0, DEADLINE + SLACK, hmn_device_scan(m.context, &count, NULL, NULL), HMN_E_TIMEOUT);
  assert_int_equal(count, 0);
  assert_within(0, DEADLINE + SLACK, hmn_device_scan(m.context, &count, NULL, NULL), HMN_E_TIMEOUT);
  machine_go(&m);
  wait_until(hmn_device_scan(m.context, &count, NULL, NULL) != HMN_E_TIMEOUT);
  assert_int_equal(count, 1);
  machine_end(&m);
}

static int reads_after_slow_opening(void) {
  machine m;
  NEW(hmn_context_options, options);
  options.deadline_ns = HMN_MILLISECONDS(DEADLINE);
  options.open_deadline_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine_make(&m, ONE_GPU(", \"delays\": [{\"call\": \"open\", \"ms\": 2000}]"), &options);
  const int64_t start = now_ms();
  const int is_read = reads_fresh_pool(&m);
  assert_true(now_ms() - start >= 1950);
  machine_end(&m);
  return is_read;
}

/* Tried again if a busy machine delays the reading after the opening. */
static void opening_may_take_longer_than_a_reading(void** state) {
  (void)state;
  int is_read = 0;
  for (int tries = 0; tries < 10 && !is_read; ++tries) is_read = reads_after_slow_opening();
  assert_true(is_read);
}

/* destroy never waits for a driver: a call that hangs is left behind. */
static int64_t destroy_while_a_call_hangs(void) {
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_status(read_pool(&m, &pool), HMN_OK);
  const int64_t start = now_ms();
  hmn_context_destroy(m.context);
  const int64_t spent = now_ms() - start;
  /* The call returns after its context is destroyed: the objects that it uses still exist. */
  machine_go(&m);
  sleep_ms(100);
  tree_remove(&m.folder);
  return spent;
}

static void destroy_does_not_wait_for_a_call_that_hangs(void** state) {
  (void)state;
  int64_t spent = PATIENT_MS;
  for (int tries = 0; tries < 3 && spent > AT_ONCE; ++tries) spent = destroy_while_a_call_hangs();
  assert_in_range(spent, 0, AT_ONCE);
}

static void a_call_that_never_returns_blocks_no_other_call(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  machine_make(&m, ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"hang\": \"forever\"}]"),
               &options);
  hmn_pool pool;
  assert_within(0, DEADLINE + SLACK, read_pool(&m, &pool), HMN_E_TIMEOUT);
  hmn_snapshot* snapshot = NULL;
  assert_at_once(AT_ONCE, {
    hmn_snapshot_destroy(snapshot);
    assert_status(hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK);
  });
  machine_end(&m); /* would never return */
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_int_equal(info.notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
  hmn_snapshot_destroy(snapshot);
}

static void exit_during_call(void* argument) {
  (void)argument;
  machine m;
  const hmn_context_options options = quick_options();
  machine_make(&m, ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"hang\": \"forever\"}]"),
               &options);
  hmn_pool pool;
  CHECK_STATUS(read_pool(&m, &pool), HMN_E_TIMEOUT);
  tree_remove(&m.folder);
  exit(0);
}

static void a_program_may_exit_during_a_call(void** state) {
  (void)state;
  assert_child_with_copy(exit_during_call, NULL, 0);
}

static void a_device_with_a_hung_driver_is_reported_as_hung(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = quick_options();
  make_stuck(&m, &options);
  hmn_pool pool;
  assert_status(read_pool(&m, &pool), HMN_OK);
  NEW(hmn_device, device);
  assert_status(hmn_device_read(m.context, 0, 0, &device, NULL), HMN_OK);
  assert_int_equal(device.state, HMN_RUN_STATE_HUNG);
  assert_string_equal(device.name, "GPU");
  machine_go(&m);
  machine_end(&m);
}

/* max_age_ns: readings that are not older share one driver call. */
static void readings_within_max_age_share_one_driver_call(void** state) {
  (void)state;
  static const char changes[] = ONE_GPU(
      ", \"changes\": [{\"at_reading\": 3, \"devices\": [{\"name\": \"GPU\", \"pools\": "
      "[{\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"5GiB\"}]}]}]");
  machine m;
  hmn_pool pool;
  hmn_context_options options = patient_options(0);
  options.max_age_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine_make(&m, changes, &options);
  for (int i = 0; i < 10; ++i) assert_status(read_pool(&m, &pool), HMN_OK);
  assert_int_equal(pool.used_bytes, UINT64_C(3) << 30);
  machine_end(&m);
  machine_make(&m, changes, NULL);
  for (int i = 0; i < 10; ++i) assert_status(read_pool(&m, &pool), HMN_OK);
  assert_int_equal(pool.used_bytes, UINT64_C(5) << 30);
  machine_end(&m);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_late_answer_gives_the_last_value_marked_stale),
      cmocka_unit_test(a_value_older_than_stale_ns_is_a_timeout),
      cmocka_unit_test(later_calls_return_at_once_while_a_call_hangs),
      cmocka_unit_test(values_are_fresh_when_the_driver_answers_again),
      cmocka_unit_test(a_hung_driver_does_not_block_other_sources),
      cmocka_unit_test(a_snapshot_waits_for_one_deadline_and_reports_missing_values),
      cmocka_unit_test(a_snapshot_may_have_its_own_deadline),
      cmocka_unit_test(a_later_call_uses_an_opening_that_finished_late),
      cmocka_unit_test(opening_may_take_longer_than_a_reading),
      cmocka_unit_test(destroy_does_not_wait_for_a_call_that_hangs),
      cmocka_unit_test(a_call_that_never_returns_blocks_no_other_call),
      cmocka_unit_test(a_program_may_exit_during_a_call),
      cmocka_unit_test(a_device_with_a_hung_driver_is_reported_as_hung),
      cmocka_unit_test(readings_within_max_age_share_one_driver_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
