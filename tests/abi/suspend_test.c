/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A suspend of the machine: the clock that includes it gains eight hours over the one that stops.
 * Ages grow, and no wait ends early.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "support/machine.h"
#include "support/thread.h"
#ifdef HMN_TEST_NVML
#include "support/drivers.h"
#endif

#define HOURS (8 * UINT64_C(3600000000000))

/* Replaces the system's functions for this program and the library. */
static atomic_long suspended_s;
static atomic_int refuses_clocks;

#define INTERPOSED __attribute__((visibility("default")))

INTERPOSED int clock_gettime(clockid_t clock, struct timespec* out) {
  int (*real)(clockid_t, struct timespec*);
  *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int status = real(clock, out);
  if (clock == CLOCK_BOOTTIME) out->tv_sec += atomic_load(&suspended_s);
  return status;
}

INTERPOSED int pthread_condattr_setclock(pthread_condattr_t* attributes, clockid_t clock) {
  int (*real)(pthread_condattr_t*, clockid_t);
  *(void**)&real = dlsym(RTLD_NEXT, "pthread_condattr_setclock");
  return atomic_load(&refuses_clocks) ? EINVAL : real(attributes, clock);
}

static void suspend(void) {
  atomic_fetch_add(&suspended_s, 8 * 3600);
}

#define GPU                                                                                   \
  "\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16GiB\", " \
  "\"used\": \"3GiB\"}], \"telemetry\": {\"power_watts\": 30}}]"
static const char steady[] = "{\"host\": \"real\", " GPU "}";
static const char stuck[] =
    "{\"host\": \"real\", " GPU ", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]}";

static hmn_status read_pool(hmn_context* context, hmn_pool* pool) {
  memset(pool, 0, sizeof *pool);
  pool->struct_size = sizeof *pool;
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, pool, NULL);
}

static int reads_fresh_pool(const machine* m) {
  hmn_pool pool;
  return read_pool(m->context, &pool) == HMN_OK && (pool.notes & HMN_NOTE_STALE) == 0;
}

static void the_clock_of_snapshots_stops_during_a_suspend(void** state) {
  (void)state;
  const uint64_t before = hmn_monotonic_ns();
  suspend();
  assert_true(hmn_monotonic_ns() - before < HOURS / 2);
}

static void an_age_includes_a_suspend(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = patient_options(0);
  options.max_age_ns = HMN_NS_UNLIMITED;
  machine_make(&m, steady, &options);
  hmn_pool pool;
  assert_status(read_pool(m.context, &pool), HMN_OK);
  assert_true(pool.age_ns < HOURS / 2);
  suspend();
  assert_status(read_pool(m.context, &pool), HMN_OK);
  assert_true(pool.age_ns >= HOURS && pool.age_ns < HOURS * 3 / 2);

  NEW(hmn_snapshot_options, snapshot_options);
  NEW(hmn_snapshot_info, info);
  hmn_snapshot* snapshot = NULL;
  snapshot_options.collect = HMN_COLLECT_POOLS;
  assert_status(hmn_snapshot_take(m.context, &snapshot_options, &snapshot, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  suspend();
  assert_status(hmn_snapshot_take(m.context, &snapshot_options, &snapshot, NULL), HMN_OK);
  assert_status(hmn_snapshot_pool_at(snapshot, 0, &pool, NULL), HMN_OK);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_true(pool.age_ns >= HOURS && pool.age_ns < HOURS * 3 / 2);
  assert_true(info.duration_ns < HOURS / 2);
  hmn_snapshot_destroy(snapshot);
  machine_end(&m);
}

static void a_shared_answer_is_too_old_after_a_suspend(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = patient_options(0);
  options.max_age_ns = HOURS / 2;
  machine_make(&m, steady, &options);
  hmn_pool pool;
  assert_status(read_pool(m.context, &pool), HMN_OK);
  suspend();
  assert_status(read_pool(m.context, &pool), HMN_OK);
  assert_true(pool.age_ns < HOURS / 2);
  machine_end(&m);
}

/* Reads the pool once; later readings hang. */
static void make_stuck(machine* m) {
  NEW(hmn_context_options, options);
  options.deadline_ns = options.open_deadline_ns = HMN_MILLISECONDS(1000);
  options.stale_ns = HOURS / 2;
  machine_make(m, stuck, &options);
  machine_go(m);
  wait_until(reads_fresh_pool(m));
  machine_stop(m);
}

static void a_value_from_before_a_suspend_is_too_old_to_be_stale(void** state) {
  (void)state;
  machine m;
  hmn_pool pool;
  make_stuck(&m);
  assert_status(read_pool(m.context, &pool), HMN_OK);
  assert_int_equal(pool.notes & HMN_NOTE_STALE, HMN_NOTE_STALE);
  suspend();
  assert_status(read_pool(m.context, &pool), HMN_E_TIMEOUT);
  machine_go(&m);
  machine_end(&m);
}

static void suspend_soon(void* argument) {
  (void)argument;
  sleep_ms(200);
  suspend();
}

static void a_deadline_continues_after_a_suspend(void** state) {
  (void)state;
  machine m;
  hmn_pool pool;
  make_stuck(&m);
  thread* suspender = thread_start(suspend_soon, NULL);
  const int64_t start = now_ms();
  assert_status(read_pool(m.context, &pool), HMN_E_TIMEOUT);
  assert_true(now_ms() - start >= 980);
  thread_join(suspender);
  machine_go(&m);
  machine_end(&m);
}

static void a_suspend_ages_the_latest_values_and_does_not_end_the_interval(void** state) {
  (void)state;
  machine m;
  NEW(hmn_sampler_options, options);
  hmn_sampler* sampler = NULL;
  hmn_snapshot* snapshot = NULL;
  options.interval_ns = HOURS / 4;
  machine_make(&m, steady, NULL);
  assert_returns(hmn_sampler_create(m.context, &options, NULL, &sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &snapshot, &error), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  suspend();
  const int64_t start = now_ms();
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(200), &snapshot, &error), HMN_E_EMPTY);
  assert_true(now_ms() - start >= 190);
  NEW(hmn_sampler_info, info);
  assert_returns(hmn_sampler_read(sampler, &info, &error), HMN_OK);
  assert_int_equal(info.taken_count, 1);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  assert_returns(hmn_sampler_latest_pool(sampler, 0, &pool, &error), HMN_OK);
  assert_returns(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, &error), HMN_OK);
  assert_true(pool.age_ns >= HOURS && pool.age_ns < HOURS * 3 / 2);
  assert_true(telemetry.age_ns >= HOURS && telemetry.age_ns < HOURS * 3 / 2);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

#ifdef HMN_TEST_NVML
enum { CLIENT = 4242 }; /* the PID in drivers_set_client */

static hmn_context* make_context_with_drivers(const hmn_context_options* options) {
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(options, &context, &error), HMN_OK);
  assert_status(drivers_use(context), HMN_OK);
  return context;
}

static void a_suspend_does_not_shut_down_a_library(void** state) {
  (void)state;
  hmn_context_options options = patient_options(0);
  options.idle_close_ns = HOURS / 2;
  hmn_context* context = make_context_with_drivers(&options);
  hmn_pool pool;
  assert_status(read_pool(context, &pool), HMN_OK);
  assert_int_equal(drivers_sessions(), 1);
  suspend();
  sleep_ms(500);
  assert_int_equal(drivers_sessions(), 1);
  hmn_context_destroy(context);
  wait_until(drivers_sessions() == 0);
}

/* Whether the client's load is known, a while after the last reading. */
static int has_load(hmn_context* context, uint32_t device_index) {
  NEW(hmn_usage, usage);
  sleep_ms(150);
  assert_returns(hmn_usage_read(context, device_index, CLIENT, 0, &usage, &error), HMN_OK);
  return (usage.present & HMN_USAGE_HAS_BUSY_PERCENT) != 0;
}

static void a_load_across_a_suspend_is_absent(void** state) {
  (void)state;
  hmn_context_options options = patient_options(0);
  options.backends_off = UINT64_C(1) << HMN_BACKEND_NVML;
  hmn_context* context = make_context_with_drivers(&options);
  uint32_t index = 0;
  drivers_set_client(1);
  assert_returns(hmn_device_find(context, "pci:0000:03:00.0", &index, &error), HMN_OK);
  assert_false(has_load(context, index));
  assert_true(has_load(context, index));
  suspend();
  assert_false(has_load(context, index));
  assert_true(has_load(context, index));
  hmn_context_destroy(context);
}
#endif

/* On a system whose condition variables support only the wall clock. */
static void a_wait_by_the_wall_clock_ends_at_its_deadline(void** state) {
  (void)state;
  machine m;
  NEW(hmn_context_options, options);
  options.deadline_ns = options.open_deadline_ns = HMN_MILLISECONDS(1000);
  atomic_store(&refuses_clocks, 1);
  machine_make(&m, stuck, &options);
  hmn_pool pool;
  const int64_t start = now_ms();
  const hmn_status status = read_pool(m.context, &pool);
  const int64_t spent = now_ms() - start;
  atomic_store(&refuses_clocks, 0);
  assert_status(status, HMN_E_TIMEOUT);
  assert_in_range(spent, 980, PATIENT_MS / 2);
  machine_go(&m);
  machine_end(&m);
}

int main(void) {
#ifdef HMN_TEST_NVML
  if (drivers_begin() != 0) return 1;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_clock_of_snapshots_stops_during_a_suspend),
      cmocka_unit_test(an_age_includes_a_suspend),
      cmocka_unit_test(a_shared_answer_is_too_old_after_a_suspend),
      cmocka_unit_test(a_value_from_before_a_suspend_is_too_old_to_be_stale),
      cmocka_unit_test(a_deadline_continues_after_a_suspend),
      cmocka_unit_test(a_suspend_ages_the_latest_values_and_does_not_end_the_interval),
#ifdef HMN_TEST_NVML
      cmocka_unit_test(a_suspend_does_not_shut_down_a_library),
      cmocka_unit_test(a_load_across_a_suspend_is_absent),
#endif
      cmocka_unit_test(a_wait_by_the_wall_clock_ends_at_its_deadline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
