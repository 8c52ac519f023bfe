/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/environment.h"
#include "support/keys.h"
#include "support/machine.h"
#include "support/thread.h"

/* Milliseconds in which an immediate call returns even on a busy machine; below every deadline
 * here. */
enum { AT_ONCE = 5000, NAMED_PID = 4242 };
#define GIB (UINT64_C(1) << 30)

#define VRAM(used) "{\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"" used "\"}"
#define DEVICES(used, more) \
  "\"devices\": [{\"name\": \"GPU\", \"pools\": [" VRAM(used) "]," \
  "\"telemetry\": {\"gpu_busy_percent\": 64.25, \"power_watts\": 123.5}" more "}]"
#define ONE_GPU(more) "{\"host\": \"real\", " DEVICES("3GiB", more)

/* Used is 3, 9, 5, 5 … GiB. */
static const char rises_and_falls[] = ONE_GPU(
    "") ", \"changes\": ["
        "{\"at_reading\": 2, " DEVICES("9GiB", "") "},"
        "{\"at_reading\": 3, " DEVICES("5GiB", "") "}]}";
static const char steady[] = ONE_GPU("") "}";
static const char hangs_until_go[] =
    ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]") "}";
static const char loses_its_values[] = ONE_GPU(
    ", \"failures\": [{\"call\": \"any\", \"from_reading\": 2, \"status\": \"device_lost\"}]") "}";

static hmn_sampler_options interval_options(uint32_t interval_ms) {
  NEW(hmn_sampler_options, options);
  options.interval_ns = HMN_MILLISECONDS(interval_ms);
  return options;
}

static hmn_sampler* make(hmn_context* context, const hmn_sampler_options* options,
                         hmn_flags collect) {
  NEW(hmn_snapshot_options, snapshot_options);
  snapshot_options.collect = collect;
  hmn_sampler* sampler = NULL;
  assert_returns(hmn_sampler_create(context, options, collect == 0 ? NULL : &snapshot_options,
                                    &sampler, &error),
                 HMN_OK);
  assert_non_null(sampler);
  return sampler;
}

static hmn_sampler* make_running(hmn_context* context, const hmn_sampler_options* options,
                                 hmn_flags collect) {
  hmn_sampler* sampler = make(context, options, collect);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  return sampler;
}

static hmn_sampler_info read_info(hmn_sampler* sampler) {
  NEW(hmn_sampler_info, info);
  assert_status(hmn_sampler_read(sampler, &info, NULL), HMN_OK);
  return info;
}

static hmn_snapshot* pull(hmn_sampler* sampler) {
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, &error),
                 HMN_OK);
  assert_non_null(snapshot);
  return snapshot;
}

static hmn_snapshot_info pull_info(hmn_sampler* sampler) {
  hmn_snapshot* snapshot = pull(sampler);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info;
}

#define assert_before_any_deadline(call)           \
  do {                                             \
    const int64_t start = now_ms();                \
    call;                                          \
    assert_in_range(now_ms() - start, 0, AT_ONCE); \
  } while (0)

static void a_sampler_starts_and_stops_only_once(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  hmn_sampler* sampler = make(m.context, NULL, 0);
  hmn_snapshot* none = NULL;
  assert_int_equal(read_info(sampler).state, HMN_SAMPLER_STATE_IDLE);
  assert_int_equal(read_info(sampler).present, 0);
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_E_STATE);
  NEW(hmn_pool, pool);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_E_EMPTY);

  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_STATE);
  assert_int_equal(read_info(sampler).state, HMN_SAMPLER_STATE_RUNNING);
  wait_until(read_info(sampler).pending == 1);

  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_STATE);
  assert_int_equal(read_info(sampler).state, HMN_SAMPLER_STATE_STOPPED);
  hmn_snapshot_destroy(pull(sampler));
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_null(none);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* hwLedger's collector: identities, memory, load and power of the devices, from one call. */
static void by_default_a_snapshot_has_devices_pools_and_telemetry(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  hmn_sampler* sampler = make_running(m.context, NULL, 0);
  hmn_snapshot* snapshot = pull(sampler);
  NEW(hmn_snapshot_info, info);
  NEW(hmn_device, device);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_int_equal(info.collect, HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
  assert_status(hmn_snapshot_device_at(snapshot, 0, &device, NULL), HMN_OK);
  assert_string_equal(device.name, "GPU");
  assert_status(hmn_snapshot_pool_at(snapshot, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.used_bytes, 3 * GIB);
  assert_status(hmn_snapshot_find_telemetry(snapshot, 0, &telemetry, NULL), HMN_OK);
  assert_true(telemetry.gpu_busy_percent == 64.25 && telemetry.power_watts == 123.5);
  hmn_snapshot_destroy(snapshot);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_schedule_of_snapshots_does_not_drift(void** state) {
  (void)state;
  enum { INTERVAL = 50, COUNT = 8 };
  machine m;
  machine_make(&m, steady, NULL);
  const hmn_sampler_options options = interval_options(INTERVAL);
  const int64_t start = now_ms();
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  uint64_t last = 0;
  for (int i = 0; i < COUNT; ++i) {
    const uint64_t next = pull_info(sampler).monotonic_ns;
    assert_true(next > last);
    last = next;
  }
  /* Each starts at or after its slot, however late the earlier ones were. */
  const hmn_sampler_info info = read_info(sampler);
  assert_true(last / 1000000 + 1 >= (uint64_t)start + (COUNT - 1) * INTERVAL);
  assert_int_equal(info.failed_count, 0);
  assert_int_equal(info.dropped_count, 0);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void slots_that_a_slow_driver_misses_are_counted(void** state) {
  (void)state;
  machine m;
  machine_make(&m, ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"ms\": 40}]") "}", NULL);
  const hmn_sampler_options options = interval_options(10);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot_destroy(pull(sampler));
  /* Two began at least 40 ms after the one before: four slots later, three of them missed. */
  assert_true(read_info(sampler).late_count >= 6);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_oldest_snapshot_is_dropped_and_counted(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  hmn_sampler_options options = interval_options(1);
  options.capacity = 3;
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(read_info(sampler).taken_count >= 10);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  const hmn_sampler_info info = read_info(sampler);
  assert_int_equal(info.pending, 3);
  assert_int_equal(info.dropped_count, info.taken_count - 3);
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t next = pull_info(sampler).monotonic_ns;
    assert_true(next > last);
    last = next;
  }
  /* A try begins before its snapshot, and the last try took the newest snapshot. */
  assert_int_equal(info.present, HMN_SAMPLER_INFO_HAS_LAST);
  assert_true(info.last_monotonic_ns <= last);
  assert_int_equal(info.last_status, HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void no_snapshot_is_taken_after_stop(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  const hmn_sampler_options options = interval_options(1);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(read_info(sampler).taken_count >= 3);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  const hmn_sampler_info before = read_info(sampler);
  sleep_ms(30);
  const hmn_sampler_info after = read_info(sampler);
  assert_memory_equal(&before, &after, sizeof before);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void next_waits_no_longer_than_its_timeout(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  const hmn_sampler_options options = interval_options(PATIENT_MS);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot* none = NULL;
  assert_returns(hmn_sampler_next(sampler, 0, &none, &error), HMN_E_EMPTY);
  const int64_t start = now_ms();
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(50), &none, &error), HMN_E_EMPTY);
  assert_true(now_ms() - start >= 49);
  assert_null(none);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

typedef struct waiter {
  hmn_sampler* sampler;
  hmn_status status;
} waiter;

static void wait_for_next(void* argument) {
  waiter* w = argument;
  hmn_snapshot* snapshot = NULL;
  w->status = hmn_sampler_next(w->sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
}

static void stop_wakes_all_waiting_threads(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  const hmn_sampler_options options = interval_options(PATIENT_MS);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  hmn_snapshot_destroy(pull(sampler));
  thread* threads[4];
  waiter waiters[4];
  for (int i = 0; i < 4; ++i) {
    waiters[i] = (waiter){sampler, HMN_OK};
    threads[i] = thread_start(wait_for_next, &waiters[i]);
  }
  sleep_ms(20);
  assert_before_any_deadline({
    assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
    for (int i = 0; i < 4; ++i) thread_join(threads[i]);
  });
  for (int i = 0; i < 4; ++i) assert_status(waiters[i].status, HMN_E_STATE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void stop_and_destroy_do_not_wait_for_a_driver(void** state) {
  (void)state;
  machine m;
  machine_make(&m, hangs_until_go, NULL); /* the deadline is a minute */
  hmn_sampler* sampler = make_running(m.context, NULL, 0);
  waiter w = {sampler, HMN_OK};
  thread* waiter_thread = thread_start(wait_for_next, &w);
  sleep_ms(50);
  assert_before_any_deadline({
    assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
    thread_join(waiter_thread);
  });
  assert_status(w.status, HMN_E_STATE);
  assert_int_equal(read_info(sampler).taken_count, 0);
  hmn_sampler* running = make_running(m.context, NULL, 0);
  assert_before_any_deadline({
    hmn_sampler_destroy(sampler);
    hmn_sampler_destroy(running);
    hmn_context_destroy(m.context);
  });
  m.context = NULL;
  machine_go(&m);
  machine_end(&m);
}

static int has_latest_pool(hmn_sampler* sampler, hmn_flags note) {
  NEW(hmn_pool, pool);
  return hmn_sampler_latest_pool(sampler, 0, &pool, NULL) == HMN_OK && pool.used_bytes == 3 * GIB &&
         (pool.notes & HMN_NOTE_STALE) == note;
}

/* A snapshot that waits for a hung driver has stale or missing values, marked as such. */
static void a_hung_driver_does_not_stop_the_schedule(void** state) {
  (void)state;
  machine m;
  hmn_context_options context_options = patient_options(0);
  context_options.deadline_ns = HMN_MILLISECONDS(30);
  context_options.stale_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine_make(&m, hangs_until_go, &context_options);
  machine_go(&m);
  const hmn_sampler_options options = interval_options(5);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(has_latest_pool(sampler, 0));
  machine_stop(&m);
  wait_until(has_latest_pool(sampler, HMN_NOTE_STALE));
  const uint64_t count = read_info(sampler).taken_count;
  wait_until(read_info(sampler).taken_count >= count + 4);
  assert_true(has_latest_pool(sampler, HMN_NOTE_STALE));
  assert_true(read_info(sampler).late_count > 0);
  machine_go(&m);
  wait_until(has_latest_pool(sampler, 0));
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_latest_values_age_and_are_replaced(void** state) {
  (void)state;
  machine m;
  machine_make(&m, rises_and_falls, NULL);
  const hmn_sampler_options options = interval_options(20);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(read_info(sampler).taken_count >= 4);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.used_bytes, 5 * GIB);
  assert_int_equal(pool.is_main, 1);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, NULL), HMN_OK);
  assert_true(telemetry.gpu_busy_percent == 64.25);
  const uint64_t age = pool.age_ns;
  sleep_ms(10);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_true(pool.age_ns >= age + 9000000u);
  assert_status(hmn_sampler_latest_pool(sampler, 1, &pool, NULL), HMN_E_NO_DEVICE);
  assert_status(hmn_sampler_latest_telemetry(sampler, UINT32_MAX, &telemetry, NULL),
                HMN_E_NO_DEVICE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void lost_values_are_no_longer_the_latest(void** state) {
  (void)state;
  machine m;
  machine_make(&m, loses_its_values, NULL);
  const hmn_sampler_options options = interval_options(5);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(read_info(sampler).taken_count >= 3);
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_E_EMPTY);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, NULL), HMN_E_EMPTY);
  assert_status(hmn_sampler_peak_device(sampler, 0, &peak, NULL), HMN_OK);
  assert_int_equal(peak.used_bytes, 3 * GIB);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void values_that_are_not_collected_are_empty(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  hmn_sampler* sampler = make_running(m.context, NULL, HMN_COLLECT_POOLS);
  hmn_snapshot_destroy(pull(sampler));
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, NULL), HMN_E_EMPTY);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_peak_remains_when_the_value_falls(void** state) {
  (void)state;
  machine m;
  machine_make(&m, rises_and_falls, NULL);
  hmn_sampler_options options = interval_options(5);
  options.flags = HMN_SAMPLER_PEAKS_ONLY;
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(read_info(sampler).taken_count >= 4);
  hmn_snapshot* none = NULL;
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_int_equal(read_info(sampler).pending, 0);
  assert_int_equal(read_info(sampler).dropped_count, 0);
  NEW(hmn_pool, pool);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.used_bytes, 5 * GIB);
  assert_status(hmn_sampler_peak_device(sampler, 0, &peak, NULL), HMN_OK);
  assert_int_equal(peak.present, HMN_PEAK_HAS_USED);
  assert_int_equal(peak.used_bytes, 9 * GIB);
  assert_int_equal(peak.pid, 0);
  assert_int_equal(peak.accounting, pool.accounting);
  assert_int_equal(peak.backend, HMN_BACKEND_SIMULATED);
  assert_true(peak.used_monotonic_ns < read_info(sampler).last_monotonic_ns);
  assert_status(hmn_sampler_peak_device(sampler, 1, &peak, NULL), HMN_E_NO_DEVICE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* Used is 2, 7, 1 GiB; trainer_2: 7 GiB, then 4 GiB of another process with the same PID. */
#define TRAINER(used, start)                                 \
  "{\"pid\": 4242, \"name\": \"trainer\", \"used\": \"" used \
  "\", \"host_pool\": \"1GiB\","                             \
  "\"host_resident\": \"6GiB\", \"start_unix_ns\": " start "}"
#define AT(reading, used, start) \
  "{\"at_reading\": " reading    \
  ", " DEVICES("3GiB", ", \"processes\": [" TRAINER(used, start) "]") "}"
static const char trainer_1[] =
    ONE_GPU(", \"processes\": [" TRAINER("2GiB", "1700000000000000000") "]") ", \"changes\": [" AT(
        "2", "7GiB", "1700000000000000000") "," AT("3", "1GiB", "1700000000000000000") "]}";
static const char trainer_2[] =
    ONE_GPU(", \"processes\": [" TRAINER("7GiB", "1700000000000000000") "]") ", \"changes\": [" AT(
        "2", "4GiB", "1800000000000000000") "]}";

static hmn_peak read_trainer_peak(const char* json) {
  machine m;
  machine_make(&m, json, NULL);
  hmn_sampler_options options = interval_options(5);
  options.process_interval_ns = HMN_MILLISECONDS(5);
  hmn_sampler* sampler = make_running(m.context, &options, HMN_COLLECT_PROCESSES);
  wait_until(read_info(sampler).taken_count >= 4);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_peak(sampler, 0, NAMED_PID + 1, &peak, NULL), HMN_E_NO_PROCESS);
  assert_status(hmn_sampler_peak(sampler, 1, NAMED_PID, &peak, NULL), HMN_E_NO_DEVICE);
  assert_status(hmn_sampler_peak(sampler, 0, 0, &peak, NULL), HMN_E_RANGE);
  assert_status(hmn_sampler_peak(sampler, 0, NAMED_PID, &peak, NULL), HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
  return peak;
}

static void a_process_has_its_own_peak(void** state) {
  (void)state;
  const hmn_peak peak = read_trainer_peak(trainer_1);
  assert_int_equal(peak.present,
                   HMN_PEAK_HAS_USED | HMN_PEAK_HAS_HOST_POOL | HMN_PEAK_HAS_HOST_RESIDENT);
  assert_int_equal(peak.pid, NAMED_PID);
  assert_int_equal(peak.used_bytes, 7 * GIB);
  assert_int_equal(peak.host_pool_bytes, GIB);
  assert_int_equal(peak.host_resident_bytes, 6 * GIB);
}

static void a_reused_pid_starts_a_new_peak(void** state) {
  (void)state;
  assert_int_equal(read_trainer_peak(trainer_2).used_bytes, 4 * GIB);
}

static void processes_have_their_own_interval(void** state) {
  (void)state;
  machine m;
  machine_make(&m, trainer_1, NULL);
  hmn_sampler_options options = interval_options(1);
  options.process_interval_ns = HMN_MILLISECONDS(PATIENT_MS);
  hmn_sampler* sampler =
      make_running(m.context, &options, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  const hmn_snapshot_info first = pull_info(sampler);
  assert_int_equal(first.collect & HMN_COLLECT_PROCESSES, HMN_COLLECT_PROCESSES);
  assert_int_equal(first.usage_count, 1);
  for (int i = 0; i < 5; ++i) {
    hmn_snapshot* snapshot = pull(sampler);
    NEW(hmn_snapshot_info, info);
    assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
    assert_int_equal(info.collect, HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS);
    assert_int_equal(info.usage_count, 0);
    assert_int_equal(info.notes & HMN_NOTE_PARTIAL, 0);
    NEW(hmn_diagnostic, diagnostic);
    assert_status(read_reason(snapshot, 0, HMN_COLLECT_PROCESSES, 0, &diagnostic), HMN_OK);
    assert_int_equal(diagnostic.reason, HMN_REASON_NOT_YET);
    assert_int_equal(diagnostic.status, HMN_E_EMPTY);
    assert_status(read_reason(snapshot, 0, HMN_COLLECT_METRICS, 0, &diagnostic), HMN_E_EMPTY);
    hmn_snapshot_destroy(snapshot);
  }
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_sampler_of_an_unknown_device_counts_failures(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  NEW(hmn_snapshot_options, snapshot_options);
  snapshot_options.flags = HMN_SNAPSHOT_ONE_DEVICE;
  snapshot_options.device_index = 7;
  const hmn_sampler_options options = interval_options(1);
  hmn_sampler* sampler = NULL;
  assert_returns(hmn_sampler_create(m.context, &options, &snapshot_options, &sampler, &error),
                 HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  wait_until(read_info(sampler).failed_count >= 2);
  const hmn_sampler_info info = read_info(sampler);
  assert_int_equal(info.taken_count, 0);
  assert_int_equal(info.present, HMN_SAMPLER_INFO_HAS_LAST);
  assert_status(info.last_status, HMN_E_NO_DEVICE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_sampler_refuses_invalid_snapshot_options(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, snapshot_options);
  hmn_sampler* sampler = NULL;
  snapshot_options.collect = 1u << 31;
  assert_returns(hmn_sampler_create(f->context, NULL, &snapshot_options, &sampler, &error),
                 HMN_E_UNKNOWN_FLAG);
  snapshot_options.collect = 0;
  snapshot_options.pid = 1;
  assert_returns(hmn_sampler_create(f->context, NULL, &snapshot_options, &sampler, &error),
                 HMN_E_ARGUMENT);
  assert_null(sampler);
}

static void a_sampler_cannot_start_without_threads(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_NO_THREADS, &context), HMN_OK);
  hmn_sampler* sampler = make(context, NULL, 0);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_UNSUPPORTED);
  assert_int_equal(read_info(sampler).state, HMN_SAMPLER_STATE_IDLE);
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
}

#ifdef HMN_TEST_NVML
static const char hung_nvml[] =
    "{\"devices\": [{\"name\": \"NVIDIA L40S\", \"memory\": {\"total\": \"45 GiB\", "
    "\"free\": \"35 GiB\", \"used\": \"10 GiB\"}}], "
    "\"rules\": [{\"call\": \"nvmlDeviceGetMemoryInfo*\", \"delay_ms\": 60000}]}";

static void stop_and_destroy_do_not_wait_for_hung_nvml(void** state) {
  (void)state;
  tree folder;
  char path[128];
  assert_int_equal(tree_make(&folder), 0);
  assert_int_equal(tree_write(&folder, "nvml.json", hung_nvml), 0);
  snprintf(path, sizeof path, "%s/nvml.json", folder.path);
  environment_set("FAKE_NVML_SCENARIO", path);
  const hmn_context_options options = patient_options(HMN_CONTEXT_NO_SUBPROCESS);
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(&options, &context, &error), HMN_OK);
  assert_returns(hmn_context_set_path(context, HMN_PATH_NVML, HMN_TEST_NVML, &error), HMN_OK);
  hmn_sampler* sampler = make_running(context, NULL, 0);
  sleep_ms(50);
  assert_before_any_deadline({
    assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
    hmn_sampler_destroy(sampler);
    hmn_context_destroy(context);
  });
  tree_remove(&folder);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sampler_starts_and_stops_only_once),
      cmocka_unit_test(by_default_a_snapshot_has_devices_pools_and_telemetry),
      cmocka_unit_test(the_schedule_of_snapshots_does_not_drift),
      cmocka_unit_test(slots_that_a_slow_driver_misses_are_counted),
      cmocka_unit_test(the_oldest_snapshot_is_dropped_and_counted),
      cmocka_unit_test(no_snapshot_is_taken_after_stop),
      cmocka_unit_test(next_waits_no_longer_than_its_timeout),
      cmocka_unit_test(stop_wakes_all_waiting_threads),
      cmocka_unit_test(stop_and_destroy_do_not_wait_for_a_driver),
      cmocka_unit_test(a_hung_driver_does_not_stop_the_schedule),
      cmocka_unit_test(the_latest_values_age_and_are_replaced),
      cmocka_unit_test(lost_values_are_no_longer_the_latest),
      cmocka_unit_test(values_that_are_not_collected_are_empty),
      cmocka_unit_test(a_peak_remains_when_the_value_falls),
      cmocka_unit_test(a_process_has_its_own_peak),
      cmocka_unit_test(a_reused_pid_starts_a_new_peak),
      cmocka_unit_test(processes_have_their_own_interval),
      cmocka_unit_test(a_sampler_of_an_unknown_device_counts_failures),
      cmocka_unit_test_setup_teardown(a_sampler_refuses_invalid_snapshot_options, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test(a_sampler_cannot_start_without_threads),
#ifdef HMN_TEST_NVML
      cmocka_unit_test(stop_and_destroy_do_not_wait_for_hung_nvml),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
