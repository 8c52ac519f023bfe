/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: device 0 has a temperature, a count, a process' part, and a fan that
 * is for root alone.
 */
#include <string.h>

#include "support/calls.h"
#include "support/keys.h"
#include "support/machine.h"

enum { UNIFIED = 1, ASLEEP = 3, LOST = 4 };

static hmn_context* context_of(void** state) {
  return ((fixture*)*state)->context;
}

static void a_reading_is_a_value_with_its_source(void** state) {
  NEW(hmn_metric, m);
  assert_answers(
      read_metric(context_of(state), 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, &m, &error),
      HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_VALUE | HMN_METRIC_HAS_WINDOW);
  assert_int_equal(m.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(m.device_index, 0);
  assert_int_equal(m.id, HMN_METRIC_TEMPERATURE);
  assert_int_equal(m.instance, HMN_SENSOR_CORE);
  assert_true(m.value == 45.5 && m.window_ns == 7 && m.count == 0);
}

static void a_count_is_whole(void** state) {
  NEW(hmn_metric, m);
  assert_answers(read_metric(context_of(state), 0, HMN_METRIC_PCIE_REPLAYS, 0, &m, &error), HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_COUNT);
  assert_true(m.count == 3 && m.value == 0);
}

static void a_number_that_is_no_metric_is_out_of_range(void** state) {
  const uint32_t none[] = {0, 19, 39, 99, UINT32_MAX};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i) {
    NEW(hmn_metric, m);
    assert_answers(read_metric(context_of(state), 0, none[i], 0, &m, &error), HMN_E_RANGE);
    assert_string_equal(hmn_metric_name(none[i]), "unknown");
    assert_string_equal(hmn_metric_unit(none[i]), "");
    assert_string_equal(hmn_metric_instance_name(none[i], 1), "");
  }
}

static void what_the_device_does_not_report_is_unsupported(void** state) {
  hmn_context* context = context_of(state);
  NEW(hmn_metric, m);
  assert_answers(read_metric(context, 0, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_UNSUPPORTED);
  assert_answers(read_metric(context, 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, &m, &error),
                 HMN_E_UNSUPPORTED);
  assert_answers(read_metric(context, 0, HMN_METRIC_FAN_RPM, 0, &m, &error), HMN_E_PERMISSION);
  assert_answers(read_metric(context, UNIFIED, HMN_METRIC_FAN_RPM, 0, &m, &error),
                 HMN_E_UNSUPPORTED);
}

static void as_hmn_pool_read_otherwise(void** state) {
  hmn_context* context = context_of(state);
  NEW(hmn_metric, m);
  assert_answers(read_metric(context, 6, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_NO_DEVICE);
  assert_answers(read_metric(context, ASLEEP, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_ASLEEP);
  assert_answers(read_metric(context, LOST, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_DEVICE_LOST);
}

static void a_snapshot_has_each_and_says_what_is_missing(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(f->after, &info, NULL), HMN_OK);
  assert_int_equal(info.metric_count, 3);
  NEW(hmn_metric, m);
  assert_status(hmn_snapshot_metric_at(f->after, 2, &m, NULL), HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_COUNT);
  assert_int_equal(m.count, 9);
  assert_status(hmn_snapshot_metric_at(f->after, 3, &m, NULL), HMN_E_RANGE);
  assert_status(hmn_snapshot_metric_at(f->after, UINT32_MAX, &m, NULL), HMN_E_RANGE);
}

static void names_are_static_texts(void** state) {
  (void)state;
  assert_string_equal(hmn_metric_name(HMN_METRIC_TEMPERATURE), "temperature");
  assert_string_equal(hmn_metric_unit(HMN_METRIC_POWER_WATTS), "W");
  assert_string_equal(hmn_metric_instance_name(HMN_METRIC_TEMPERATURE, HMN_SENSOR_HOTSPOT),
                      "hotspot");
  assert_string_equal(hmn_metric_instance_name(HMN_METRIC_TEMPERATURE, 0), "");
}

static void the_known_metrics_can_be_listed(void** state) {
  (void)state;
  uint32_t count = 0;
  uint32_t last = 0;
  for (uint32_t id = hmn_metric_next(0); id != 0; id = hmn_metric_next(id)) {
    assert_true(id > last);
    last = id;
    ++count;
    assert_string_not_equal(hmn_metric_name(id), "unknown");
    assert_int_not_equal(hmn_metric_kind(id), HMN_NUMBER_KIND_UNKNOWN);
  }
  assert_int_equal(last, HMN_METRIC_LINK_TX_BYTES);
  uint32_t named = 0;
  for (uint32_t id = 1; id < 1000; ++id) {
    if (strcmp(hmn_metric_name(id), "unknown") != 0) ++named;
  }
  assert_int_equal(count, named);
  assert_int_equal(hmn_metric_next(UINT32_MAX), 0);
}

static void the_kind_says_what_a_number_does(void** state) {
  (void)state;
  assert_int_equal(hmn_metric_kind(HMN_METRIC_TEMPERATURE), HMN_NUMBER_KIND_GAUGE);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_ENERGY_JOULES), HMN_NUMBER_KIND_COUNTER);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_ENGINE_CAPACITY), HMN_NUMBER_KIND_CONSTANT);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_UNKNOWN), HMN_NUMBER_KIND_UNKNOWN);
  assert_int_equal(hmn_metric_kind(9999), HMN_NUMBER_KIND_UNKNOWN);
}

/* 0 stands for the whole device; a metric without instances has no other. */
static void an_instance_of_a_metric_without_instances_is_refused(void** state) {
  NEW(hmn_metric, m);
  NEW(hmn_error, error);
  assert_status(read_metric(context_of(state), 0, HMN_METRIC_PCIE_REPLAYS, 1, &m, &error),
                HMN_E_ARGUMENT);
  assert_string_equal(error.message, "instance: 1, but pcie_replays has no instances: expected 0");
  assert_status(hmn_metric_read(context_of(state), 0, NULL, 0, &m, &error), HMN_E_ARGUMENT);
  assert_string_equal(error.message, "key is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reading_is_a_value_with_its_source),
      cmocka_unit_test(a_count_is_whole),
      cmocka_unit_test(a_number_that_is_no_metric_is_out_of_range),
      cmocka_unit_test(what_the_device_does_not_report_is_unsupported),
      cmocka_unit_test(as_hmn_pool_read_otherwise),
      cmocka_unit_test(a_snapshot_has_each_and_says_what_is_missing),
      cmocka_unit_test(names_are_static_texts),
      cmocka_unit_test(the_known_metrics_can_be_listed),
      cmocka_unit_test(the_kind_says_what_a_number_does),
      cmocka_unit_test(an_instance_of_a_metric_without_instances_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
