/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/environment.h"
#include "support/keys.h"
#include "support/machine.h"
#include "support/thread.h"

/* Later than at once, and earlier than any deadline here, on a machine with much else to do. */
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
static const char is_steady[] = ONE_GPU("") "}";
static const char waits_to_go[] =
    ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]") "}";
static const char loses_its_values[] = ONE_GPU(
    ", \"failures\": [{\"call\": \"any\", \"from_reading\": 2, \"status\": \"device_lost\"}]") "}";

static hmn_sampler_options every(uint32_t interval_ms) {
  NEW(hmn_sampler_options, options);
  options.interval_ns = HMN_MILLISECONDS(interval_ms);
  return options;
}

static hmn_sampler* make(hmn_context* context, const hmn_sampler_options* options,
                         hmn_flags collect) {
  NEW(hmn_snapshot_options, what);
  what.collect = collect;
  hmn_sampler* sampler = NULL;
  assert_returns(
      hmn_sampler_create(context, options, collect == 0 ? NULL : &what, &sampler, &error), HMN_OK);
  assert_non_null(sampler);
  return sampler;
}

static hmn_sampler* make_running(hmn_context* context, const hmn_sampler_options* options,
                                 hmn_flags collect) {
  hmn_sampler* sampler = make(context, options, collect);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  return sampler;
}

static hmn_sampler_info info_of(hmn_sampler* sampler) {
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
    const int64_t since = now_ms();                \
    call;                                          \
    assert_in_range(now_ms() - since, 0, AT_ONCE); \
  } while (0)

static void a_life_has_one_way(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  hmn_sampler* sampler = make(m.context, NULL, 0);
  hmn_snapshot* none = NULL;
  assert_int_equal(info_of(sampler).state, HMN_SAMPLER_STATE_IDLE);
  assert_int_equal(info_of(sampler).present, 0);
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_E_STATE);
  NEW(hmn_pool, pool);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_E_EMPTY);

  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_STATE);
  assert_int_equal(info_of(sampler).state, HMN_SAMPLER_STATE_RUNNING);
  wait_until(info_of(sampler).pending == 1);

  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_STATE);
  assert_int_equal(info_of(sampler).state, HMN_SAMPLER_STATE_STOPPED);
  hmn_snapshot_destroy(pull(sampler));
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_null(none);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* hwLedger's collector: who the devices are, memory, load, power, from one call. */
static void by_default_a_snapshot_has_devices_pools_and_telemetry(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
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

static void snapshots_come_on_a_schedule_that_does_not_drift(void** state) {
  (void)state;
  enum { INTERVAL = 50, COUNT = 8 };
  machine m;
  machine_make(&m, is_steady, NULL);
  const hmn_sampler_options options = every(INTERVAL);
  const int64_t start = now_ms();
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  uint64_t last = 0;
  for (int i = 0; i < COUNT; ++i) {
    const uint64_t next = pull_info(sampler).monotonic_ns;
    assert_true(next > last);
    last = next;
  }
  /* Each is begun at or after its slot, however late the ones before were. */
  const hmn_sampler_info info = info_of(sampler);
  assert_true(last / 1000000 + 1 >= (uint64_t)start + (COUNT - 1) * INTERVAL);
  assert_int_equal(info.failed_count, 0);
  assert_int_equal(info.dropped_count, 0);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_slow_driver_costs_slots_and_they_are_counted(void** state) {
  (void)state;
  machine m;
  machine_make(&m, ONE_GPU(", \"delays\": [{\"call\": \"pools\", \"ms\": 40}]") "}", NULL);
  const hmn_sampler_options options = every(10);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot_destroy(pull(sampler));
  /* Two began at least 40 ms after the one before: four slots on, three of them left out. */
  assert_true(info_of(sampler).late_count >= 6);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_oldest_is_dropped_and_counted(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  hmn_sampler_options options = every(1);
  options.capacity = 3;
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(info_of(sampler).taken_count >= 10);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  const hmn_sampler_info info = info_of(sampler);
  assert_int_equal(info.pending, 3);
  assert_int_equal(info.dropped_count, info.taken_count - 3);
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t next = pull_info(sampler).monotonic_ns;
    assert_true(next > last);
    last = next;
  }
  /* The tries began before their snapshots, and the last of them is the newest snapshot. */
  assert_int_equal(info.present, HMN_SAMPLER_INFO_HAS_LAST);
  assert_true(info.last_monotonic_ns <= last);
  assert_int_equal(info.last_status, HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void after_stop_nothing_is_added(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  const hmn_sampler_options options = every(1);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(info_of(sampler).taken_count >= 3);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  const hmn_sampler_info before = info_of(sampler);
  sleep_ms(30);
  const hmn_sampler_info after = info_of(sampler);
  assert_memory_equal(&before, &after, sizeof before);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void next_waits_no_longer_than_it_may(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  const hmn_sampler_options options = every(PATIENT_MS);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  hmn_snapshot_destroy(pull(sampler));
  hmn_snapshot* none = NULL;
  assert_returns(hmn_sampler_next(sampler, 0, &none, &error), HMN_E_EMPTY);
  const int64_t begun = now_ms();
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(50), &none, &error), HMN_E_EMPTY);
  assert_true(now_ms() - begun >= 49);
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

static void stop_wakes_all_that_wait(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  const hmn_sampler_options options = every(PATIENT_MS);
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

static void stop_and_destroy_wait_for_no_driver(void** state) {
  (void)state;
  machine m;
  machine_make(&m, waits_to_go, NULL); /* the deadline is a minute */
  hmn_sampler* sampler = make_running(m.context, NULL, 0);
  waiter w = {sampler, HMN_OK};
  thread* waiting = thread_start(wait_for_next, &w);
  sleep_ms(50);
  assert_before_any_deadline({
    assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
    thread_join(waiting);
  });
  assert_status(w.status, HMN_E_STATE);
  assert_int_equal(info_of(sampler).taken_count, 0);
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

static int shows_pool(hmn_sampler* sampler, hmn_flags note) {
  NEW(hmn_pool, pool);
  return hmn_sampler_latest_pool(sampler, 0, &pool, NULL) == HMN_OK && pool.used_bytes == 3 * GIB &&
         (pool.notes & HMN_NOTE_STALE) == note;
}

/* A snapshot that a driver keeps waiting comes without what it did not report, marked so. */
static void a_driver_that_hangs_leaves_the_schedule_running(void** state) {
  (void)state;
  machine m;
  hmn_context_options short_ones = patient_options(0);
  short_ones.deadline_ns = HMN_MILLISECONDS(30);
  short_ones.stale_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine_make(&m, waits_to_go, &short_ones);
  machine_go(&m);
  const hmn_sampler_options options = every(5);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(shows_pool(sampler, 0));
  machine_stop(&m);
  wait_until(shows_pool(sampler, HMN_NOTE_STALE));
  const uint64_t taken = info_of(sampler).taken_count;
  wait_until(info_of(sampler).taken_count >= taken + 4);
  assert_true(shows_pool(sampler, HMN_NOTE_STALE));
  assert_true(info_of(sampler).late_count > 0);
  machine_go(&m);
  wait_until(shows_pool(sampler, 0));
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void the_latest_values_age_and_give_way(void** state) {
  (void)state;
  machine m;
  machine_make(&m, rises_and_falls, NULL);
  const hmn_sampler_options options = every(20);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(info_of(sampler).taken_count >= 4);
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

static void values_that_were_lost_are_not_shown_on(void** state) {
  (void)state;
  machine m;
  machine_make(&m, loses_its_values, NULL);
  const hmn_sampler_options options = every(5);
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(info_of(sampler).taken_count >= 3);
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

static void what_was_not_asked_for_is_not_there(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  hmn_sampler* sampler = make_running(m.context, NULL, HMN_COLLECT_POOLS);
  hmn_snapshot_destroy(pull(sampler));
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  assert_status(hmn_sampler_latest_pool(sampler, 0, &pool, NULL), HMN_OK);
  assert_status(hmn_sampler_latest_telemetry(sampler, 0, &telemetry, NULL), HMN_E_EMPTY);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_peak_stays_when_the_value_falls(void** state) {
  (void)state;
  machine m;
  machine_make(&m, rises_and_falls, NULL);
  hmn_sampler_options options = every(5);
  options.flags = HMN_SAMPLER_PEAKS_ONLY;
  hmn_sampler* sampler = make_running(m.context, &options, 0);
  wait_until(info_of(sampler).taken_count >= 4);
  hmn_snapshot* none = NULL;
  assert_returns(hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &none, &error),
                 HMN_E_STATE);
  assert_int_equal(info_of(sampler).pending, 0);
  assert_int_equal(info_of(sampler).dropped_count, 0);
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
  assert_true(peak.used_monotonic_ns < info_of(sampler).last_monotonic_ns);
  assert_status(hmn_sampler_peak_device(sampler, 1, &peak, NULL), HMN_E_NO_DEVICE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* Used is 2, 7, 1 GiB, then the process is another one of that pid with 4. */
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

static hmn_peak trainers_peak(const char* json) {
  machine m;
  machine_make(&m, json, NULL);
  hmn_sampler_options options = every(5);
  options.process_interval_ns = HMN_MILLISECONDS(5);
  hmn_sampler* sampler = make_running(m.context, &options, HMN_COLLECT_PROCESSES);
  wait_until(info_of(sampler).taken_count >= 4);
  NEW(hmn_peak, peak);
  assert_status(hmn_sampler_peak(sampler, 0, NAMED_PID + 1, &peak, NULL), HMN_E_NO_PROCESS);
  assert_status(hmn_sampler_peak(sampler, 1, NAMED_PID, &peak, NULL), HMN_E_NO_DEVICE);
  assert_status(hmn_sampler_peak(sampler, 0, 0, &peak, NULL), HMN_E_RANGE);
  assert_status(hmn_sampler_peak(sampler, 0, NAMED_PID, &peak, NULL), HMN_OK);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
  return peak;
}

static void a_process_has_a_peak_of_its_own(void** state) {
  (void)state;
  const hmn_peak peak = trainers_peak(trainer_1);
  assert_int_equal(peak.present,
                   HMN_PEAK_HAS_USED | HMN_PEAK_HAS_HOST_POOL | HMN_PEAK_HAS_HOST_RESIDENT);
  assert_int_equal(peak.pid, NAMED_PID);
  assert_int_equal(peak.used_bytes, 7 * GIB);
  assert_int_equal(peak.host_pool_bytes, GIB);
  assert_int_equal(peak.host_resident_bytes, 6 * GIB);
}

static void a_pid_that_is_given_anew_begins_anew(void** state) {
  (void)state;
  assert_int_equal(trainers_peak(trainer_2).used_bytes, 4 * GIB);
}

static void processes_have_an_interval_of_their_own(void** state) {
  (void)state;
  machine m;
  machine_make(&m, trainer_1, NULL);
  hmn_sampler_options options = every(1);
  options.process_interval_ns = HMN_MILLISECONDS(PATIENT_MS);
  hmn_sampler* sampler =
      make_running(m.context, &options, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  const hmn_snapshot_info first = pull_info(sampler);
  assert_int_equal(first.collect & HMN_COLLECT_PROCESSES, HMN_COLLECT_PROCESSES);
  assert_int_equal(first.usage_count, 1);
  for (int i = 0; i < 5; ++i) {
    hmn_snapshot* between = pull(sampler);
    NEW(hmn_snapshot_info, info);
    assert_status(hmn_snapshot_read(between, &info, NULL), HMN_OK);
    assert_int_equal(info.collect, HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS);
    assert_int_equal(info.usage_count, 0);
    assert_int_equal(info.notes & HMN_NOTE_PARTIAL, 0);
    NEW(hmn_diagnostic, why);
    assert_status(read_reason(between, 0, HMN_COLLECT_PROCESSES, 0, &why), HMN_OK);
    assert_int_equal(why.reason, HMN_REASON_NOT_YET);
    assert_int_equal(why.status, HMN_E_EMPTY);
    assert_status(read_reason(between, 0, HMN_COLLECT_METRICS, 0, &why), HMN_E_EMPTY);
    hmn_snapshot_destroy(between);
  }
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_sampler_of_no_device_fails_and_says_so(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_steady, NULL);
  NEW(hmn_snapshot_options, what);
  what.flags = HMN_SNAPSHOT_ONE_DEVICE;
  what.device_index = 7;
  const hmn_sampler_options options = every(1);
  hmn_sampler* sampler = NULL;
  assert_returns(hmn_sampler_create(m.context, &options, &what, &sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  wait_until(info_of(sampler).failed_count >= 2);
  const hmn_sampler_info info = info_of(sampler);
  assert_int_equal(info.taken_count, 0);
  assert_int_equal(info.present, HMN_SAMPLER_INFO_HAS_LAST);
  assert_status(info.last_status, HMN_E_NO_DEVICE);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void what_a_snapshot_refuses_a_sampler_refuses(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, what);
  hmn_sampler* sampler = NULL;
  what.collect = 1u << 31;
  assert_returns(hmn_sampler_create(f->context, NULL, &what, &sampler, &error), HMN_E_UNKNOWN_FLAG);
  what.collect = 0;
  what.pid = 1;
  assert_returns(hmn_sampler_create(f->context, NULL, &what, &sampler, &error), HMN_E_ARGUMENT);
  assert_null(sampler);
}

static void without_threads_there_is_no_sampling(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_NO_THREADS, &context), HMN_OK);
  hmn_sampler* sampler = make(context, NULL, 0);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_E_UNSUPPORTED);
  assert_int_equal(info_of(sampler).state, HMN_SAMPLER_STATE_IDLE);
  hmn_sampler_destroy(sampler);
  hmn_context_destroy(context);
}

#ifdef HMN_TEST_NVML
static const char hung_nvml[] =
    "{\"devices\": [{\"name\": \"NVIDIA L40S\", \"memory\": {\"total\": \"45 GiB\", "
    "\"free\": \"35 GiB\", \"used\": \"10 GiB\"}}], "
    "\"rules\": [{\"call\": \"nvmlDeviceGetMemoryInfo*\", \"delay_ms\": 60000}]}";

static void behind_nvml_that_hangs_stop_and_destroy_wait_for_nobody(void** state) {
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
      cmocka_unit_test(a_life_has_one_way),
      cmocka_unit_test(by_default_a_snapshot_has_devices_pools_and_telemetry),
      cmocka_unit_test(snapshots_come_on_a_schedule_that_does_not_drift),
      cmocka_unit_test(a_slow_driver_costs_slots_and_they_are_counted),
      cmocka_unit_test(the_oldest_is_dropped_and_counted),
      cmocka_unit_test(after_stop_nothing_is_added),
      cmocka_unit_test(next_waits_no_longer_than_it_may),
      cmocka_unit_test(stop_wakes_all_that_wait),
      cmocka_unit_test(stop_and_destroy_wait_for_no_driver),
      cmocka_unit_test(a_driver_that_hangs_leaves_the_schedule_running),
      cmocka_unit_test(the_latest_values_age_and_give_way),
      cmocka_unit_test(values_that_were_lost_are_not_shown_on),
      cmocka_unit_test(what_was_not_asked_for_is_not_there),
      cmocka_unit_test(a_peak_stays_when_the_value_falls),
      cmocka_unit_test(a_process_has_a_peak_of_its_own),
      cmocka_unit_test(a_pid_that_is_given_anew_begins_anew),
      cmocka_unit_test(processes_have_an_interval_of_their_own),
      cmocka_unit_test(a_sampler_of_no_device_fails_and_says_so),
      cmocka_unit_test_setup_teardown(what_a_snapshot_refuses_a_sampler_refuses, fixture_setup,
                                      fixture_teardown),
      cmocka_unit_test(without_threads_there_is_no_sampling),
#ifdef HMN_TEST_NVML
      cmocka_unit_test(behind_nvml_that_hangs_stop_and_destroy_wait_for_nobody),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
