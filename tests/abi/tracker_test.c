/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdatomic.h>

#include "support/calls.h"
#include "support/machine.h"
#include "support/thread.h"

#define GIB (UINT64_C(1) << 30)

static hmn_tracker* make(uint64_t limit_bytes) {
  NEW(hmn_tracker_options, options);
  options.flags = HMN_TRACKER_LIMITED;
  options.limit_bytes = limit_bytes;
  hmn_tracker* tracker = NULL;
  assert_returns(hmn_tracker_create(NULL, 0, &options, &tracker, &error), HMN_OK);
  assert_non_null(tracker);
  return tracker;
}

static hmn_tracker_info info_of(hmn_tracker* tracker) {
  NEW(hmn_tracker_info, info);
  assert_status(hmn_tracker_read(tracker, &info, NULL), HMN_OK);
  return info;
}

static void assert_values(hmn_tracker* tracker, uint64_t allocated, uint64_t peak) {
  const hmn_tracker_info info = info_of(tracker);
  assert_int_equal(info.allocated_bytes, allocated);
  assert_int_equal(info.peak_bytes, peak);
}

#define allocate(tracker, bytes, expected) \
  assert_returns(hmn_tracker_allocate(tracker, bytes, &error), expected)
#define release(tracker, bytes, expected) \
  assert_returns(hmn_tracker_release(tracker, bytes, &error), expected)
#define would_fit(tracker, bytes, expected) \
  assert_returns(hmn_tracker_would_fit(tracker, bytes, &error), expected)

static void an_allocation_above_the_limit_is_refused(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  allocate(t, 500, HMN_OK);
  allocate(t, 400, HMN_OK);
  allocate(t, 200, HMN_E_LIMIT);
  assert_values(t, 900, 900);
  release(t, 400, HMN_OK);
  assert_values(t, 500, 900);
  allocate(t, 200, HMN_OK);
  assert_values(t, 700, 900);
  allocate(t, 300, HMN_OK); /* equal is allowed */
  allocate(t, 1, HMN_E_LIMIT);
  assert_int_equal(info_of(t).refused_count, 2);
  hmn_tracker_destroy(t);
}

static void the_message_of_a_refusal_has_its_numbers(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  allocate(t, 900, HMN_OK);
  NEW(hmn_error, error);
  assert_status(hmn_tracker_allocate(t, 200, &error), HMN_E_LIMIT);
  assert_string_equal(error.message,
                      "out of memory: allocation of 200 bytes would exceed limit of 1000 bytes "
                      "(current: 900 bytes)");
  assert_status(hmn_tracker_would_fit(t, 101, &error), HMN_E_LIMIT);
  assert_string_equal(error.message,
                      "out of memory: allocation of 101 bytes would exceed limit of 1000 bytes "
                      "(current: 900 bytes)");
  hmn_tracker_destroy(t);
}

static void the_peak_is_the_highest_value(void** state) {
  (void)state;
  hmn_tracker* t = make(UINT64_MAX);
  allocate(t, 100, HMN_OK);
  allocate(t, 200, HMN_OK);
  assert_values(t, 300, 300);
  release(t, 200, HMN_OK);
  assert_values(t, 100, 300);
  allocate(t, 50, HMN_OK);
  assert_values(t, 150, 300);
  allocate(t, 300, HMN_OK);
  assert_values(t, 450, 450);
  hmn_tracker_destroy(t);
}

static void the_limit_applies_to_what_is_still_allocated(void** state) {
  (void)state;
  hmn_tracker* t = make(10000);
  allocate(t, 5000, HMN_OK);
  assert_values(t, 5000, 5000);
  allocate(t, 3000, HMN_OK);
  assert_values(t, 8000, 8000);
  allocate(t, 5000, HMN_E_LIMIT);
  assert_values(t, 8000, 8000);
  release(t, 3000, HMN_OK);
  assert_values(t, 5000, 8000);
  allocate(t, 4000, HMN_OK);
  assert_values(t, 9000, 9000);
  hmn_tracker_destroy(t);
}

static void would_fit_compares_with_the_limit_and_allocates_nothing(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  allocate(t, 500, HMN_OK);
  would_fit(t, 400, HMN_OK);
  would_fit(t, 500, HMN_OK);
  would_fit(t, 501, HMN_E_LIMIT);
  assert_values(t, 500, 500);
  assert_int_equal(info_of(t).refused_count, 0);
  hmn_tracker_destroy(t);
}

static void everything_fits_without_a_limit(void** state) {
  (void)state;
  hmn_tracker* t = make(UINT64_MAX);
  assert_int_equal(info_of(t).present, 0);
  would_fit(t, UINT64_MAX, HMN_OK);
  allocate(t, UINT64_MAX, HMN_OK);
  allocate(t, 1, HMN_E_LIMIT);
  assert_true(info_of(t).allocated_bytes == UINT64_MAX && info_of(t).limit_bytes == 0);
  release(t, UINT64_MAX, HMN_OK);
  assert_values(t, 0, UINT64_MAX);
  hmn_tracker_destroy(t);
  hmn_tracker* default_tracker = NULL;
  assert_returns(hmn_tracker_create(NULL, 0, NULL, &default_tracker, &error), HMN_OK);
  would_fit(default_tracker, UINT64_MAX, HMN_OK);
  hmn_tracker_destroy(default_tracker);
}

static void small_allocations_are_counted_under_a_large_limit(void** state) {
  (void)state;
  hmn_tracker* t = make(GIB);
  allocate(t, 1024, HMN_OK);
  assert_int_equal(info_of(t).allocated_bytes, 1024);
  release(t, 512, HMN_OK);
  assert_int_equal(info_of(t).allocated_bytes, 512);
  assert_int_equal(info_of(t).present, HMN_TRACKER_INFO_HAS_LIMIT);
  assert_int_equal(info_of(t).limit_bytes, GIB);
  hmn_tracker_destroy(t);
}

static void releasing_more_than_is_allocated_is_refused(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  release(t, 1, HMN_E_RANGE);
  allocate(t, 100, HMN_OK);
  release(t, 101, HMN_E_RANGE);
  release(t, UINT64_MAX, HMN_E_RANGE);
  assert_values(t, 100, 100);
  allocate(t, 900, HMN_OK); /* nothing was lost */
  assert_status(hmn_tracker_release(t, 1001, NULL), HMN_E_RANGE);
  assert_status(hmn_tracker_allocate(t, 1, NULL), HMN_E_LIMIT);
  hmn_tracker_destroy(t);
}

static void reset_clears_allocations_and_peaks(void** state) {
  (void)state;
  hmn_tracker* t = make(4000);
  uint32_t tag = 0;
  assert_returns(hmn_tracker_tag(t, "weights", &tag, &error), HMN_OK);
  assert_returns(hmn_tracker_allocate_tagged(t, tag, 3000, &error), HMN_OK);
  allocate(t, 3000, HMN_E_LIMIT);
  assert_values(t, 3000, 3000);
  assert_returns(hmn_tracker_reset(t, &error), HMN_OK);
  assert_values(t, 0, 0);
  assert_int_equal(info_of(t).refused_count, 0);
  assert_int_equal(info_of(t).limit_bytes, 4000);
  NEW(hmn_tag, info);
  assert_status(hmn_tracker_read_tag(t, tag, &info, NULL), HMN_OK);
  assert_int_equal(info.allocated_bytes, 0);
  assert_int_equal(info.peak_bytes, 0);
  release(t, 1, HMN_E_RANGE);
  allocate(t, 4000, HMN_OK);
  hmn_tracker_destroy(t);
}

static void the_limit_can_change(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  allocate(t, 600, HMN_OK);
  assert_returns(hmn_tracker_set_limit(t, 599, &error), HMN_E_LIMIT);
  assert_int_equal(info_of(t).limit_bytes, 1000);
  assert_returns(hmn_tracker_set_limit(t, 600, &error), HMN_OK);
  allocate(t, 1, HMN_E_LIMIT);
  assert_returns(hmn_tracker_set_limit(t, 2000, &error), HMN_OK);
  allocate(t, 1400, HMN_OK);
  allocate(t, 1, HMN_E_LIMIT);
  assert_returns(hmn_tracker_set_limit(t, 0, &error), HMN_E_LIMIT);
  assert_returns(hmn_tracker_set_limit(t, UINT64_MAX, &error), HMN_OK);
  assert_int_equal(info_of(t).present, 0);
  would_fit(t, UINT64_MAX - 2000, HMN_OK);
  would_fit(t, UINT64_MAX - 1999, HMN_E_LIMIT);
  assert_returns(hmn_tracker_set_limit(t, 2000, &error), HMN_OK);
  assert_int_equal(info_of(t).limit_bytes, 2000);
  allocate(t, 1, HMN_E_LIMIT);
  hmn_tracker_destroy(t);
}

static void assert_allows_nothing(hmn_tracker* t) {
  assert_int_equal(info_of(t).present, HMN_TRACKER_INFO_HAS_LIMIT);
  assert_int_equal(info_of(t).limit_bytes, 0);
  allocate(t, 0, HMN_OK);
  would_fit(t, 1, HMN_E_LIMIT);
  allocate(t, 1, HMN_E_LIMIT);
  assert_values(t, 0, 0);
  hmn_tracker_destroy(t);
}

static void a_limit_of_zero_allows_nothing(void** state) {
  (void)state;
  assert_allows_nothing(make(0));
  hmn_tracker* t = make(1000);
  assert_returns(hmn_tracker_set_limit(t, 0, &error), HMN_OK);
  assert_allows_nothing(t);
}

static hmn_tag read_tag(hmn_tracker* t, uint32_t tag) {
  NEW(hmn_tag, info);
  assert_status(hmn_tracker_read_tag(t, tag, &info, NULL), HMN_OK);
  assert_int_equal(info.number, tag);
  return info;
}

static uint32_t make_tag(hmn_tracker* t, const char* name) {
  uint32_t tag = 99;
  assert_returns(hmn_tracker_tag(t, name, &tag, &error), HMN_OK);
  return tag;
}

static void a_tag_has_its_own_account(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  const uint32_t weights = make_tag(t, "weights"), cache = make_tag(t, "cache");
  assert_int_equal(weights, 1);
  assert_int_equal(cache, 2);
  assert_int_equal(make_tag(t, "weights"), weights);
  assert_int_equal(info_of(t).tag_count, 2);
  assert_returns(hmn_tracker_allocate_tagged(t, weights, 600, &error), HMN_OK);
  assert_returns(hmn_tracker_allocate_tagged(t, cache, 300, &error), HMN_OK);
  assert_returns(hmn_tracker_allocate_tagged(t, cache, 101, &error), HMN_E_LIMIT);
  assert_returns(hmn_tracker_allocate_tagged(t, 0, 100, &error), HMN_OK);
  assert_values(t, 1000, 1000);
  assert_returns(hmn_tracker_release_tagged(t, cache, 200, &error), HMN_OK);
  assert_returns(hmn_tracker_release_tagged(t, cache, 101, &error), HMN_E_RANGE);
  assert_int_equal(read_tag(t, weights).allocated_bytes, 600);
  assert_int_equal(read_tag(t, cache).allocated_bytes, 100);
  assert_int_equal(read_tag(t, cache).peak_bytes, 300);
  assert_string_equal(read_tag(t, weights).name, "weights");
  assert_string_equal(read_tag(t, cache).name, "cache");
  assert_values(t, 800, 1000);
  hmn_tracker_destroy(t);
}

static void bytes_released_without_their_tag_cannot_be_released_again(void** state) {
  (void)state;
  hmn_tracker* t = make(1000);
  const uint32_t tag = make_tag(t, "a");
  assert_returns(hmn_tracker_allocate_tagged(t, tag, 500, &error), HMN_OK);
  release(t, 500, HMN_OK);
  assert_returns(hmn_tracker_release_tagged(t, tag, 500, &error), HMN_E_RANGE);
  assert_values(t, 0, 500);
  assert_int_equal(read_tag(t, tag).allocated_bytes, 500);
  hmn_tracker_destroy(t);
}

static void an_unknown_tag_is_refused(void** state) {
  (void)state;
  hmn_tracker* t = make(UINT64_MAX);
  const uint32_t tags[] = {1, 2, 64, 65, UINT32_MAX};
  for (size_t i = 0; i < sizeof tags / sizeof tags[0]; ++i) {
    NEW(hmn_tag, info);
    assert_returns(hmn_tracker_allocate_tagged(t, tags[i], 1, &error), HMN_E_RANGE);
    assert_returns(hmn_tracker_release_tagged(t, tags[i], 0, &error), HMN_E_RANGE);
    assert_status(hmn_tracker_read_tag(t, tags[i], &info, NULL), HMN_E_RANGE);
  }
  NEW(hmn_tag, untagged);
  assert_status(hmn_tracker_read_tag(t, 0, &untagged, NULL), HMN_E_RANGE);
  assert_values(t, 0, 0);
  hmn_tracker_destroy(t);
}

static void an_invalid_tag_name_is_refused(void** state) {
  (void)state;
  hmn_tracker* t = make(UINT64_MAX);
  char name[65] = "";
  memset(name, 'x', 63);
  assert_int_equal(make_tag(t, name), 1);
  assert_string_equal(read_tag(t, 1).name, name);
  name[63] = 'x';
  const char* wrong[] = {"", name, "\xff", "a\xc3"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    uint32_t tag = 99;
    assert_returns(hmn_tracker_tag(t, wrong[i], &tag, &error), HMN_E_ARGUMENT);
    assert_int_equal(tag, 0);
  }
  assert_int_equal(make_tag(t, "\xc3\xa9"), 2);
  hmn_tracker_destroy(t);
}

static void tag_capacity_limits_the_number_of_tags(void** state) {
  (void)state;
  NEW(hmn_tracker_options, options);
  options.tag_capacity = 2;
  hmn_tracker* t = NULL;
  assert_returns(hmn_tracker_create(NULL, 0, &options, &t, &error), HMN_OK);
  make_tag(t, "a"), make_tag(t, "b");
  uint32_t tag = 99;
  assert_returns(hmn_tracker_tag(t, "c", &tag, &error), HMN_E_LIMIT);
  assert_int_equal(tag, 0);
  assert_int_equal(make_tag(t, "b"), 2);
  hmn_tracker_destroy(t);
  hmn_tracker* default_tracker = make(UINT64_MAX);
  for (int i = 0; i < 64; ++i) {
    char name[8];
    snprintf(name, sizeof name, "%d", i);
    assert_int_equal(make_tag(default_tracker, name), i + 1);
  }
  assert_returns(hmn_tracker_tag(default_tracker, "one more", &tag, &error), HMN_E_LIMIT);
  hmn_tracker_destroy(default_tracker);
}

static hmn_tracker* make_linked(hmn_context* context, uint32_t device_index) {
  hmn_tracker* t = NULL;
  assert_returns(hmn_tracker_create(context, device_index, NULL, &t, &error), HMN_OK);
  return t;
}

/* machines/everything.json: 12000 MiB of device 0 are usable; devices 3 and 4 are asleep and lost.
 */
static void a_linked_tracker_reads_the_usable_memory_of_its_device(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  hmn_tracker* t = make_linked(context, 0);
  assert_int_equal(info_of(t).present, HMN_TRACKER_INFO_HAS_DEVICE);
  const uint64_t usable = UINT64_C(12000) << 20;
  would_fit(t, usable, HMN_OK);
  would_fit(t, usable + 1, HMN_E_LIMIT);
  allocate(t, usable + 1, HMN_OK); /* bookkeeping calls no driver */
  assert_returns(hmn_tracker_set_limit(t, 19 * GIB, &error), HMN_OK);
  would_fit(t, 8 * GIB, HMN_E_LIMIT);
  hmn_tracker_destroy(t);
}

static void a_linked_device_that_cannot_be_read_is_an_error(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  const struct {
    uint32_t device_index;
    hmn_status status;
  } all[] = {{3, HMN_E_ASLEEP}, {4, HMN_E_DEVICE_LOST}, {99, HMN_E_NO_DEVICE}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    hmn_tracker* t = make_linked(context, all[i].device_index);
    assert_int_equal(info_of(t).device_index, all[i].device_index);
    would_fit(t, 1, all[i].status);
    hmn_tracker_destroy(t);
  }
}

#define ONE_GPU(pool, more) \
  "{\"host\": \"real\", \"devices\": [{\"name\": \"GPU\", \"pools\": [" pool "]}]" more "}"

static void would_fit_does_not_use_stale_values(void** state) {
  (void)state;
  NEW(hmn_context_options, options);
  options.deadline_ns = options.open_deadline_ns = HMN_MILLISECONDS(500);
  options.stale_ns = HMN_MILLISECONDS(PATIENT_MS);
  machine m;
  machine_make(&m,
               ONE_GPU("{\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\"}",
                       ", \"delays\": [{\"call\": \"pools\", \"from_reading\": 3, "
                       "\"hang_until\": \"%s\"}]"),
               &options);
  NEW(hmn_pool, pool);
  hmn_status status = HMN_E_TIMEOUT; /* of the first reading, on a busy machine */
  for (int i = 0; i < 20 && status == HMN_E_TIMEOUT; ++i) {
    status = hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL);
  }
  assert_status(status, HMN_OK);
  hmn_tracker* t = make_linked(m.context, 0);
  int rounds = 0;
  while (status == HMN_OK && rounds++ < 5) status = hmn_tracker_would_fit(t, 1, NULL);
  assert_status(status, HMN_E_TIMEOUT);
  hmn_tracker_destroy(t);
  machine_go(&m);
  machine_end(&m);
}

static void a_device_that_reports_only_its_total_is_unsupported(void** state) {
  (void)state;
  machine m;
  machine_make(&m, ONE_GPU("{\"kind\": \"vram\", \"total\": \"16GiB\"}", ""), NULL);
  hmn_tracker* t = make_linked(m.context, 0);
  would_fit(t, 1, HMN_E_UNSUPPORTED);
  hmn_tracker_destroy(t);
  machine_end(&m);
}

static void a_tracker_outlives_its_context(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", 0, &context), HMN_OK);
  hmn_tracker* t = make_linked(context, 0);
  hmn_context_destroy(context);
  would_fit(t, GIB, HMN_OK);
  would_fit(t, 16 * GIB, HMN_E_LIMIT);
  hmn_tracker_destroy(t);
}

static void a_device_index_without_a_context_is_refused(void** state) {
  (void)state;
  hmn_tracker* t = (hmn_tracker*)&t;
  assert_returns(hmn_tracker_create(NULL, 1, NULL, &t, &error), HMN_E_ARGUMENT);
  assert_null(t);
}

static void invalid_options_are_refused(void** state) {
  (void)state;
  hmn_tracker_options wrong[6];
  for (size_t i = 0; i < 6; ++i) {
    memset(&wrong[i], 0, sizeof wrong[i]);
    wrong[i].struct_size = sizeof wrong[i];
  }
  wrong[0].flags = HMN_TRACKER_LIMITED << 1;
  wrong[1].reserved0 = 1;
  wrong[2].tag_capacity = 65537;
  wrong[3].struct_size = HMN_TRACKER_OPTIONS_SIZE_V1 - 8;
  wrong[4].struct_size = HMN_TRACKER_OPTIONS_SIZE_V1 + 4;
  wrong[5].limit_bytes = 1;
  const hmn_status expected[] = {HMN_E_UNKNOWN_FLAG, HMN_E_UNKNOWN_FLAG, HMN_E_RANGE,
                                 HMN_E_STRUCT_SIZE,  HMN_E_STRUCT_SIZE,  HMN_E_ARGUMENT};
  for (size_t i = 0; i < 6; ++i) {
    hmn_tracker* t = (hmn_tracker*)&wrong;
    assert_returns(hmn_tracker_create(NULL, 0, &wrong[i], &t, &error), expected[i]);
    assert_null(t);
  }
  NEW(hmn_tracker_options, largest);
  largest.tag_capacity = 65536;
  hmn_tracker* t = NULL;
  assert_returns(hmn_tracker_create(NULL, 0, &largest, &t, &error), HMN_OK);
  hmn_tracker_destroy(t);
}

/* ---- many threads at once ---- */

enum { ALLOCATORS = 4, ROUNDS = 20000, LOWEST = 600, HIGHEST = 1000 };

typedef struct crowd {
  hmn_tracker* tracker;
  atomic_int start_count;
  atomic_int running;
  atomic_uint wrong; /* values or statuses that must never occur */
  atomic_ullong refused;
} crowd;

static uint32_t random_number(uint32_t* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 16;
}

static void expect(crowd* c, int condition) {
  if (!condition) atomic_fetch_add(&c->wrong, 1);
}

static void allocate_and_release(void* argument) {
  crowd* c = argument;
  const uint32_t number = (uint32_t)atomic_fetch_add(&c->start_count, 1) + 1;
  uint32_t seed = number, tag = 0, shared = 0;
  char name[] = "own 0";
  name[4] = (char)('0' + number);
  expect(c, hmn_tracker_tag(c->tracker, number % 2 == 0 ? name : "shared", &tag, NULL) == HMN_OK);
  expect(c, hmn_tracker_tag(c->tracker, "shared", &shared, NULL) == HMN_OK);
  expect(c, (tag == shared) == (number % 2 != 0));
  for (int i = 0; i < ROUNDS; ++i) {
    const uint64_t bytes = 1 + random_number(&seed) % 400;
    const uint32_t charged_tag = random_number(&seed) % 2 == 0 ? tag : 0;
    const hmn_status status = hmn_tracker_allocate_tagged(c->tracker, charged_tag, bytes, NULL);
    expect(c, status == HMN_OK || status == HMN_E_LIMIT);
    if (status == HMN_E_LIMIT) atomic_fetch_add(&c->refused, 1);
    if (status != HMN_OK) continue;
    expect(c, hmn_tracker_release_tagged(c->tracker, charged_tag, bytes, NULL) == HMN_OK);
  }
  atomic_fetch_sub(&c->running, 1);
}

static void change_the_limit(void* argument) {
  crowd* c = argument;
  uint32_t seed = 7;
  while (atomic_load(&c->running) > 0) {
    const uint64_t limit = LOWEST + random_number(&seed) % (HIGHEST - LOWEST + 1);
    const hmn_status status = hmn_tracker_set_limit(c->tracker, limit, NULL);
    expect(c, status == HMN_OK || status == HMN_E_LIMIT);
  }
}

static void check_readings(void* argument) {
  crowd* c = argument;
  uint64_t peak = 0;
  while (atomic_load(&c->running) > 0) {
    NEW(hmn_tracker_info, info);
    expect(c, hmn_tracker_read(c->tracker, &info, NULL) == HMN_OK);
    expect(c, info.allocated_bytes <= info.limit_bytes);
    expect(c, info.peak_bytes >= info.allocated_bytes && info.peak_bytes <= HIGHEST);
    expect(c, info.peak_bytes >= peak);
    expect(c, info.limit_bytes >= LOWEST && info.limit_bytes <= HIGHEST);
    peak = info.peak_bytes;
    for (uint32_t tag = 1; tag <= info.tag_count; ++tag) {
      NEW(hmn_tag, tag_info);
      expect(c, hmn_tracker_read_tag(c->tracker, tag, &tag_info, NULL) == HMN_OK);
      expect(c, tag_info.peak_bytes >= tag_info.allocated_bytes &&
                    tag_info.allocated_bytes <= HIGHEST);
    }
  }
}

static void no_thread_ever_sees_more_than_the_limit(void** state) {
  (void)state;
  crowd c = {.tracker = make(HIGHEST), .running = ALLOCATORS};
  thread* threads[ALLOCATORS + 3];
  void (*const others[])(void*) = {change_the_limit, change_the_limit, check_readings};
  for (size_t i = 0; i < ALLOCATORS + 3; ++i) {
    void (*const run)(void*) = i < ALLOCATORS ? allocate_and_release : others[i - ALLOCATORS];
    threads[i] = thread_start(run, &c);
  }
  for (size_t i = 0; i < ALLOCATORS + 3; ++i) thread_join(threads[i]);
  assert_int_equal(c.wrong, 0);
  const hmn_tracker_info info = info_of(c.tracker);
  assert_int_equal(info.allocated_bytes, 0);
  assert_int_equal(info.refused_count, c.refused);
  assert_int_equal(info.tag_count, 3); /* shared, own 2, own 4 */
  for (uint32_t tag = 1; tag <= 3; ++tag) {
    assert_int_equal(read_tag(c.tracker, tag).allocated_bytes, 0);
  }
  /* All memory is free again. */
  allocate(c.tracker, info.limit_bytes, HMN_OK);
  allocate(c.tracker, 1, HMN_E_LIMIT);
  hmn_tracker_destroy(c.tracker);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_allocation_above_the_limit_is_refused),
      cmocka_unit_test(the_message_of_a_refusal_has_its_numbers),
      cmocka_unit_test(the_peak_is_the_highest_value),
      cmocka_unit_test(the_limit_applies_to_what_is_still_allocated),
      cmocka_unit_test(would_fit_compares_with_the_limit_and_allocates_nothing),
      cmocka_unit_test(everything_fits_without_a_limit),
      cmocka_unit_test(small_allocations_are_counted_under_a_large_limit),
      cmocka_unit_test(releasing_more_than_is_allocated_is_refused),
      cmocka_unit_test(reset_clears_allocations_and_peaks),
      cmocka_unit_test(the_limit_can_change),
      cmocka_unit_test(a_limit_of_zero_allows_nothing),
      cmocka_unit_test(a_tag_has_its_own_account),
      cmocka_unit_test(bytes_released_without_their_tag_cannot_be_released_again),
      cmocka_unit_test(an_unknown_tag_is_refused),
      cmocka_unit_test(an_invalid_tag_name_is_refused),
      cmocka_unit_test(tag_capacity_limits_the_number_of_tags),
      cmocka_unit_test(a_linked_tracker_reads_the_usable_memory_of_its_device),
      cmocka_unit_test(a_linked_device_that_cannot_be_read_is_an_error),
      cmocka_unit_test(would_fit_does_not_use_stale_values),
      cmocka_unit_test(a_device_that_reports_only_its_total_is_unsupported),
      cmocka_unit_test(a_tracker_outlives_its_context),
      cmocka_unit_test(a_device_index_without_a_context_is_refused),
      cmocka_unit_test(invalid_options_are_refused),
      cmocka_unit_test(no_thread_ever_sees_more_than_the_limit),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
