/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#endif
#include "support/machine.h"
#include "support/thread.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define SECOND UINT64_C(1000000000)

static const uint64_t limit = 16 * GIB;
static const uint64_t saturated = 16 * GIB - 1024;
static const uint64_t relaxed = 8 * GIB;
static const uint64_t baseline = 140533760;
static const uint64_t spilled = 140533760 + 768 * MIB;

static hmn_spill* make(const hmn_spill_options* options) {
  hmn_spill* detector = NULL;
  assert_returns(hmn_spill_create(NULL, 0, options, &detector, &error), HMN_OK);
  assert_non_null(detector);
  return detector;
}

static hmn_spill_sample sample(uint64_t dedicated, uint64_t shared) {
  NEW(hmn_spill_sample, result);
  result.flags = HMN_SPILL_SAMPLE_HAS_LIMIT;
  result.limit_bytes = limit;
  result.dedicated_bytes = dedicated;
  result.shared_bytes = shared;
  return result;
}

static void feed(hmn_spill* detector, const hmn_spill_sample* s, const char* label) {
  assert_returns(hmn_spill_feed(detector, s, label, &error), HMN_OK);
}

/* R: relaxed, S: saturated and spilled; a second apart, labels t0, t1 … */
static void feed_all(hmn_spill* detector, const char* pattern) {
  for (uint64_t i = 0; pattern[i] != 0; ++i) {
    hmn_spill_sample s = pattern[i] == 'S' ? sample(saturated, spilled) : sample(relaxed, baseline);
    s.monotonic_ns = (i + 1) * SECOND;
    char label[32];
    snprintf(label, sizeof label, "t%u", (unsigned)i);
    feed(detector, &s, label);
  }
}

static hmn_spill* make_fed(const char* pattern) {
  hmn_spill* detector = make(NULL);
  feed_all(detector, pattern);
  return detector;
}

static hmn_spill_info read_info(hmn_spill* detector) {
  NEW(hmn_spill_info, info);
  assert_status(hmn_spill_read(detector, &info, NULL), HMN_OK);
  return info;
}

static hmn_spill_info finish(hmn_spill* detector) {
  const hmn_spill_info info = read_info(detector);
  hmn_spill_destroy(detector);
  return info;
}

static hmn_episode read_episode(hmn_spill* detector, uint64_t number) {
  NEW(hmn_episode, episode);
  assert_status(hmn_spill_episode(detector, number, &episode, NULL), HMN_OK);
  assert_int_equal(episode.number, number);
  return episode;
}

static void assert_end(const hmn_episode* e, const char* label) {
  assert_int_equal((e->present & HMN_EPISODE_HAS_END) != 0, label != NULL);
  assert_string_equal(e->end_label, label == NULL ? "" : label);
}

static void hv83_flicker_is_three_episodes(void** state) {
  (void)state;
  hmn_spill* s = make_fed("RSRSRSR");
  const hmn_episode first = read_episode(s, 0);
  const hmn_episode last = read_episode(s, 2);
  assert_string_equal(first.start_label, "t1");
  assert_end(&first, "t2");
  assert_end(&last, "t6");
  assert_int_equal(last.rules, HMN_SPILL_BY_SHARED);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.episode_count, 3);
  assert_int_equal(info.state, HMN_SPILL_STATE_MEASURABLE | HMN_SPILL_STATE_EVER);
  assert_int_equal(info.rules, 0);
  assert_string_equal(info.first_label, "t1");
}

static void hv84_full_memory_alone_is_no_episode(void** state) {
  (void)state;
  hmn_spill* s = make(NULL);
  const uint64_t shared[] = {baseline, baseline + 1024, baseline};
  for (size_t i = 0; i < 3; ++i) {
    const hmn_spill_sample one = sample(saturated, shared[i]);
    feed(s, &one, NULL);
  }
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.episode_count, 0);
  assert_int_equal(info.present & HMN_SPILL_INFO_HAS_EPISODE, 0);
}

static void hv85_free_memory_is_no_episode(void** state) {
  (void)state;
  assert_int_equal(finish(make_fed("RR")).episode_count, 0);
}

static void hv86_an_open_episode_has_no_end(void** state) {
  (void)state;
  hmn_spill* s = make_fed("RSS");
  const hmn_episode open = read_episode(s, 0);
  assert_end(&open, NULL);
  assert_int_equal(open.observation_count, 2);
  assert_int_equal(open.duration_ns, SECOND);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.episode_count, 1);
  assert_int_equal(info.state,
                   HMN_SPILL_STATE_MEASURABLE | HMN_SPILL_STATE_NOW | HMN_SPILL_STATE_EVER);
  assert_int_equal(info.rules, HMN_SPILL_BY_SHARED);
}

static void hv87_ever_stays_set_after_recovery(void** state) {
  (void)state;
  assert_int_equal(finish(make_fed("RSR")).state,
                   HMN_SPILL_STATE_MEASURABLE | HMN_SPILL_STATE_EVER);
}

static void hv88_the_first_observation_is_the_baseline(void** state) {
  (void)state;
  hmn_spill* s = make(NULL);
  const uint64_t first = baseline + 512 * MIB;
  const hmn_spill_sample begin = sample(relaxed, first);
  const hmn_spill_sample grown = sample(saturated, first + 256 * MIB);
  feed(s, &begin, NULL);
  feed(s, &grown, NULL);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.episode_count, 1);
  assert_int_equal(info.baseline_shared_bytes, first);
}

static void hv89_growth_is_inclusive(void** state) {
  (void)state;
  for (uint64_t less = 0; less < 2; ++less) {
    hmn_spill* s = make(NULL);
    const hmn_spill_sample begin = sample(relaxed, baseline);
    const hmn_spill_sample grown = sample(saturated, baseline + 256 * MIB - less);
    feed(s, &begin, NULL);
    feed(s, &grown, NULL);
    assert_int_equal(finish(s).episode_count, 1 - less);
  }
}

static void hv90_a_limit_below_100_bytes_has_no_threshold(void** state) {
  (void)state;
  for (uint64_t tiny = 0; tiny < 100; tiny += 99) {
    hmn_spill* s = make(NULL);
    hmn_spill_sample all = sample(UINT64_MAX, UINT64_MAX);
    all.limit_bytes = tiny;
    feed(s, &all, NULL);
    const hmn_spill_info info = finish(s);
    assert_int_equal(info.episode_count, 0);
    assert_int_equal(info.observation_count, 1);
    assert_int_equal(info.peak_dedicated_bytes, UINT64_MAX);
    assert_int_equal(info.peak_shared_bytes, UINT64_MAX);
    assert_int_equal(info.present & HMN_SPILL_INFO_HAS_LIMIT, HMN_SPILL_INFO_HAS_LIMIT);
  }
}

/* 16 GiB / 100 * 85, divided first: 171798691 * 85 = 14602888735, which is above 12 GiB. */
static void hv91_the_threshold_can_be_set(void** state) {
  (void)state;
  const uint64_t thresholds[] = {0, 12 * GIB, 0, 0};
  const uint64_t used[] = {12 * GIB, 12 * GIB, UINT64_C(14602888735), UINT64_C(14602888734)};
  const uint64_t expected[] = {0, 1, 1, 0};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_spill_options, options);
    options.dedicated_threshold_bytes = thresholds[i];
    hmn_spill* s = make(&options);
    const hmn_spill_sample begin = sample(relaxed, baseline);
    const hmn_spill_sample grown = sample(used[i], spilled);
    feed(s, &begin, NULL);
    feed(s, &grown, NULL);
    assert_int_equal(finish(s).episode_count, expected[i]);
  }
}

static void hv92_an_episode_of_one_observation_has_no_duration(void** state) {
  (void)state;
  hmn_spill* s = make_fed("RSR");
  const hmn_episode episode = read_episode(s, 0);
  assert_int_equal(episode.duration_ns, 0);
  assert_int_equal(episode.observation_count, 1);
  assert_int_equal(episode.start_monotonic_ns, 2 * SECOND);
  assert_int_equal(episode.end_monotonic_ns, 3 * SECOND);
  hmn_spill_destroy(s);
}

static void hv93_durations_add_up(void** state) {
  (void)state;
  const hmn_spill_info info = finish(make_fed("RSSSRSSSR"));
  assert_int_equal(info.episode_count, 2);
  assert_int_equal(info.total_ns, 4 * SECOND);
  assert_int_equal(info.longest_episode, 0);
}

static void hv94_the_longest_episode_is_reported(void** state) {
  (void)state;
  hmn_spill* s = make_fed("RSRSSR");
  const hmn_spill_info info = read_info(s);
  assert_int_equal(info.longest_ns, SECOND);
  assert_int_equal(info.longest_episode, 1);
  assert_string_equal(read_episode(s, 1).start_label, "t3");
  hmn_spill_destroy(s);
}

static void hv95_without_an_episode_there_is_no_first_label(void** state) {
  (void)state;
  const hmn_spill_info info = finish(make_fed("RR"));
  assert_int_equal(info.present & HMN_SPILL_INFO_HAS_EPISODE, 0);
  assert_string_equal(info.first_label, "");
  assert_int_equal(info.total_ns, 0);
}

static void hv96_without_values_nothing_is_observed(void** state) {
  (void)state;
  hmn_spill* s = make(NULL);
  assert_int_equal(read_info(s).status, HMN_E_EMPTY);
  assert_returns(hmn_spill_observe(s, "x", &error), HMN_E_NO_SOURCE);
  const hmn_spill_info info = read_info(s);
  assert_int_equal(info.observation_count, 0);
  assert_int_equal(info.state, 0);
  assert_int_equal(info.present, 0);
  assert_int_equal(info.skipped_count, 1);
  assert_true(strlen(info.message) > 0);
  feed_all(s, "RS");
  assert_int_equal(read_info(s).status, HMN_OK);
  assert_int_equal(finish(s).episode_count, 1);
}

/* The threshold of 85 % needs a size; evicted memory does not. */
static void evicted_memory_alone_is_a_spill(void** state) {
  (void)state;
  hmn_spill* s = make(NULL);
  const uint64_t evicted[] = {10 * MIB, 266 * MIB - 1, 266 * MIB, 5 * MIB};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_spill_sample, one);
    one.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    one.evicted_bytes = evicted[i];
    feed(s, &one, NULL);
    const hmn_flags spills = i == 2 ? HMN_SPILL_BY_EVICTED : 0;
    assert_int_equal(read_info(s).rules, spills);
  }
  const hmn_episode episode = read_episode(s, 0);
  assert_int_equal(episode.rules, HMN_SPILL_BY_EVICTED);
  assert_int_equal(episode.present, HMN_EPISODE_HAS_END | HMN_EPISODE_HAS_PEAK_EVICTED);
  assert_int_equal(episode.peak_evicted_bytes, 266 * MIB);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.baseline_evicted_bytes, 10 * MIB);
  assert_int_equal(info.peak_evicted_bytes, 266 * MIB);
  assert_int_equal(info.evicted_bytes, 5 * MIB);
  assert_int_equal(info.present & HMN_SPILL_INFO_HAS_LIMIT, 0);
}

static void the_oldest_episodes_are_dropped_and_still_counted(void** state) {
  (void)state;
  NEW(hmn_spill_options, options);
  options.episode_capacity = 2;
  hmn_spill* s = make(&options);
  feed_all(s, "RSSSRSRSRSR");
  NEW(hmn_episode, none);
  assert_status(hmn_spill_episode(s, 0, &none, NULL), HMN_E_RANGE);
  assert_status(hmn_spill_episode(s, 1, &none, NULL), HMN_E_RANGE);
  assert_status(hmn_spill_episode(s, 4, &none, NULL), HMN_E_RANGE);
  assert_status(hmn_spill_episode(s, UINT64_MAX, &none, NULL), HMN_E_RANGE);
  assert_string_equal(read_episode(s, 2).start_label, "t7");
  assert_string_equal(read_episode(s, 3).start_label, "t9");
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.episode_count, 4);
  assert_int_equal(info.first_episode, 2);
  assert_int_equal(info.total_ns, 2 * SECOND);
  assert_int_equal(info.longest_ns, 2 * SECOND);
  assert_int_equal(info.longest_episode, 0);
  assert_string_equal(info.first_label, "t1");
}

static void a_long_label_is_cut_with_a_note(void** state) {
  (void)state;
  hmn_spill* s = make(NULL);
  const hmn_spill_sample begin = sample(relaxed, baseline);
  const hmn_spill_sample grown = sample(saturated, spilled);
  char label[201];
  memset(label, 'x', 200);
  label[200] = 0;
  feed(s, &begin, label);
  feed(s, &grown, label);
  const hmn_episode e = read_episode(s, 0);
  assert_int_equal(strlen(e.start_label), 63);
  assert_int_equal(e.notes, HMN_NOTE_TRUNCATED);
  assert_int_equal(finish(s).notes & HMN_NOTE_TRUNCATED, HMN_NOTE_TRUNCATED);
}

static void time_that_runs_backwards_adds_no_duration(void** state) {
  (void)state;
  hmn_spill* s = make_fed("RS");
  hmn_spill_sample late = sample(saturated, spilled);
  late.monotonic_ns = 1;
  feed(s, &late, NULL);
  assert_int_equal(finish(s).total_ns, 0);
}

static void invalid_inputs_are_refused(void** state) {
  (void)state;
  NEW(hmn_spill_options, options);
  hmn_spill* s = NULL;
  options.episode_capacity = 65537;
  assert_returns(hmn_spill_create(NULL, 0, &options, &s, &error), HMN_E_RANGE);
  options.episode_capacity = 65536;
  options.flags = 1;
  assert_returns(hmn_spill_create(NULL, 0, &options, &s, &error), HMN_E_UNKNOWN_FLAG);
  options.flags = 0;
  options.reserved0 = 1;
  assert_returns(hmn_spill_create(NULL, 0, &options, &s, &error), HMN_E_UNKNOWN_FLAG);
  options.struct_size = HMN_SPILL_OPTIONS_SIZE_V1 - 8;
  assert_returns(hmn_spill_create(NULL, 0, &options, &s, &error), HMN_E_STRUCT_SIZE);
  assert_null(s);
  s = make(NULL);
  NEW(hmn_spill_sample, one);
  one.limit_bytes = 1;
  assert_returns(hmn_spill_feed(s, &one, NULL, &error), HMN_E_ARGUMENT);
  one.limit_bytes = 0;
  one.evicted_bytes = 1;
  assert_returns(hmn_spill_feed(s, &one, NULL, &error), HMN_E_ARGUMENT);
  one.evicted_bytes = 0;
  one.flags = 1u << 31;
  assert_returns(hmn_spill_feed(s, &one, NULL, &error), HMN_E_UNKNOWN_FLAG);
  one.struct_size = HMN_SPILL_SAMPLE_SIZE_V1 - 8;
  assert_returns(hmn_spill_feed(s, &one, NULL, &error), HMN_E_STRUCT_SIZE);
  assert_int_equal(finish(s).observation_count, 0);
}

#if defined(__linux__)
typedef struct writer {
  hmn_spill* detector;
  atomic_int is_done;
} writer;

static void feed_until_done(void* argument) {
  writer* w = argument;
  const struct sched_param normal = {0};
  sched_setscheduler(0, SCHED_OTHER, &normal);
  while (!atomic_load(&w->is_done)) feed_all(w->detector, "RS");
}

static int64_t processor_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Often wakes while the writer is inside a call. Stops early after spinning for a second. */
static int64_t read_now_and_then(hmn_spill* detector) {
  const int64_t start = processor_us();
  int64_t spent = 0;
  for (int i = 0; i < 200 && spent < 1000000; ++i) {
    sleep_ms(1);
    read_info(detector);
    spent = processor_us() - start;
  }
  return spent;
}

/* A real-time reader that spins would keep the processor from the writer, which holds the lock. */
static void a_real_time_reader_sleeps_while_another_thread_writes(void** state) {
  (void)state;
  cpu_set_t before, own_cpu;
  const struct sched_param lowest = {.sched_priority = 1}, normal = {0};
  if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) {
    print_message("  real-time scheduling is not permitted\n");
    skip();
  }
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&own_cpu);
  CPU_SET((size_t)sched_getcpu(), &own_cpu);
  assert_int_equal(sched_setaffinity(0, sizeof own_cpu, &own_cpu), 0);
  writer w = {make(NULL), 0};
  const int64_t alone_us = read_now_and_then(w.detector);
  thread* writer_thread = thread_start(feed_until_done, &w);
  const int64_t us = read_now_and_then(w.detector);
  atomic_store(&w.is_done, 1);
  sched_setscheduler(0, SCHED_OTHER, &normal);
  thread_join(writer_thread);
  hmn_spill_destroy(w.detector);
  sched_setaffinity(0, sizeof before, &before);
  print_message("  %d us alone, %d us next to a writer\n", (int)alone_us, (int)us);
  assert_true(us < 10 * alone_us + 100000);
}
#endif

#define VRAM(used) "{\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"" used "\"}"
#define GTT(used) "{\"kind\": \"host\", \"total\": \"32GiB\", \"used\": \"" used "\"}"
#define CHANGE(reading, device) "{\"at_reading\": " reading ", \"devices\": [" device "]}"
#define AMD(pools, more) "{\"vendor\": \"amd\", \"pools\": [" pools "]" more "}"

/* The first reading is the list of devices. */
static const char fills_and_spills[] =
    "{\"devices\": [" AMD(VRAM("8GiB") ", " GTT("128MiB"), "") "], \"changes\": [" CHANGE(
        "3", AMD(VRAM("15GiB") ", " GTT("128MiB"),
                 "")) ", " CHANGE("4", AMD(VRAM("15GiB") ", " GTT("384MiB"),
                                           "")) ", " CHANGE("5",
                                                            AMD(VRAM("8GiB") ", " GTT("384MiB"),
                                                                "")) "]}";

static void a_spill_into_host_memory_is_observed(void** state) {
  (void)state;
  machine m;
  machine_make(&m, fills_and_spills, NULL);
  hmn_spill* s = NULL;
  assert_returns(hmn_spill_create(m.context, 0, NULL, &s, &error), HMN_OK);
  const hmn_flags expected[] = {0, 0, HMN_SPILL_BY_SHARED, 0};
  for (size_t i = 0; i < 4; ++i) {
    assert_returns(hmn_spill_observe(s, "step", &error), HMN_OK);
    assert_int_equal(read_info(s).rules, expected[i]);
  }
  machine_end(&m); /* the detector does not need the context any more */
  const hmn_spill_info info = read_info(s);
  assert_int_equal(info.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(info.limit_bytes, limit);
  assert_int_equal(info.peak_dedicated_bytes, 15 * GIB);
  assert_int_equal(info.baseline_shared_bytes, 128 * MIB);
  assert_int_equal(info.peak_shared_bytes, 384 * MIB);
  assert_int_equal(info.present & (HMN_SPILL_INFO_HAS_EVICTED | HMN_SPILL_INFO_HAS_PEAK_EVICTED),
                   0);
  assert_int_equal(info.episode_count, 1);
  assert_returns(hmn_spill_observe(s, "later", &error), HMN_OK);
  assert_int_equal(finish(s).observation_count, 5);
}

#define ROW(pid, values) "{\"pid\": " pid ", \"used\": \"1GiB\", " values "}"
#define USED_BY(rows) AMD(VRAM("8GiB") ", " GTT("128MiB"), ", \"processes\": [" rows "]")
static const char evicts[] =
    "{\"devices\": [" USED_BY("") "], \"changes\": ["
    CHANGE("3", USED_BY(ROW("7", "\"evicted\": \"200MiB\""))) ", "
    CHANGE("4", USED_BY(ROW("7", "\"evicted\": \"200MiB\"") ", "
                        ROW("8", "\"evicted\": \"56MiB\"") ", "
                        ROW("9", "\"host_pool\": \"1MiB\""))) "]}";

/* There was no process before, so the total is what has been evicted since. */
static void evicted_memory_of_processes_is_added_up(void** state) {
  (void)state;
  machine m;
  machine_make(&m, evicts, NULL);
  hmn_spill* s = NULL;
  assert_returns(hmn_spill_create(m.context, 0, NULL, &s, &error), HMN_OK);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_OK);
  assert_int_equal(read_info(s).present & HMN_SPILL_INFO_HAS_EVICTED, 0);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_OK);
  assert_int_equal(read_info(s).evicted_bytes, 200 * MIB);
  assert_int_equal(read_info(s).rules, 0);
  assert_int_equal(read_info(s).notes & HMN_NOTE_LOWER_BOUND, 0);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_OK);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.evicted_bytes, 256 * MIB);
  assert_int_equal(info.baseline_evicted_bytes, 0);
  assert_int_equal(info.rules, HMN_SPILL_BY_EVICTED);
  assert_int_equal(info.notes & HMN_NOTE_LOWER_BOUND, HMN_NOTE_LOWER_BOUND); /* of pid 9 */
  machine_end(&m);
}

/* As i915 reports it: no pool of host memory, buffers that are not resident or in the host's RAM.
 */
#define INTEL(rows) \
  "{\"vendor\": \"intel\", \"pools\": [" VRAM("15GiB") "], \"processes\": [" rows "]}"
#define BUFFERS(host, resident) \
  ROW("7", "\"host_pool\": \"" host "\", \"committed\": \"2GiB\", \"resident\": \"" resident "\"")
static const char reports_by_process[] =
    "{\"devices\": [" INTEL(BUFFERS("64MiB", "2GiB")) "], \"changes\": [" CHANGE(
        "3", INTEL(BUFFERS("64MiB",
                           "1920MiB"))) ", " CHANGE("4",
                                                    INTEL(BUFFERS(
                                                        "192MiB",
                                                        "1920MiB"))) ", " CHANGE("5",
                                                                                 INTEL("")) "]}";

static void host_memory_of_processes_replaces_a_missing_pool(void** state) {
  (void)state;
  machine m;
  machine_make(&m, reports_by_process, NULL);
  hmn_spill* s = NULL;
  assert_returns(hmn_spill_create(m.context, 0, NULL, &s, &error), HMN_OK);
  const uint64_t shared[] = {64 * MIB, 192 * MIB, 320 * MIB};
  for (size_t i = 0; i < 3; ++i) {
    assert_returns(hmn_spill_observe(s, "", &error), HMN_OK);
    assert_int_equal(read_info(s).shared_bytes, shared[i]);
    assert_int_equal(read_info(s).rules, i == 2 ? HMN_SPILL_BY_SHARED : 0);
  }
  assert_returns(hmn_spill_observe(s, "", &error), HMN_E_EMPTY);
  assert_int_equal(finish(s).skipped_count, 1);
  machine_end(&m);
}

static const char nvidia[] =
    "{\"devices\": [{\"vendor\": \"nvidia\", \"pools\": [" VRAM("15GiB") "]}]}";
static const char shares_ram[] =
    "{\"devices\": [{\"pools\": [{\"kind\": \"unified\", \"total\": \"16GiB\", \"used\": "
    "\"1GiB\"}]}]}";
static const char no_used_value[] =
    "{\"devices\": [{\"vendor\": \"amd\", \"pools\": [{\"kind\": \"vram\", \"total\": "
    "\"16GiB\"}]}]}";
static const char lost[] = "{\"devices\": [{\"state\": \"lost\", \"pools\": [" VRAM("1GiB") "]}]}";

static void a_spill_that_cannot_be_measured_has_a_reason(void** state) {
  (void)state;
  const struct {
    const char* json;
    hmn_status status;
    const char* text;
  } rows[] = {{nvidia, HMN_E_UNSUPPORTED, "an allocation fails instead"},
              {shares_ram, HMN_E_UNSUPPORTED, "host's RAM"},
              {no_used_value, HMN_E_UNSUPPORTED, "is not reported by the driver"},
              {lost, HMN_E_DEVICE_LOST, ""}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    machine m;
    machine_make(&m, rows[i].json, NULL);
    hmn_spill* s = NULL;
    assert_returns(hmn_spill_create(m.context, 0, NULL, &s, &error), HMN_OK);
    assert_returns(hmn_spill_observe(s, "", &error), rows[i].status);
    assert_returns(hmn_spill_observe(s, "", &error), rows[i].status);
    hmn_spill_info info = read_info(s);
    assert_status(info.status, rows[i].status);
    assert_non_null(strstr(info.message, rows[i].text));
    assert_int_equal(info.present, 0);
    assert_int_equal(info.state, 0);
    assert_int_equal(info.skipped_count, 2);
    feed_all(s, "RS"); /* samples of the program still count */
    assert_int_equal(finish(s).episode_count, 1);
    machine_end(&m);
  }
}

static const char is_reset[] =
    "{\"devices\": [" AMD(VRAM("15GiB") ", " GTT("128MiB"), "") "], \"changes\": [" CHANGE(
        "3", AMD(VRAM("15GiB") ", " GTT("128MiB"),
                 ", \"state\": \"lost\"")) ", " CHANGE("4", AMD(VRAM("15GiB") ", " GTT("384MiB"),
                                                                "")) "]}";

/* As after a driver's reset: the first observation stays the baseline. */
static void a_device_that_returns_is_observed_again(void** state) {
  (void)state;
  machine m;
  machine_make(&m, is_reset, NULL);
  hmn_spill* s = NULL;
  assert_returns(hmn_spill_create(m.context, 0, NULL, &s, &error), HMN_OK);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_OK);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_E_DEVICE_LOST);
  hmn_status status = HMN_E_DEVICE_LOST;
  for (int i = 0; i < 50 && status != HMN_OK; ++i) {
    status = hmn_spill_observe(s, "back", NULL);
    if (status != HMN_OK) sleep_ms(100);
  }
  assert_status(status, HMN_OK);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.rules, HMN_SPILL_BY_SHARED);
  assert_int_equal(info.baseline_shared_bytes, 128 * MIB);
  assert_int_equal(info.observation_count, 2);
  assert_string_equal(info.first_label, "back");
  machine_end(&m);
}

static void an_unknown_device_is_reported_as_no_device(void** state) {
  (void)state;
  machine m;
  machine_make(&m, nvidia, NULL);
  hmn_spill* s = NULL;
  assert_returns(hmn_spill_create(m.context, 3, NULL, &s, &error), HMN_OK);
  assert_returns(hmn_spill_observe(s, "", &error), HMN_E_NO_DEVICE);
  hmn_spill_destroy(s);
  machine_end(&m);
}

static void a_snapshot_is_observed_without_a_context(void** state) {
  (void)state;
  machine m;
  machine_make(&m, fills_and_spills, NULL);
  hmn_spill* s = make(NULL);
  NEW(hmn_snapshot_options, options);
  for (int i = 0; i < 4; ++i) {
    hmn_snapshot* snapshot = NULL;
    options.collect = HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES;
    assert_returns(hmn_snapshot_take(m.context, &options, &snapshot, &error), HMN_OK);
    assert_returns(hmn_spill_observe_snapshot(s, snapshot, "", &error), HMN_OK);
    hmn_snapshot_destroy(snapshot);
  }
  assert_int_equal(read_info(s).rules, HMN_SPILL_BY_SHARED);
  hmn_snapshot* devices_only = NULL;
  options.collect = HMN_COLLECT_DEVICES;
  assert_returns(hmn_snapshot_take(m.context, &options, &devices_only, &error), HMN_OK);
  assert_returns(hmn_spill_observe_snapshot(s, devices_only, "", &error), HMN_E_EMPTY);
  hmn_snapshot_destroy(devices_only);
  assert_int_equal(finish(s).observation_count, 4);
  machine_end(&m);
}

enum { WRITERS = 4, SAMPLES = 2000 };

static void feed_samples(void* argument) {
  hmn_spill* detector = argument;
  for (int i = 0; i < SAMPLES; ++i) {
    const hmn_spill_sample s = i % 2 ? sample(saturated, spilled) : sample(relaxed, baseline);
    hmn_spill_feed(detector, &s, "", NULL);
    NEW(hmn_spill_info, info);
    hmn_spill_read(detector, &info, NULL);
  }
}

static void threads_may_share_a_detector(void** state) {
  (void)state;
  hmn_spill* s = make_fed("R");
  thread* threads[WRITERS];
  for (int i = 0; i < WRITERS; ++i) threads[i] = thread_start(feed_samples, s);
  for (int i = 0; i < WRITERS; ++i) thread_join(threads[i]);
  const hmn_spill_info info = finish(s);
  assert_int_equal(info.observation_count, WRITERS * SAMPLES + 1);
  assert_in_range(info.episode_count, 1, WRITERS * SAMPLES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(hv83_flicker_is_three_episodes),
    cmocka_unit_test(hv84_full_memory_alone_is_no_episode),
    cmocka_unit_test(hv85_free_memory_is_no_episode),
    cmocka_unit_test(hv86_an_open_episode_has_no_end),
    cmocka_unit_test(hv87_ever_stays_set_after_recovery),
    cmocka_unit_test(hv88_the_first_observation_is_the_baseline),
    cmocka_unit_test(hv89_growth_is_inclusive),
    cmocka_unit_test(hv90_a_limit_below_100_bytes_has_no_threshold),
    cmocka_unit_test(hv91_the_threshold_can_be_set),
    cmocka_unit_test(hv92_an_episode_of_one_observation_has_no_duration),
    cmocka_unit_test(hv93_durations_add_up),
    cmocka_unit_test(hv94_the_longest_episode_is_reported),
    cmocka_unit_test(hv95_without_an_episode_there_is_no_first_label),
    cmocka_unit_test(hv96_without_values_nothing_is_observed),
    cmocka_unit_test(evicted_memory_alone_is_a_spill),
    cmocka_unit_test(the_oldest_episodes_are_dropped_and_still_counted),
    cmocka_unit_test(a_long_label_is_cut_with_a_note),
    cmocka_unit_test(time_that_runs_backwards_adds_no_duration),
    cmocka_unit_test(invalid_inputs_are_refused),
#if defined(__linux__)
    cmocka_unit_test(a_real_time_reader_sleeps_while_another_thread_writes),
#endif
    cmocka_unit_test(a_spill_into_host_memory_is_observed),
    cmocka_unit_test(evicted_memory_of_processes_is_added_up),
    cmocka_unit_test(host_memory_of_processes_replaces_a_missing_pool),
    cmocka_unit_test(a_spill_that_cannot_be_measured_has_a_reason),
    cmocka_unit_test(a_device_that_returns_is_observed_again),
    cmocka_unit_test(an_unknown_device_is_reported_as_no_device),
    cmocka_unit_test(a_snapshot_is_observed_without_a_context),
    cmocka_unit_test(threads_may_share_a_detector),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
