/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Options that are a duration: each accepts 0.1 ms or more, HMN_NS_UNLIMITED and HMN_NS_IMMEDIATE,
 * or refuses a value that is invalid for it with a message.
 */
#include "support/machine.h"

enum { AT_ONCE = 900, SHORT = 300, DELAY = 1500 };
static const uint64_t values[] = {0, 100000, HMN_NS_UNLIMITED - 1, HMN_NS_IMMEDIATE,
                                  HMN_NS_UNLIMITED};
enum { VALUES = sizeof values / sizeof values[0] };

#define DEVICES(used)                                                   \
  "\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", " \
  "\"total\": \"16GiB\", \"used\": \"" used "\"}]}]"
#define MACHINE(more) "{\"host\": \"real\", " DEVICES("3GiB") more "}"
static const char slow_pools[] = MACHINE(", \"delays\": [{\"call\": \"pools\", \"ms\": 1500}]");
static const char slow_opening[] = MACHINE(", \"delays\": [{\"call\": \"open\", \"ms\": 1500}]");
static const char stuck_pools[] =
    MACHINE(", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]");
static const char changing[] = MACHINE(", \"changes\": [{\"at_reading\": 3, " DEVICES("5GiB") "}]");

static hmn_status read_pool(hmn_context* context, hmn_pool* pool) {
  memset(pool, 0, sizeof *pool);
  pool->struct_size = sizeof *pool;
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, pool, NULL);
}

/* Counts the pools of a snapshot with its own deadline, which overrides the context's. */
static uint32_t count_pools_within(hmn_context* context, uint64_t deadline_ns) {
  NEW(hmn_snapshot_options, options);
  NEW(hmn_snapshot_info, info);
  hmn_snapshot* snapshot = NULL;
  options.collect = HMN_COLLECT_POOLS;
  options.deadline_ns = deadline_ns;
  assert_status(hmn_snapshot_take(context, &options, &snapshot, NULL), HMN_OK);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info.pool_count;
}

static void every_duration_of_a_context_accepts_every_value(void** state) {
  (void)state;
  const size_t offsets[] = {
      offsetof(hmn_context_options, deadline_ns),      offsetof(hmn_context_options, stale_ns),
      offsetof(hmn_context_options, open_deadline_ns), offsetof(hmn_context_options, max_age_ns),
      offsetof(hmn_context_options, idle_close_ns),    offsetof(hmn_context_options, rescan_ns)};
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; ++i) {
    for (size_t j = 0; j < VALUES; ++j) {
      NEW(hmn_context_options, options);
      memcpy((char*)&options + offsets[i], &values[j], sizeof values[j]);
      machine m;
      machine_make(&m, MACHINE(""), &options);
      hmn_pool pool;
      wait_until(read_pool(m.context, &pool) == HMN_OK);
      assert_int_equal(pool.used_bytes, UINT64_C(3) << 30);
      machine_end(&m);
    }
  }
}

/* Most likely a number in another unit. */
static void a_duration_below_a_tenth_of_a_millisecond_is_refused(void** state) {
  (void)state;
  const uint64_t too_short[] = {2, 500, 99999};
  const struct {
    const char* name;
    size_t offset;
  } rows[] = {
      {"deadline_ns", offsetof(hmn_context_options, deadline_ns)},
      {"stale_ns", offsetof(hmn_context_options, stale_ns)},
      {"open_deadline_ns", offsetof(hmn_context_options, open_deadline_ns)},
      {"max_age_ns", offsetof(hmn_context_options, max_age_ns)},
      {"idle_close_ns", offsetof(hmn_context_options, idle_close_ns)},
      {"rescan_ns", offsetof(hmn_context_options, rescan_ns)},
  };
  char expected[64];
  for (size_t i = 0; i < sizeof too_short / sizeof too_short[0]; ++i) {
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
      NEW(hmn_context_options, options);
      NEW(hmn_error, error);
      hmn_context* context = NULL;
      memcpy((char*)&options + rows[j].offset, &too_short[i], sizeof too_short[i]);
      assert_status(hmn_context_create(&options, &context, &error), HMN_E_RANGE);
      assert_null(context);
      snprintf(expected, sizeof expected, "%s: %u is less than 0.1 ms", rows[j].name,
               (unsigned)too_short[i]);
      assert_string_equal(error.message, expected);
    }
  }
  machine m;
  machine_make(&m, MACHINE(""), NULL);
  for (size_t i = 0; i < sizeof too_short / sizeof too_short[0]; ++i) {
    NEW(hmn_snapshot_options, snapshot_options);
    NEW(hmn_sampler_options, sampler_options);
    NEW(hmn_error, error);
    hmn_snapshot* snapshot = NULL;
    hmn_sampler* sampler = NULL;
    snapshot_options.deadline_ns = too_short[i];
    assert_status(hmn_snapshot_take(m.context, &snapshot_options, &snapshot, &error), HMN_E_RANGE);
    assert_status(hmn_sampler_create(m.context, NULL, &snapshot_options, &sampler, &error),
                  HMN_E_RANGE);
    assert_non_null(strstr(error.message, "deadline_ns: "));
    sampler_options.interval_ns = too_short[i];
    assert_status(hmn_sampler_create(m.context, &sampler_options, NULL, &sampler, &error),
                  HMN_E_RANGE);
    assert_memory_equal(error.message, "interval_ns: ", 13);
    sampler_options.interval_ns = 0;
    sampler_options.process_interval_ns = too_short[i];
    assert_status(hmn_sampler_create(m.context, &sampler_options, NULL, &sampler, &error),
                  HMN_E_RANGE);
    assert_memory_equal(error.message, "process_interval_ns: ", 21);
  }
  machine_end(&m);
}

/* Reads a device that was read before and whose driver now hangs. */
static void deadline_ns_and_stale_ns_accept_unlimited_and_immediate(void** state) {
  (void)state;
  const struct {
    uint64_t deadline_ns, stale_ns;
    int64_t min_ms, max_ms;
    hmn_status expected;
  } rows[] = {
      {HMN_NS_IMMEDIATE, HMN_NS_UNLIMITED, 0, AT_ONCE, HMN_OK},
      {HMN_NS_IMMEDIATE, HMN_NS_IMMEDIATE, 0, AT_ONCE, HMN_E_TIMEOUT},
      {HMN_MILLISECONDS(SHORT), HMN_NS_UNLIMITED, SHORT - 20, PATIENT_MS, HMN_OK},
      {HMN_MILLISECONDS(SHORT), HMN_NS_IMMEDIATE, SHORT - 20, PATIENT_MS, HMN_E_TIMEOUT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    NEW(hmn_context_options, options);
    options.deadline_ns = rows[i].deadline_ns;
    options.stale_ns = rows[i].stale_ns;
    options.open_deadline_ns = HMN_NS_UNLIMITED;
    machine m;
    machine_make(&m, stuck_pools, &options);
    machine_go(&m);
    assert_int_equal(count_pools_within(m.context, HMN_NS_UNLIMITED), 1);
    machine_stop(&m);
    hmn_pool pool;
    const int64_t start = now_ms();
    assert_status(read_pool(m.context, &pool), rows[i].expected);
    assert_in_range(now_ms() - start, rows[i].min_ms, rows[i].max_ms);
    if (rows[i].expected == HMN_OK) {
      assert_int_equal(pool.notes & HMN_NOTE_STALE, HMN_NOTE_STALE);
      assert_int_equal(pool.used_bytes, UINT64_C(3) << 30);
    }
    machine_go(&m);
    machine_end(&m);
  }
}

/* Longer than the default deadline of a second. */
static void an_unlimited_deadline_waits_for_a_slow_driver(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  machine m;
  hmn_pool pool;
  options.deadline_ns = HMN_NS_UNLIMITED;
  machine_make(&m, slow_pools, &options);
  const int64_t start = now_ms();
  assert_status(read_pool(m.context, &pool), HMN_OK);
  assert_true(now_ms() - start >= DELAY - 50);
  assert_int_equal(pool.notes & HMN_NOTE_STALE, 0);
  machine_end(&m);
}

static void the_deadline_of_a_snapshot_may_be_immediate_or_unlimited(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  machine m;
  machine_make(&m, slow_pools, &options);
  const int64_t start = now_ms();
  assert_int_equal(count_pools_within(m.context, HMN_NS_IMMEDIATE), 0);
  assert_true(now_ms() - start < AT_ONCE);
  machine_end(&m);
  machine_make(&m, slow_pools, &options);
  assert_int_equal(count_pools_within(m.context, HMN_NS_UNLIMITED), 1);
  machine_end(&m);
}

static void an_immediate_reading_starts_a_call_for_later_readings(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  machine m;
  hmn_pool pool;
  options.deadline_ns = HMN_NS_IMMEDIATE;
  machine_make(&m, slow_pools, &options);
  assert_status(read_pool(m.context, &pool), HMN_E_TIMEOUT);
  wait_until(read_pool(m.context, &pool) == HMN_OK);
  assert_int_equal(pool.notes & HMN_NOTE_STALE, HMN_NOTE_STALE);
  machine_end(&m);
}

static void open_deadline_ns_may_be_immediate_or_unlimited(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  machine m;
  uint32_t count = 7;
  options.deadline_ns = HMN_MILLISECONDS(PATIENT_MS);
  options.open_deadline_ns = HMN_NS_IMMEDIATE;
  machine_make(&m, slow_opening, &options);
  const int64_t start = now_ms();
  assert_status(hmn_device_scan(m.context, &count, NULL, NULL), HMN_E_TIMEOUT);
  assert_true(now_ms() - start < AT_ONCE);
  machine_end(&m);

  options.open_deadline_ns = HMN_NS_UNLIMITED;
  machine_make(&m, slow_opening, &options);
  assert_status(hmn_device_scan(m.context, &count, NULL, NULL), HMN_OK);
  assert_int_equal(count, 1);
  machine_end(&m);
}

static void max_age_ns_may_be_immediate_or_unlimited(void** state) {
  (void)state;
  const struct {
    uint64_t max_age_ns;
    uint64_t used;
  } rows[] = {{0, 5}, {HMN_NS_IMMEDIATE, 5}, {HMN_NS_UNLIMITED, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    hmn_context_options options = patient_options(0);
    machine m;
    hmn_pool pool;
    options.max_age_ns = rows[i].max_age_ns;
    machine_make(&m, changing, &options);
    for (int n = 0; n < 10; ++n) assert_status(read_pool(m.context, &pool), HMN_OK);
    assert_int_equal(pool.used_bytes, rows[i].used << 30);
    machine_end(&m);
  }
}

static void a_sampler_refuses_an_invalid_interval(void** state) {
  (void)state;
  const struct {
    const char* name;
    size_t offset;
    uint64_t value;
    hmn_status expected;
  } rows[] = {
      {"interval_ns", offsetof(hmn_sampler_options, interval_ns), HMN_NS_UNLIMITED, HMN_E_RANGE},
      {"interval_ns", offsetof(hmn_sampler_options, interval_ns), HMN_NS_IMMEDIATE, HMN_E_RANGE},
      {"interval_ns", offsetof(hmn_sampler_options, interval_ns), HMN_NS_UNLIMITED - 1, HMN_OK},
      {"process_interval_ns", offsetof(hmn_sampler_options, process_interval_ns), HMN_NS_UNLIMITED,
       HMN_E_RANGE},
      {"process_interval_ns", offsetof(hmn_sampler_options, process_interval_ns), HMN_NS_IMMEDIATE,
       HMN_OK},
      {"process_interval_ns", offsetof(hmn_sampler_options, process_interval_ns),
       HMN_NS_UNLIMITED - 1, HMN_OK},
  };
  machine m;
  machine_make(&m, MACHINE(""), NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    NEW(hmn_sampler_options, options);
    NEW(hmn_error, error);
    memcpy((char*)&options + rows[i].offset, &rows[i].value, sizeof rows[i].value);
    hmn_sampler* sampler = NULL;
    assert_status(hmn_sampler_create(m.context, &options, NULL, &sampler, &error),
                  rows[i].expected);
    if (rows[i].expected != HMN_OK) {
      assert_non_null(strstr(error.message, rows[i].name));
      assert_non_null(strstr(error.message, "unlimited"));
    }
    hmn_sampler_destroy(sampler);
  }
  machine_end(&m);
}

static void an_immediate_process_interval_scans_in_every_snapshot(void** state) {
  (void)state;
  NEW(hmn_sampler_options, options);
  NEW(hmn_snapshot_options, snapshot_options);
  machine m;
  hmn_sampler* sampler = NULL;
  options.interval_ns = HMN_MILLISECONDS(20);
  options.process_interval_ns = HMN_NS_IMMEDIATE;
  snapshot_options.collect = HMN_COLLECT_PROCESSES;
  machine_make(&m, MACHINE(""), NULL);
  assert_status(hmn_sampler_create(m.context, &options, &snapshot_options, &sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  for (int i = 0; i < 3; ++i) {
    hmn_snapshot* snapshot = NULL;
    NEW(hmn_snapshot_info, info);
    assert_status(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &snapshot, NULL), HMN_OK);
    assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
    assert_int_equal(info.collect & HMN_COLLECT_PROCESSES, HMN_COLLECT_PROCESSES);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_timeout_of_next_may_be_immediate_or_unlimited(void** state) {
  (void)state;
  const uint64_t timeouts[] = {0, HMN_NS_IMMEDIATE};
  NEW(hmn_sampler_options, options);
  machine m;
  hmn_sampler* sampler = NULL;
  hmn_snapshot* snapshot = NULL;
  options.interval_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine_make(&m, slow_pools, NULL);
  assert_status(hmn_sampler_create(m.context, &options, NULL, &sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &snapshot, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t start = now_ms();
    assert_status(hmn_sampler_next(sampler, timeouts[i], &snapshot, NULL), HMN_E_EMPTY);
    assert_true(now_ms() - start < AT_ONCE);
  }
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_duration_of_a_context_accepts_every_value),
      cmocka_unit_test(a_duration_below_a_tenth_of_a_millisecond_is_refused),
      cmocka_unit_test(deadline_ns_and_stale_ns_accept_unlimited_and_immediate),
      cmocka_unit_test(an_unlimited_deadline_waits_for_a_slow_driver),
      cmocka_unit_test(the_deadline_of_a_snapshot_may_be_immediate_or_unlimited),
      cmocka_unit_test(an_immediate_reading_starts_a_call_for_later_readings),
      cmocka_unit_test(open_deadline_ns_may_be_immediate_or_unlimited),
      cmocka_unit_test(max_age_ns_may_be_immediate_or_unlimited),
      cmocka_unit_test(a_sampler_refuses_an_invalid_interval),
      cmocka_unit_test(an_immediate_process_interval_scans_in_every_snapshot),
      cmocka_unit_test(the_timeout_of_next_may_be_immediate_or_unlimited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
