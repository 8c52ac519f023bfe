/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rule: usable_bytes is what can be allocated now, and all functions report the same value.
 */
#include <stdbool.h>

#include "support/calls.h"
#include "support/machine.h"

static const uint64_t gib = UINT64_C(1) << 30;

#define HOST(text) "{\"host\": {\"system\": {" text "}}, \"devices\": ["
#define LARGE_HOST HOST("\"total\": \"64GiB\", \"available\": \"60GiB\"")
#define GPU(pool) "{\"name\": \"GPU\", \"pools\": [{" pool "}]}"

/* The value of a direct reading, of a snapshot and of a linked tracker; UINT64_MAX: none. */
static uint64_t read_usable(const machine* m, uint32_t device) {
  NEW(hmn_pool, direct);
  assert_returns(hmn_pool_read(m->context, device, HMN_POOL_MAIN, 0, 0, &direct, &error), HMN_OK);
  hmn_snapshot* s = NULL;
  NEW(hmn_snapshot_options, options);
  options.collect = HMN_COLLECT_POOLS;
  assert_returns(hmn_snapshot_take(m->context, &options, &s, &error), HMN_OK);
  NEW(hmn_pool, listed);
  for (uint32_t i = 0; hmn_snapshot_pool_at(s, i, &listed, NULL) == HMN_OK; ++i) {
    if (listed.device_index == device && listed.is_main) break;
  }
  hmn_snapshot_destroy(s);
  assert_int_equal(listed.device_index, device);
  assert_int_equal(direct.present & HMN_POOL_HAS_USABLE, listed.present & HMN_POOL_HAS_USABLE);
  assert_int_equal(direct.usable_bytes, listed.usable_bytes);

  hmn_tracker* t = NULL;
  assert_returns(hmn_tracker_create(m->context, device, NULL, &t, &error), HMN_OK);
  const bool is_known = (direct.present & HMN_POOL_HAS_USABLE) != 0;
  assert_status(hmn_tracker_would_fit(t, direct.usable_bytes, NULL),
                is_known ? HMN_OK : HMN_E_UNSUPPORTED);
  if (is_known) assert_status(hmn_tracker_would_fit(t, direct.usable_bytes + 1, NULL), HMN_E_LIMIT);
  hmn_tracker_destroy(t);
  return is_known ? direct.usable_bytes : UINT64_MAX;
}

static void assert_usable(const char* json, uint64_t expected) {
  machine m;
  machine_make(&m, json, NULL);
  assert_int_equal(read_usable(&m, 0), expected);
  machine_end(&m);
}

static void free_memory_of_a_card_is_usable(void** state) {
  (void)state;
  assert_usable(LARGE_HOST GPU("\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\"") "]}",
                13 * gib);
}

static void the_drivers_usable_value_takes_precedence(void** state) {
  (void)state;
  assert_usable(LARGE_HOST GPU("\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\", "
                               "\"usable\": \"5GiB\"") "]}",
                5 * gib);
}

static void a_budget_limits_usable_memory(void** state) {
  (void)state;
  assert_usable(LARGE_HOST GPU("\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\", "
                               "\"budget\": \"2GiB\"") "]}",
                2 * gib);
  assert_usable(LARGE_HOST GPU("\"kind\": \"vram\", \"total\": \"16GiB\", \"used\": \"3GiB\", "
                               "\"budget\": \"14GiB\"") "]}",
                13 * gib);
}

/* The host has 60 GiB available; the limit of the group is 8 GiB, of which it uses 6. */
static void available_host_memory_and_its_limit_bound_shared_pools(void** state) {
  (void)state;
  const char* const kinds[] = {"unified", "host"};
  for (size_t i = 0; i < 2; ++i) {
    char json[512];
    snprintf(json, sizeof json,
             HOST("\"total\": \"64GiB\", \"available\": \"60GiB\"%s")
                 GPU("\"kind\": \"%s\", \"total\": \"64GiB\", \"used\": \"1GiB\"") "]}",
             "", kinds[i]);
    assert_usable(json, 60 * gib);
    snprintf(json, sizeof json,
             HOST("\"total\": \"64GiB\", \"available\": \"60GiB\"%s")
                 GPU("\"kind\": \"%s\", \"total\": \"64GiB\", \"used\": \"1GiB\"") "]}",
             ", \"limit\": \"8GiB\", \"limit_used\": \"6GiB\"", kinds[i]);
    assert_usable(json, 2 * gib);
  }
}

/* An APU: 64 GiB reserved by firmware, while the host has 60 GiB available, and the group 2 GiB. */
static void memory_reserved_by_firmware_is_not_bound_by_the_host(void** state) {
  (void)state;
  assert_usable(HOST("\"total\": \"64GiB\", \"available\": \"60GiB\", \"limit\": \"8GiB\", "
                     "\"limit_used\": \"6GiB\"")
                "{\"name\": \"APU\", \"form\": \"integrated\", \"memory_kind\": \"unified\", \"pools\": "
                "[{\"kind\": \"vram\", \"total\": \"64GiB\", \"used\": \"1GiB\"}, {\"kind\": \"host\", "
                "\"total\": \"31GiB\", \"used\": 0}]}]}",
                63 * gib);
}

static void unified_memory_without_its_own_values_is_that_of_the_host(void** state) {
  (void)state;
  assert_usable(LARGE_HOST GPU("\"kind\": \"unified\", \"used\": \"1GiB\"") "]}", 60 * gib);
}

static void nothing_is_usable_where_free_memory_is_not_reported(void** state) {
  (void)state;
  assert_usable(LARGE_HOST GPU("\"kind\": \"vram\", \"used\": \"1GiB\"") "]}", UINT64_MAX);
}

static bool is_divided(const machine* m, uint32_t index) {
  NEW(hmn_device, device);
  assert_status(hmn_device_read(m->context, index, 0, &device, NULL), HMN_OK);
  return (device.notes & HMN_NOTE_DIVIDED) != 0;
}

static void memory_of_a_divided_device_is_usable_in_its_partitions(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": "
               "\"80GiB\", \"used\": \"1GiB\"}], \"partitions\": [{\"name\": \"MIG\", \"pools\": "
               "[{\"kind\": \"vram\", \"total\": \"20GiB\", \"used\": \"1GiB\"}]}]}]}",
               NULL);
  assert_int_equal(read_usable(&m, 0), UINT64_MAX);
  assert_int_equal(read_usable(&m, 1), 19 * gib);
  assert_true(is_divided(&m, 0));
  assert_false(is_divided(&m, 1));
  machine_end(&m);
}

static void the_host_has_what_is_available_within_its_limit(void** state) {
  (void)state;
  const struct {
    const char* json;
    uint64_t usable;
  } hosts[] = {
      {HOST("\"total\": \"64GiB\", \"available\": \"60GiB\"") "]}", 60},
      {HOST("\"available\": \"60GiB\", \"limit\": \"8GiB\", \"limit_used\": \"6GiB\"") "]}", 2},
      {HOST("\"available\": \"1GiB\", \"limit\": \"8GiB\", \"limit_used\": \"6GiB\"") "]}", 1},
      {HOST("\"available\": \"60GiB\", \"limit\": \"8GiB\", \"limit_used\": \"9GiB\"") "]}", 0},
      {HOST("\"available\": \"60GiB\", \"limit\": \"8GiB\"") "]}", 8}};
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; ++i) {
    machine m;
    machine_make(&m, hosts[i].json, NULL);
    NEW(hmn_system_memory, memory);
    assert_returns(hmn_system_memory_read(m.context, 0, &memory, &error), HMN_OK);
    assert_true((memory.present & HMN_SYSTEM_MEMORY_HAS_USABLE) != 0);
    assert_int_equal(memory.usable_bytes, hosts[i].usable * gib);
    machine_end(&m);
  }
  machine m;
  machine_make(&m, HOST("\"total\": \"64GiB\", \"limit\": \"8GiB\"") "]}", NULL);
  NEW(hmn_system_memory, memory);
  assert_returns(hmn_system_memory_read(m.context, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.present & HMN_SYSTEM_MEMORY_HAS_USABLE, 0);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_memory_of_a_card_is_usable),
      cmocka_unit_test(the_drivers_usable_value_takes_precedence),
      cmocka_unit_test(a_budget_limits_usable_memory),
      cmocka_unit_test(available_host_memory_and_its_limit_bound_shared_pools),
      cmocka_unit_test(memory_reserved_by_firmware_is_not_bound_by_the_host),
      cmocka_unit_test(unified_memory_without_its_own_values_is_that_of_the_host),
      cmocka_unit_test(nothing_is_usable_where_free_memory_is_not_reported),
      cmocka_unit_test(memory_of_a_divided_device_is_usable_in_its_partitions),
      cmocka_unit_test(the_host_has_what_is_available_within_its_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
