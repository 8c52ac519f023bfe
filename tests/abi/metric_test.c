/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: device 0 has a temperature, a count, a process' part, and a fan that
 * is for root alone.
 */
#include <string.h>

#include "support/calls.h"
#include "support/machine.h"

enum { UNIFIED = 1, ASLEEP = 3, LOST = 4 };

static hmn_context* context_of(void** state) {
  return ((fixture*)*state)->context;
}

static void a_reading_is_a_value_with_its_source(void** state) {
  NEW(hmn_metric, m);
  assert_answers(
      hmn_metric_read(context_of(state), 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, 0, &m, &error),
      HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_VALUE | HMN_METRIC_HAS_WINDOW);
  assert_int_equal(m.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(m.device_index, 0);
  assert_int_equal(m.id, HMN_METRIC_TEMPERATURE);
  assert_int_equal(m.instance, HMN_SENSOR_CORE);
  assert_true(m.value == 45.5 && m.window_ns == 7 && m.count == 0 && m.pid == 0);
}

static void a_count_is_whole(void** state) {
  NEW(hmn_metric, m);
  assert_answers(hmn_metric_read(context_of(state), 0, HMN_METRIC_PCIE_REPLAYS, 0, 0, &m, &error),
                 HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_COUNT);
  assert_true(m.count == 3 && m.value == 0);
}

static void a_number_that_is_no_metric_is_out_of_range(void** state) {
  const uint32_t none[] = {0, 19, 39, 99, UINT32_MAX};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i) {
    NEW(hmn_metric, m);
    assert_answers(hmn_metric_read(context_of(state), 0, none[i], 0, 0, &m, &error), HMN_E_RANGE);
    assert_string_equal(hmn_metric_name(none[i]), "unknown");
    assert_string_equal(hmn_metric_unit(none[i]), "");
    assert_string_equal(hmn_metric_instance_name(none[i], 1), "");
  }
}

static void what_the_device_does_not_report_is_unsupported(void** state) {
  hmn_context* context = context_of(state);
  NEW(hmn_metric, m);
  assert_answers(hmn_metric_read(context, 0, HMN_METRIC_VOLTAGE, 0, 0, &m, &error),
                 HMN_E_UNSUPPORTED);
  assert_answers(
      hmn_metric_read(context, 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, 0, &m, &error),
      HMN_E_UNSUPPORTED);
  /* a process' part is not the device's */
  assert_answers(
      hmn_metric_read(context, 0, HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_COPY, 0, &m, &error),
      HMN_E_UNSUPPORTED);
  assert_answers(hmn_metric_read(context, 0, HMN_METRIC_FAN_RPM, 0, 0, &m, &error),
                 HMN_E_PERMISSION);
  assert_answers(hmn_metric_read(context, UNIFIED, HMN_METRIC_FAN_RPM, 0, 0, &m, &error),
                 HMN_E_UNSUPPORTED);
}

static void as_hmn_pool_read_otherwise(void** state) {
  hmn_context* context = context_of(state);
  NEW(hmn_metric, m);
  assert_answers(hmn_metric_read(context, 6, HMN_METRIC_VOLTAGE, 0, 0, &m, &error),
                 HMN_E_NO_DEVICE);
  assert_answers(hmn_metric_read(context, ASLEEP, HMN_METRIC_VOLTAGE, 0, 0, &m, &error),
                 HMN_E_ASLEEP);
  assert_answers(hmn_metric_read(context, LOST, HMN_METRIC_VOLTAGE, 0, 0, &m, &error),
                 HMN_E_DEVICE_LOST);
}

static void a_snapshot_has_each_and_says_what_is_missing(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(f->after, &info, NULL), HMN_OK);
  assert_int_equal(info.metric_count, 3);
  NEW(hmn_metric, m);
  assert_status(hmn_snapshot_metric_at(f->after, 2, &m, NULL), HMN_OK);
  assert_int_equal(m.present, HMN_METRIC_HAS_PID | HMN_METRIC_HAS_COUNT);
  assert_true(m.pid == 4242 && m.count == 9);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reading_is_a_value_with_its_source),
      cmocka_unit_test(a_count_is_whole),
      cmocka_unit_test(a_number_that_is_no_metric_is_out_of_range),
      cmocka_unit_test(what_the_device_does_not_report_is_unsupported),
      cmocka_unit_test(as_hmn_pool_read_otherwise),
      cmocka_unit_test(a_snapshot_has_each_and_says_what_is_missing),
      cmocka_unit_test(names_are_static_texts),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
