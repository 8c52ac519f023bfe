/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json.
 */
#include "support/calls.h"
#include "support/machine.h"

enum { UNIFIED = 1, ASLEEP = 3, LOST = 4 };
static const uint64_t mib = 1024 * 1024;

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static hmn_pool read_pool(hmn_context* context, uint32_t device, uint32_t kind) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context, device, kind, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.device_index, device);
  return pool;
}

static void a_pool_has_the_values_of_its_device(void** state) {
  const hmn_pool pool = read_pool(fixture_context(state), 0, HMN_POOL_VRAM);
  const hmn_fields fields = HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED |
                            HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE | HMN_POOL_HAS_BUDGET;
  assert_int_equal(pool.present, fields);
  assert_int_equal(pool.notes, 0);
  assert_int_equal(pool.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(pool.kind, HMN_POOL_VRAM);
  assert_int_equal(pool.accounting, HMN_ACCOUNT_ALLOCATED);
  assert_int_equal(pool.is_main, 1);
  assert_int_equal(pool.total_bytes, 16384 * mib);
  assert_int_equal(pool.used_bytes, 3072 * mib);
  assert_int_equal(pool.reserved_bytes, 28 * mib);
  assert_int_equal(pool.usable_bytes, 12000 * mib); /* 13000, bounded by the budget */
  assert_int_equal(pool.budget_bytes, 12000 * mib);
  assert_int_equal(pool.unattributed_bytes, 0);
}

/* total = reserved + free + used */
static void the_parts_of_a_pool_add_up_to_its_total(void** state) {
  const hmn_pool pool = read_pool(fixture_context(state), 0, HMN_POOL_VRAM);
  assert_int_equal(pool.reserved_bytes + pool.free_bytes + pool.used_bytes, pool.total_bytes);
}

/* HMN_POOL_MAIN: the pool that allocations come from; a result's kind is never MAIN. */
static void the_main_pool_is_the_one_that_allocations_come_from(void** state) {
  assert_int_equal(read_pool(fixture_context(state), 0, HMN_POOL_MAIN).kind, HMN_POOL_VRAM);
  const hmn_pool unified = read_pool(fixture_context(state), UNIFIED, HMN_POOL_MAIN);
  assert_int_equal(unified.kind, HMN_POOL_UNIFIED);
  assert_int_equal(unified.is_main, 1);
}

static void a_device_has_one_pool_per_kind(void** state) {
  const hmn_pool host = read_pool(fixture_context(state), 0, HMN_POOL_HOST);
  assert_int_equal(host.kind, HMN_POOL_HOST);
  assert_int_equal(host.is_main, 0);
  assert_int_equal(host.total_bytes, 15 * 1024 * mib);
  assert_int_equal(host.present & ~(hmn_flags)HMN_POOL_HAS_USABLE,
                   HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED);
  assert_int_equal(host.reserved_bytes, 0);
}

static void a_pool_that_the_device_lacks_is_unsupported(void** state) {
  NEW(hmn_pool, pool);
  const uint32_t kinds[] = {HMN_POOL_VRAM_VISIBLE, HMN_POOL_UNIFIED, HMN_POOL_STOLEN};
  for (size_t i = 0; i < 3; ++i) {
    assert_returns(hmn_pool_read(fixture_context(state), 0, kinds[i], 0, 0, &pool, &error),
                   HMN_E_UNSUPPORTED);
  }
  assert_returns(hmn_pool_read(fixture_context(state), UNIFIED, HMN_POOL_VRAM, 0, 0, &pool, &error),
                 HMN_E_UNSUPPORTED);
}

static void an_unknown_pool_kind_is_out_of_range(void** state) {
  const uint32_t kinds[] = {6, 7, 64, INT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < 5; ++i) {
    NEW(hmn_pool, pool);
    assert_returns(hmn_pool_read(fixture_context(state), 0, kinds[i], 0, 0, &pool, &error),
                   HMN_E_RANGE);
  }
}

static void a_reading_returns_the_selected_fields(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(
      hmn_pool_read(fixture_context(state), 0, HMN_POOL_MAIN, 0, HMN_POOL_HAS_FREE, &pool, &error),
      HMN_OK);
  assert_true((pool.present & HMN_POOL_HAS_FREE) != 0);
  assert_int_equal(pool.notes, 0);
  const hmn_fields unknown[] = {HMN_POOL_HAS_UNATTRIBUTED, 1U << 31};
  for (size_t i = 0; i < 2; ++i) {
    assert_returns(
        hmn_pool_read(fixture_context(state), 0, HMN_POOL_MAIN, 0, unknown[i], &pool, &error),
        HMN_E_UNKNOWN_FLAG);
  }
}

static void a_missing_field_makes_the_result_partial(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"used\": 0}]}]}",
      NULL);
  NEW(hmn_pool, pool);
  const hmn_fields fields = HMN_POOL_HAS_USED | HMN_POOL_HAS_TOTAL;
  assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, fields, &pool, &error), HMN_OK);
  assert_int_equal(pool.present & fields, HMN_POOL_HAS_USED);
  assert_int_equal(pool.notes, HMN_NOTE_PARTIAL);
  assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.notes, 0);
  machine_end(&m);
}

static void an_unknown_index_is_reported_as_no_device(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(fixture_context(state), 6, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_NO_DEVICE);
  assert_returns(
      hmn_pool_read(fixture_context(state), UINT32_MAX, HMN_POOL_MAIN, 0, 0, &pool, &error),
      HMN_E_NO_DEVICE);
}

static void a_lost_device_is_reported_as_device_lost(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(fixture_context(state), LOST, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_DEVICE_LOST);
}

static void a_sleeping_device_is_reported_as_asleep(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(fixture_context(state), ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_ASLEEP);
}

#define FAILS(status, native)                                                                 \
  "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", " \
  "\"used\": 0}], "                                                                           \
  "\"failures\": [{\"call\": \"pools\", \"status\": \"" status "\"" native                    \
  ", \"message\": \"as the test says; do nothing\"}]}]}"

static void a_call_returns_the_status_of_the_driver(void** state) {
  (void)state;
  const struct {
    const char* json;
    hmn_status status;
  } failures[] = {
      {FAILS("permission", ""), HMN_E_PERMISSION}, {FAILS("backend", ""), HMN_E_BACKEND},
      {FAILS("no_source", ""), HMN_E_NO_SOURCE},   {FAILS("device_lost", ""), HMN_E_DEVICE_LOST},
      {FAILS("asleep", ""), HMN_E_ASLEEP},         {FAILS("unsupported", ""), HMN_E_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; ++i) {
    machine m;
    machine_make(&m, failures[i].json, NULL);
    NEW(hmn_pool, pool);
    assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error),
                   failures[i].status);
    machine_end(&m);
  }
}

static void a_failure_has_its_native_code_and_domain(void** state) {
  (void)state;
  machine m;
  machine_make(&m, FAILS("backend", ", \"native\": {\"domain\": \"nvml\", \"code\": 999}"), NULL);
  NEW(hmn_pool, pool);
  NEW(hmn_error, error);
  assert_status(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_E_BACKEND);
  assert_int_equal(error.native_domain, HMN_NATIVE_NVML);
  assert_int_equal(error.native_code, 999);
  assert_int_equal(error.backend, HMN_BACKEND_SIMULATED);
  assert_string_equal(error.message, "as the test says; do nothing");
  machine_end(&m);
}

static void byte_counts_up_to_2_to_the_48_are_exact(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", "
               "\"total\": 281474976710656, \"free\": 281474976710655, \"used\": 1}]}]}",
               NULL);
  const hmn_pool pool = read_pool(m.context, 0, HMN_POOL_MAIN);
  assert_true(pool.total_bytes == UINT64_C(281474976710656));
  assert_true(pool.free_bytes == UINT64_C(281474976710655));
  machine_end(&m);
}

/* 0 is a value, so its bit is set; an unknown value has no bit. */
static void zero_is_distinguished_from_unknown(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"used\": 0}]}]}",
      NULL);
  const hmn_pool pool = read_pool(m.context, 0, HMN_POOL_MAIN);
  assert_int_equal(pool.present, HMN_POOL_HAS_USED);
  assert_int_equal(pool.used_bytes, 0);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pool_has_the_values_of_its_device),
      cmocka_unit_test(the_parts_of_a_pool_add_up_to_its_total),
      cmocka_unit_test(the_main_pool_is_the_one_that_allocations_come_from),
      cmocka_unit_test(a_device_has_one_pool_per_kind),
      cmocka_unit_test(a_pool_that_the_device_lacks_is_unsupported),
      cmocka_unit_test(an_unknown_pool_kind_is_out_of_range),
      cmocka_unit_test(a_reading_returns_the_selected_fields),
      cmocka_unit_test(a_missing_field_makes_the_result_partial),
      cmocka_unit_test(an_unknown_index_is_reported_as_no_device),
      cmocka_unit_test(a_lost_device_is_reported_as_device_lost),
      cmocka_unit_test(a_sleeping_device_is_reported_as_asleep),
      cmocka_unit_test(a_call_returns_the_status_of_the_driver),
      cmocka_unit_test(a_failure_has_its_native_code_and_domain),
      cmocka_unit_test(byte_counts_up_to_2_to_the_48_are_exact),
      cmocka_unit_test(zero_is_distinguished_from_unknown),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
