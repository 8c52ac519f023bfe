/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json.
 */
#include "support/calls.h"
#include "support/machine.h"

enum { UNIFIED = 1, ASLEEP = 3, LOST = 4 };
static const uint64_t mib = 1024 * 1024;

static hmn_context* context_of(void** state) {
  return ((fixture*)*state)->context;
}

static hmn_pool pool_at(hmn_context* context, uint32_t device, uint32_t kind) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context, device, kind, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.device_index, device);
  return pool;
}

static void a_pool_has_the_values_of_its_device(void** state) {
  const hmn_pool pool = pool_at(context_of(state), 0, HMN_POOL_VRAM);
  const hmn_fields known = HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED |
                           HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE | HMN_POOL_HAS_BUDGET;
  assert_int_equal(pool.present, known);
  assert_int_equal(pool.notes, 0);
  assert_int_equal(pool.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(pool.kind, HMN_POOL_VRAM);
  assert_int_equal(pool.accounting, HMN_ACCOUNT_ALLOCATED);
  assert_int_equal(pool.is_main, 1);
  assert_int_equal(pool.total_bytes, 16384 * mib);
  assert_int_equal(pool.used_bytes, 3072 * mib);
  assert_int_equal(pool.reserved_bytes, 28 * mib);
  assert_int_equal(pool.usable_bytes, 12000 * mib); /* of 13000, by its budget */
  assert_int_equal(pool.budget_bytes, 12000 * mib);
  assert_int_equal(pool.unattributed_bytes, 0);
}

/* total = reserved + free + used */
static void the_parts_of_a_pool_make_its_total(void** state) {
  const hmn_pool pool = pool_at(context_of(state), 0, HMN_POOL_VRAM);
  assert_int_equal(pool.reserved_bytes + pool.free_bytes + pool.used_bytes, pool.total_bytes);
}

/* HMN_POOL_MAIN: the pool that allocations come from; a result's kind is never MAIN. */
static void main_is_the_pool_that_allocations_come_from(void** state) {
  assert_int_equal(pool_at(context_of(state), 0, HMN_POOL_MAIN).kind, HMN_POOL_VRAM);
  const hmn_pool unified = pool_at(context_of(state), UNIFIED, HMN_POOL_MAIN);
  assert_int_equal(unified.kind, HMN_POOL_UNIFIED);
  assert_int_equal(unified.is_main, 1);
}

static void a_device_has_one_pool_per_kind(void** state) {
  const hmn_pool host = pool_at(context_of(state), 0, HMN_POOL_HOST);
  assert_int_equal(host.kind, HMN_POOL_HOST);
  assert_int_equal(host.is_main, 0);
  assert_int_equal(host.total_bytes, 15 * 1024 * mib);
  assert_int_equal(host.present & ~(hmn_flags)HMN_POOL_HAS_USABLE,
                   HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED);
  assert_int_equal(host.reserved_bytes, 0);
}

static void a_pool_that_the_device_lacks_is_unsupported(void** state) {
  NEW(hmn_pool, pool);
  const uint32_t lacking[] = {HMN_POOL_VRAM_VISIBLE, HMN_POOL_UNIFIED, HMN_POOL_STOLEN};
  for (size_t i = 0; i < 3; ++i) {
    assert_returns(hmn_pool_read(context_of(state), 0, lacking[i], 0, 0, &pool, &error),
                   HMN_E_UNSUPPORTED);
  }
  assert_returns(hmn_pool_read(context_of(state), UNIFIED, HMN_POOL_VRAM, 0, 0, &pool, &error),
                 HMN_E_UNSUPPORTED);
}

static void a_kind_that_no_number_names_is_out_of_range(void** state) {
  const uint32_t kinds[] = {6, 7, 64, INT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < 5; ++i) {
    NEW(hmn_pool, pool);
    assert_returns(hmn_pool_read(context_of(state), 0, kinds[i], 0, 0, &pool, &error), HMN_E_RANGE);
  }
}

static void fields_are_selected(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(
      hmn_pool_read(context_of(state), 0, HMN_POOL_MAIN, 0, HMN_POOL_HAS_FREE, &pool, &error),
      HMN_OK);
  assert_true((pool.present & HMN_POOL_HAS_FREE) != 0);
  assert_int_equal(pool.notes, 0);
  const hmn_fields unknown[] = {HMN_POOL_HAS_UNATTRIBUTED, 1U << 31};
  for (size_t i = 0; i < 2; ++i) {
    assert_returns(hmn_pool_read(context_of(state), 0, HMN_POOL_MAIN, 0, unknown[i], &pool, &error),
                   HMN_E_UNKNOWN_FLAG);
  }
}

static void a_missing_field_is_noted(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"used\": 0}]}]}",
      NULL);
  NEW(hmn_pool, pool);
  const hmn_fields wanted = HMN_POOL_HAS_USED | HMN_POOL_HAS_TOTAL;
  assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, wanted, &pool, &error), HMN_OK);
  assert_int_equal(pool.present & wanted, HMN_POOL_HAS_USED);
  assert_int_equal(pool.notes, HMN_NOTE_PARTIAL);
  assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.notes, 0);
  machine_end(&m);
}

static void an_index_that_was_never_given_is_no_device(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context_of(state), 6, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_NO_DEVICE);
  assert_returns(hmn_pool_read(context_of(state), UINT32_MAX, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_NO_DEVICE);
}

static void a_lost_device_is_device_lost(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context_of(state), LOST, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_DEVICE_LOST);
}

static void a_sleeping_device_is_asleep(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(context_of(state), ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_ASLEEP);
}

#define FAILS(status, native)                                                                 \
  "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", " \
  "\"used\": 0}], "                                                                           \
  "\"failures\": [{\"call\": \"pools\", \"status\": \"" status "\"" native                    \
  ", \"message\": \"as the test says; do nothing\"}]}]}"

/* HMN_E_PERMISSION, HMN_E_TIMEOUT, HMN_E_BACKEND, HMN_E_NO_SOURCE: as named. */
static void what_the_driver_says_is_passed_on(void** state) {
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

static void the_native_code_of_a_failure_is_reported_with_whose_it_is(void** state) {
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

/* Bytes are exact. */
static void values_up_to_2_to_the_48_are_exact(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", "
               "\"total\": 281474976710656, \"free\": 281474976710655, \"used\": 1}]}]}",
               NULL);
  const hmn_pool pool = pool_at(m.context, 0, HMN_POOL_MAIN);
  assert_true(pool.total_bytes == UINT64_C(281474976710656));
  assert_true(pool.free_bytes == UINT64_C(281474976710655));
  machine_end(&m);
}

/* 0 is a value: its bit is set. A value that is not known has none. */
static void zero_is_reported_from_unknown(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"used\": 0}]}]}",
      NULL);
  const hmn_pool pool = pool_at(m.context, 0, HMN_POOL_MAIN);
  assert_int_equal(pool.present, HMN_POOL_HAS_USED);
  assert_int_equal(pool.used_bytes, 0);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pool_has_the_values_of_its_device),
      cmocka_unit_test(the_parts_of_a_pool_make_its_total),
      cmocka_unit_test(main_is_the_pool_that_allocations_come_from),
      cmocka_unit_test(a_device_has_one_pool_per_kind),
      cmocka_unit_test(a_pool_that_the_device_lacks_is_unsupported),
      cmocka_unit_test(a_kind_that_no_number_names_is_out_of_range),
      cmocka_unit_test(fields_are_selected),
      cmocka_unit_test(a_missing_field_is_noted),
      cmocka_unit_test(an_index_that_was_never_given_is_no_device),
      cmocka_unit_test(a_lost_device_is_device_lost),
      cmocka_unit_test(a_sleeping_device_is_asleep),
      cmocka_unit_test(what_the_driver_says_is_passed_on),
      cmocka_unit_test(the_native_code_of_a_failure_is_reported_with_whose_it_is),
      cmocka_unit_test(values_up_to_2_to_the_48_are_exact),
      cmocka_unit_test(zero_is_reported_from_unknown),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
