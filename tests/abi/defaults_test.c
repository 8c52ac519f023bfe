/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What a zero in each field of an input means: the defaults that the header documents, measured.
 * abi.coverage compares the rows of DEFAULT with the header.
 */
#include "support/machine.h"
#include "support/thread.h"
#ifdef HMN_TEST_NVML
#include "support/drivers.h"
#endif

#define DEFAULT(type, field, text) print_message("  " #type "." #field ": 0 = %s\n", text)

#define GPU                                                                                   \
  "\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16GiB\", " \
  "\"used\": \"3GiB\"}]}]"
static const char steady[] =
    "{\"host\": {\"self\": {\"resident\": \"1MiB\", \"virtual\": \"1MiB\"}}, " GPU "}";
static const char stuck_pools[] =
    "{" GPU ", \"delays\": [{\"call\": \"pools\", \"hang_until\": \"%s\"}]}";
static const char stuck_opening[] =
    "{" GPU ", \"delays\": [{\"call\": \"open\", \"hang\": \"forever\"}]}";

static hmn_status read_pool(hmn_context* context) {
  NEW(hmn_pool, pool);
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL);
}

static hmn_snapshot_info take_snapshot_info(hmn_context* context,
                                            const hmn_snapshot_options* options) {
  NEW(hmn_snapshot_info, info);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_snapshot_take(context, options, &snapshot, NULL), HMN_OK);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info;
}

/* Reads the pool once, at last_read_ms, and makes later readings hang. */
static int64_t last_read_ms;
static void make_stuck(machine* m, const hmn_context_options* options) {
  NEW(hmn_snapshot_options, snapshot_options);
  machine_make(m, stuck_pools, options);
  machine_go(m);
  snapshot_options.collect = HMN_COLLECT_POOLS;
  snapshot_options.deadline_ns = HMN_NS_UNLIMITED;
  assert_int_equal(take_snapshot_info(m->context, &snapshot_options).pool_count, 1);
  last_read_ms = now_ms();
  machine_stop(m);
}

/* ---- waits, all at the same time; each takes as long as its default ---- */

typedef struct wait {
  machine m;
  hmn_status status;
  int64_t start, spent;
} wait;

static void read_once(void* argument) {
  wait* w = argument;
  const int64_t start = now_ms();
  w->status = read_pool(w->m.context);
  w->spent = now_ms() - start;
}

static void read_until_timeout(void* argument) {
  wait* w = argument;
  do {
    sleep_ms(5);
    w->status = read_pool(w->m.context);
    w->spent = now_ms() - w->start;
  } while (w->status == HMN_OK && w->spent < PATIENT_MS);
}

static void count_once(void* argument) {
  wait* w = argument;
  uint32_t count = 0;
  const int64_t start = now_ms();
  w->status = hmn_device_scan(w->m.context, &count, NULL, NULL);
  w->spent = now_ms() - start;
}

static void snapshot_once(void* argument) {
  wait* w = argument;
  NEW(hmn_snapshot_options, options);
  hmn_snapshot* snapshot = NULL;
  options.collect = HMN_COLLECT_POOLS;
  const int64_t start = now_ms();
  w->status = hmn_snapshot_take(w->m.context, &options, &snapshot, NULL);
  w->spent = now_ms() - start;
  hmn_snapshot_destroy(snapshot);
}

#define assert_waited(w, status_, min_ms, max_ms)        \
  do {                                                   \
    print_message("  %d ms\n", (int)(w).spent);          \
    assert_status((w).status, status_);                  \
    assert_in_range((w).spent, (min_ms)-20, (max_ms)-1); \
  } while (0)

/* The shortest of a few: a busy machine delays some. */
static void a_call_waits_a_second(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  int64_t shortest = PATIENT_MS;
  for (int tries = 0; tries < 5 && shortest >= 2000; ++tries) {
    static wait w;
    make_stuck(&w.m, &options);
    read_once(&w);
    assert_status(w.status, HMN_OK);
    if (w.spent < shortest) shortest = w.spent;
    machine_go(&w.m);
    machine_end(&w.m);
  }
  DEFAULT(hmn_context_options, deadline_ns, "1 s");
  assert_in_range(shortest, 980, 1999);
}

static void a_call_waits_as_long_as_documented(void** state) {
  (void)state;
  enum { STALE, OPENING, SHORT_OPENING, SNAPSHOT, WAITS };
  static wait waits[WAITS];
  thread* threads[WAITS];
  NEW(hmn_context_options, options);
  options.deadline_ns = HMN_NS_IMMEDIATE;
  make_stuck(&waits[STALE].m, &options);
  waits[STALE].start = last_read_ms;
  options.deadline_ns = HMN_MILLISECONDS(2000); /* for the driver's thread to start within */
  machine_make(&waits[OPENING].m, stuck_opening, &options);
  options.open_deadline_ns = HMN_MILLISECONDS(3000);
  machine_make(&waits[SHORT_OPENING].m, stuck_opening, &options);
  make_stuck(&waits[SNAPSHOT].m, &options);
  void (*const runs[WAITS])(void*) = {read_until_timeout, count_once, count_once, snapshot_once};
  for (size_t i = 0; i < WAITS; ++i) threads[i] = thread_start(runs[i], &waits[i]);
  for (size_t i = 0; i < WAITS; ++i) thread_join(threads[i]);
  DEFAULT(hmn_context_options, stale_ns, "5 s");
  assert_waited(waits[STALE], HMN_E_TIMEOUT, 5000, 10000);
  DEFAULT(hmn_context_options, open_deadline_ns, "10 s");
  assert_waited(waits[OPENING], HMN_E_TIMEOUT, 10000, 20000);
  assert_waited(waits[SHORT_OPENING], HMN_E_TIMEOUT, 3000, 10000);
  DEFAULT(hmn_snapshot_options, deadline_ns, "the context's");
  assert_waited(waits[SNAPSHOT], HMN_OK, 2000, 4000);
  for (size_t i = 0; i < WAITS; ++i) {
    machine_go(&waits[i].m);
    machine_end(&waits[i].m);
  }
}

/* ---- samplers ---- */

static hmn_sampler* start(hmn_context* context, const hmn_sampler_options* options,
                          hmn_flags collect) {
  NEW(hmn_snapshot_options, snapshot_options);
  hmn_sampler* sampler = NULL;
  snapshot_options.collect = collect;
  assert_returns(hmn_sampler_create(context, options, &snapshot_options, &sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  return sampler;
}

static hmn_snapshot_info pull(hmn_sampler* sampler) {
  NEW(hmn_snapshot_info, info);
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &snapshot, &error), HMN_OK);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info;
}

static int64_t ms_between(const hmn_snapshot_info* before, const hmn_snapshot_info* after) {
  return (int64_t)((after->monotonic_ns - before->monotonic_ns) / 1000000);
}

/* Each snapshot starts a whole number of intervals after the first; on a busy machine some are
 * late. */
static void a_sampler_takes_a_snapshot_each_second(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  hmn_sampler* sampler = start(m.context, NULL, HMN_COLLECT_POOLS);
  int64_t shortest = PATIENT_MS;
  hmn_snapshot_info before = pull(sampler);
  for (int i = 0; i < 8 && shortest > 1500; ++i) {
    const hmn_snapshot_info after = pull(sampler);
    const int64_t interval_ms = ms_between(&before, &after);
    if (interval_ms < shortest) shortest = interval_ms;
    before = after;
  }
  DEFAULT(hmn_sampler_options, interval_ns, "1 s");
  assert_in_range(shortest, 800, 1500);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_sampler_scans_processes_each_second(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  NEW(hmn_sampler_options, options);
  options.interval_ns = HMN_MILLISECONDS(50);
  options.capacity = 1000;
  hmn_sampler* sampler = start(m.context, &options, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  hmn_snapshot_info before = pull(sampler);
  int64_t shortest = PATIENT_MS;
  assert_true((before.collect & HMN_COLLECT_PROCESSES) != 0);
  for (int scans = 0; scans < 8 && shortest > 1500;) {
    const hmn_snapshot_info after = pull(sampler);
    if ((after.collect & HMN_COLLECT_PROCESSES) == 0) continue;
    if (ms_between(&before, &after) < shortest) shortest = ms_between(&before, &after);
    before = after;
    ++scans;
  }
  DEFAULT(hmn_sampler_options, process_interval_ns, "1 s");
  assert_in_range(shortest, 900, 1500);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_sampler_keeps_64_snapshots(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  NEW(hmn_sampler_options, options);
  NEW(hmn_sampler_info, info);
  options.interval_ns = HMN_MILLISECONDS(1);
  hmn_sampler* sampler = start(m.context, &options, HMN_COLLECT_POOLS);
  wait_until(hmn_sampler_read(sampler, &info, NULL) == HMN_OK && info.dropped_count > 0);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_read(sampler, &info, &error), HMN_OK);
  DEFAULT(hmn_sampler_options, capacity, "64");
  assert_int_equal(info.pending, 64);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* ---- devices and subjects ---- */

static uint32_t count_devices(uint32_t classes) {
  machine m;
  NEW(hmn_context_options, options);
  options.device_classes = classes;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"a GPU\"},"
               " {\"name\": \"an NPU\", \"device_class\": \"npu\"}]}",
               &options);
  uint32_t count = 0;
  assert_status(hmn_device_scan(m.context, &count, NULL, NULL), HMN_OK);
  machine_end(&m);
  return count;
}

static void only_gpus_are_listed_by_default(void** state) {
  (void)state;
  DEFAULT(hmn_context_options, device_classes, "GPUs");
  assert_int_equal(count_devices(0), 1);
  assert_int_equal(count_devices(1u << HMN_DEVICE_CLASS_GPU | 1u << HMN_DEVICE_CLASS_NPU), 2);
}

static void a_snapshot_collects_the_documented_subjects(void** state) {
  (void)state;
  machine m;
  machine_make(&m, steady, NULL);
  DEFAULT(hmn_snapshot_options, collect, "memory, devices, pools, self");
  assert_int_equal(take_snapshot_info(m.context, NULL).collect,
                   HMN_COLLECT_MEMORY | HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_SELF);
  hmn_sampler* sampler = start(m.context, NULL, 0);
  assert_int_equal(pull(sampler).collect,
                   HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* ---- a vendor library that is shut down, and scans of all processes ---- */

#ifdef HMN_TEST_NVML
static hmn_context* make_context_with_drivers(const hmn_context_options* options) {
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(options, &context, &error), HMN_OK);
  assert_status(drivers_use(context), HMN_OK);
  return context;
}

/* From the last reading to the shutdown. */
static int64_t measure_idle_close_ms(uint32_t idle_close_ms) {
  NEW(hmn_context_options, options);
  options.deadline_ns = HMN_NS_UNLIMITED;
  options.idle_close_ns = HMN_MILLISECONDS(idle_close_ms);
  hmn_context* context = make_context_with_drivers(&options);
  assert_status(read_pool(context), HMN_OK);
  const int64_t start_ms = now_ms();
  assert_int_equal(drivers_sessions(), 1);
  wait_until(drivers_sessions() == 0);
  const int64_t end_ms = now_ms();
  hmn_context_destroy(context);
  return end_ms - start_ms;
}

static void a_library_is_shut_down_when_idle(void** state) {
  (void)state;
  DEFAULT(hmn_context_options, idle_close_ns, "2 s");
  assert_in_range(measure_idle_close_ms(0), 1950, 3900);
  assert_in_range(measure_idle_close_ms(500), 450, 1900);
}

static int has_client(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  options.collect = HMN_COLLECT_PROCESSES;
  return take_snapshot_info(context, &options).usage_count > 0;
}

static int64_t measure_rescan_ms(uint32_t rescan_ms) {
  NEW(hmn_context_options, options);
  options.deadline_ns = HMN_NS_UNLIMITED;
  options.rescan_ns = HMN_MILLISECONDS(rescan_ms);
  options.rescan_percent = 100;
  options.backends_off = UINT64_C(1) << HMN_BACKEND_NVML;
  drivers_set_client(0);
  hmn_context* context = make_context_with_drivers(&options);
  assert_false(has_client(context));
  const int64_t start_ms = now_ms();
  drivers_set_client(1);
  wait_until(has_client(context));
  const int64_t end_ms = now_ms();
  hmn_context_destroy(context);
  return end_ms - start_ms;
}

static void processes_are_scanned_again_after_rescan_ns(void** state) {
  (void)state;
  DEFAULT(hmn_context_options, rescan_ns, "2 s");
  assert_in_range(measure_rescan_ms(0), 1800, 3900);
  assert_in_range(measure_rescan_ms(500), 300, 1700);
}

/* Whether scans in quick succession skip processes because of rescan_percent. */
static int is_limited(uint32_t rescan_percent) {
  NEW(hmn_context_options, options);
  NEW(hmn_snapshot_options, snapshot_options);
  options.deadline_ns = HMN_NS_UNLIMITED;
  options.rescan_ns = HMN_MILLISECONDS(1);
  options.rescan_percent = rescan_percent;
  options.backends_off = UINT64_C(1) << HMN_BACKEND_NVML;
  snapshot_options.collect = HMN_COLLECT_PROCESSES;
  hmn_context* context = make_context_with_drivers(&options);
  int is_reported = 0;
  for (int i = 0; i < 30; ++i) {
    hmn_snapshot* snapshot = NULL;
    assert_status(hmn_snapshot_take(context, &snapshot_options, &snapshot, NULL), HMN_OK);
    NEW(hmn_diagnostic, diagnostic);
    for (uint32_t n = 0; hmn_snapshot_diagnostic_at(snapshot, n, &diagnostic, NULL) == HMN_OK;
         ++n) {
      is_reported |= strstr(diagnostic.message, "(rescan_percent)") != NULL;
    }
    hmn_snapshot_destroy(snapshot);
  }
  hmn_context_destroy(context);
  return is_reported;
}

static void scans_take_no_more_of_a_core_than_rescan_percent(void** state) {
  (void)state;
  drivers_add_processes(1500);
  assert_true(is_limited(1));
  assert_false(is_limited(100));
}
#endif

/* ---- trackers, spills, estimates ---- */

static void a_tracker_has_no_limit_and_64_tags(void** state) {
  (void)state;
  hmn_tracker* tracker = NULL;
  uint32_t tag = 0;
  assert_returns(hmn_tracker_create(NULL, 0, NULL, &tracker, &error), HMN_OK);
  NEW(hmn_tracker_info, info);
  assert_returns(hmn_tracker_allocate(tracker, UINT64_MAX, &error), HMN_OK);
  assert_status(hmn_tracker_read(tracker, &info, NULL), HMN_OK);
  assert_int_equal(info.present & HMN_TRACKER_INFO_HAS_LIMIT, 0);
  DEFAULT(hmn_tracker_options, tag_capacity, "64");
  for (int i = 0; i < 64; ++i) {
    char name[8];
    snprintf(name, sizeof name, "%d", i);
    assert_returns(hmn_tracker_tag(tracker, name, &tag, &error), HMN_OK);
  }
  assert_returns(hmn_tracker_tag(tracker, "more", &tag, &error), HMN_E_LIMIT);
  hmn_tracker_destroy(tracker);
}

static int spills(uint64_t limit, uint64_t dedicated, uint64_t shared) {
  hmn_spill* spill = NULL;
  assert_returns(hmn_spill_create(NULL, 0, NULL, &spill, &error), HMN_OK);
  for (uint64_t i = 0; i < 2; ++i) {
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_LIMIT;
    sample.monotonic_ns = 1 + i;
    sample.limit_bytes = limit;
    sample.dedicated_bytes = dedicated;
    sample.shared_bytes = i * shared;
    assert_returns(hmn_spill_feed(spill, &sample, "", &error), HMN_OK);
  }
  NEW(hmn_spill_info, info);
  assert_returns(hmn_spill_read(spill, &info, &error), HMN_OK);
  hmn_spill_destroy(spill);
  return (info.state & HMN_SPILL_STATE_EVER) != 0;
}

static void a_spill_begins_at_the_documented_thresholds(void** state) {
  (void)state;
  const uint64_t growth = UINT64_C(256) << 20;
  DEFAULT(hmn_spill_options, dedicated_threshold_bytes, "limit / 100 * 85, whole bytes");
  assert_true(spills(1099, 850, growth));
  assert_false(spills(1099, 849, growth));
  DEFAULT(hmn_spill_options, growth_bytes, "256 MiB");
  assert_true(spills(1000, 1000, growth));
  assert_false(spills(1000, 1000, growth - 1));
}

static void a_detector_keeps_1024_episodes(void** state) {
  (void)state;
  hmn_spill* spill = NULL;
  assert_returns(hmn_spill_create(NULL, 0, NULL, &spill, &error), HMN_OK);
  for (uint64_t i = 0; i <= 2 * 1025; ++i) { /* calm, and an episode, and calm again … */
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.monotonic_ns = 1 + i;
    sample.evicted_bytes = i % 2 << 40;
    assert_returns(hmn_spill_feed(spill, &sample, "", &error), HMN_OK);
  }
  NEW(hmn_spill_info, info);
  assert_returns(hmn_spill_read(spill, &info, &error), HMN_OK);
  DEFAULT(hmn_spill_options, episode_capacity, "1024");
  assert_int_equal(info.episode_count, 1025);
  assert_int_equal(info.first_episode, 1);
  hmn_spill_destroy(spill);
}

static void a_sample_without_a_time_has_the_current_time(void** state) {
  (void)state;
  hmn_spill* spill = NULL;
  assert_returns(hmn_spill_create(NULL, 0, NULL, &spill, &error), HMN_OK);
  const uint64_t before = now_ns();
  for (uint64_t i = 0; i < 2; ++i) {
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.evicted_bytes = i << 40;
    assert_returns(hmn_spill_feed(spill, &sample, "", &error), HMN_OK);
  }
  NEW(hmn_episode, episode);
  assert_returns(hmn_spill_episode(spill, 0, &episode, &error), HMN_OK);
  DEFAULT(hmn_spill_sample, monotonic_ns, "now");
  assert_true(episode.start_monotonic_ns >= before && episode.start_monotonic_ns <= now_ns());
  hmn_spill_destroy(spill);
}

static void an_estimate_uses_the_documented_defaults(void** state) {
  (void)state;
  uint64_t bytes = 0;
  const uint64_t shape[] = {3, 5};
  NEW(hmn_packing, packing);
  packing.dtype = HMN_DTYPE_I4;
  DEFAULT(hmn_packing, group_size, "no groups");
  assert_returns(hmn_estimate_packed(shape, 2, &packing, &bytes, &error), HMN_OK);
  assert_int_equal(bytes, 8); /* 15 elements of 4 bits */

  NEW(hmn_attention, attention);
  attention.dtype = HMN_DTYPE_F16;
  attention.heads = 4;
  attention.sequence = 10;
  attention.head_dim = 8;
  DEFAULT(hmn_attention, batch, "1");
  DEFAULT(hmn_attention, kv_heads, "heads");
  assert_returns(hmn_estimate_attention(&attention, &bytes, &error), HMN_OK);
  assert_int_equal(bytes, 2 * (2 * 4 * 10 * 8 + 2 * 4 * 10 * 8 + 4 * 10 * 10));

  NEW(hmn_cache, cache);
  cache.dtype = HMN_DTYPE_F16;
  cache.layers = 3;
  cache.kv_heads = 2;
  cache.row_dim = 16;
  assert_returns(hmn_estimate_cache(&cache, 10, 1, &bytes, &error), HMN_OK);
  assert_int_equal(bytes, 2 * 3 * 2 * 16 * 10);

  /* A per_thousand of 0 means 1100. */
  assert_returns(hmn_estimate_overhead(10000, 0, &bytes, &error), HMN_OK);
  assert_int_equal(bytes, 11000);
}

/* An argument is a pattern of the tests to run. */
int main(int count, char** words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_waits_a_second),
      cmocka_unit_test(a_call_waits_as_long_as_documented),
      cmocka_unit_test(a_sampler_takes_a_snapshot_each_second),
      cmocka_unit_test(a_sampler_scans_processes_each_second),
      cmocka_unit_test(a_sampler_keeps_64_snapshots),
      cmocka_unit_test(a_snapshot_collects_the_documented_subjects),
#ifdef HMN_TEST_NVML
      cmocka_unit_test(a_library_is_shut_down_when_idle),
      cmocka_unit_test(processes_are_scanned_again_after_rescan_ns),
      cmocka_unit_test(scans_take_no_more_of_a_core_than_rescan_percent),
#endif
      cmocka_unit_test(only_gpus_are_listed_by_default),
      cmocka_unit_test(a_tracker_has_no_limit_and_64_tags),
      cmocka_unit_test(a_spill_begins_at_the_documented_thresholds),
      cmocka_unit_test(a_detector_keeps_1024_episodes),
      cmocka_unit_test(a_sample_without_a_time_has_the_current_time),
      cmocka_unit_test(an_estimate_uses_the_documented_defaults),
  };
  if (count > 1) cmocka_set_test_filter(words[1]);
#ifdef HMN_TEST_NVML
  if (drivers_begin() != 0) return 1;
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
