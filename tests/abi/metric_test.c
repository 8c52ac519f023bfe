/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: device 0 has a temperature, a counter, a counter of one process,
 * and a fan speed that is readable by root only.
 */
#include <string.h>

#include "support/calls.h"
#include "support/keys.h"
#include "support/machine.h"

enum { UNIFIED = 1, ASLEEP = 3, LOST = 4 };

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static void a_metric_has_its_value_and_source(void** state) {
  NEW(hmn_metric, m);
  assert_returns(
      read_metric(fixture_context(state), 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, &m, &error),
      HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_VALUE | HMN_METRIC_HAS_WINDOW);
  assert_int_equal(m.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(m.device_index, 0);
  assert_int_equal(m.id, HMN_METRIC_TEMPERATURE);
  assert_int_equal(m.instance, HMN_SENSOR_CORE);
  assert_true(m.value == 45.5 && m.window_ns == 7 && m.count == 0);
}

static void a_counter_is_a_whole_number(void** state) {
  NEW(hmn_metric, m);
  assert_returns(read_metric(fixture_context(state), 0, HMN_METRIC_PCIE_REPLAYS, 0, &m, &error),
                 HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_COUNT);
  assert_true(m.count == 3 && m.value == 0);
}

static void an_unknown_metric_is_out_of_range(void** state) {
  const uint32_t unknown[] = {0, 19, 39, 99, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    NEW(hmn_metric, m);
    assert_returns(read_metric(fixture_context(state), 0, unknown[i], 0, &m, &error), HMN_E_RANGE);
    assert_string_equal(hmn_metric_name(unknown[i]), "unknown");
    assert_string_equal(hmn_metric_unit(unknown[i]), "");
    assert_string_equal(hmn_metric_instance_name(unknown[i], 1), "");
  }
}

static void a_metric_that_the_device_lacks_is_unsupported(void** state) {
  hmn_context* context = fixture_context(state);
  NEW(hmn_metric, m);
  assert_returns(read_metric(context, 0, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_UNSUPPORTED);
  assert_returns(read_metric(context, 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, &m, &error),
                 HMN_E_UNSUPPORTED);
  assert_returns(read_metric(context, 0, HMN_METRIC_FAN_RPM, 0, &m, &error), HMN_E_PERMISSION);
  assert_returns(read_metric(context, UNIFIED, HMN_METRIC_FAN_RPM, 0, &m, &error),
                 HMN_E_UNSUPPORTED);
}

static void a_device_that_cannot_be_read_is_an_error(void** state) {
  hmn_context* context = fixture_context(state);
  NEW(hmn_metric, m);
  assert_returns(read_metric(context, 6, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_NO_DEVICE);
  assert_returns(read_metric(context, ASLEEP, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_ASLEEP);
  assert_returns(read_metric(context, LOST, HMN_METRIC_VOLTAGE, 0, &m, &error), HMN_E_DEVICE_LOST);
}

static void a_snapshot_lists_its_metrics(void** state) {
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

static void metrics_have_names_units_and_instance_names(void** state) {
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
  uint32_t name_count = 0;
  for (uint32_t id = 1; id < 1000; ++id) {
    if (strcmp(hmn_metric_name(id), "unknown") != 0) ++name_count;
  }
  assert_int_equal(count, name_count);
  assert_int_equal(hmn_metric_next(UINT32_MAX), 0);
}

static void a_metric_is_a_gauge_a_counter_or_a_constant(void** state) {
  (void)state;
  assert_int_equal(hmn_metric_kind(HMN_METRIC_TEMPERATURE), HMN_NUMBER_KIND_GAUGE);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_ENERGY_JOULES), HMN_NUMBER_KIND_COUNTER);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_ENGINE_CAPACITY), HMN_NUMBER_KIND_CONSTANT);
  assert_int_equal(hmn_metric_kind(HMN_METRIC_UNKNOWN), HMN_NUMBER_KIND_UNKNOWN);
  assert_int_equal(hmn_metric_kind(9999), HMN_NUMBER_KIND_UNKNOWN);
}

/* 0 is the whole device, and the only instance of a metric without instances. */
static void an_instance_of_a_metric_without_instances_is_refused(void** state) {
  NEW(hmn_metric, m);
  NEW(hmn_error, error);
  assert_status(read_metric(fixture_context(state), 0, HMN_METRIC_PCIE_REPLAYS, 1, &m, &error),
                HMN_E_ARGUMENT);
  assert_string_equal(error.message, "instance: 1, but pcie_replays has no instances: expected 0");
  assert_status(hmn_metric_read(fixture_context(state), 0, NULL, 0, &m, &error), HMN_E_ARGUMENT);
  assert_string_equal(error.message, "key is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_metric_has_its_value_and_source),
      cmocka_unit_test(a_counter_is_a_whole_number),
      cmocka_unit_test(an_unknown_metric_is_out_of_range),
      cmocka_unit_test(a_metric_that_the_device_lacks_is_unsupported),
      cmocka_unit_test(a_device_that_cannot_be_read_is_an_error),
      cmocka_unit_test(a_snapshot_lists_its_metrics),
      cmocka_unit_test(metrics_have_names_units_and_instance_names),
      cmocka_unit_test(the_known_metrics_can_be_listed),
      cmocka_unit_test(a_metric_is_a_gauge_a_counter_or_a_constant),
      cmocka_unit_test(an_instance_of_a_metric_without_instances_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
