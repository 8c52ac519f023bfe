/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: device 0 has every value except the fan speed in RPM.
 */
#include "support/calls.h"
#include "support/machine.h"

static const hmn_fields ALL = HMN_PRESENCE(21) - 1;
enum { UNIFIED = 1, WITH_INSTANCE = 2, ASLEEP = 3, LOST = 4 };

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static void every_value_of_the_device_is_reported(void** state) {
  NEW(hmn_telemetry, t);
  assert_returns(hmn_telemetry_read(fixture_context(state), 0, ALL, &t, &error), HMN_OK);
  assert_int_equal(t.present, ALL & ~HMN_TELEMETRY_HAS_FAN_RPM);
  assert_int_equal(t.device_index, 0);
  assert_int_equal(t.backend, HMN_BACKEND_SIMULATED);
  assert_true(t.backends == UINT64_C(1) << HMN_BACKEND_SIMULATED);
  assert_true(t.gpu_busy_percent == 64.25 && t.memory_busy_percent == 12);
  assert_true(t.encoder_busy_percent == 1 && t.decoder_busy_percent == 2);
  assert_true(t.temperature_celsius == 45 && t.hotspot_celsius == 57.5 && t.memory_celsius == 60);
  assert_true(t.power_watts == 123.5 && t.power_limit_watts == 300 && t.energy_joules == 5000.25);
  assert_int_equal(t.core_clock_mhz, 2520);
  assert_int_equal(t.memory_clock_mhz, 9001);
  assert_int_equal(t.fan_percent, 105);
  assert_int_equal(t.pcie_generation, 4);
  assert_int_equal(t.pcie_width, 16);
  assert_true(t.pcie_rx_bytes == UINT64_MAX && t.pcie_tx_bytes == 1);
  assert_int_equal(t.window_ns, 166000000);
  assert_int_equal(t.throttle, HMN_THROTTLE_POWER | HMN_THROTTLE_THERMAL);
  assert_int_equal(t.p_state, 0);
  assert_int_equal(t.fan_rpm, 0);
}

/* HMN_NOTE_PARTIAL: a requested field is missing. */
static void a_missing_value_makes_the_result_partial(void** state) {
  NEW(hmn_telemetry, t);
  const hmn_fields fields = HMN_TELEMETRY_HAS_FAN_RPM | HMN_TELEMETRY_HAS_POWER;
  assert_returns(hmn_telemetry_read(fixture_context(state), 0, fields, &t, &error), HMN_OK);
  assert_int_equal(t.notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
  assert_int_equal(t.present & fields, HMN_TELEMETRY_HAS_POWER);
  NEW(hmn_telemetry, complete);
  assert_returns(
      hmn_telemetry_read(fixture_context(state), 0, HMN_TELEMETRY_HAS_POWER, &complete, &error),
      HMN_OK);
  assert_int_equal(complete.notes & HMN_NOTE_PARTIAL, 0);
}

static void each_value_can_be_requested_alone(void** state) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const hmn_fields field = HMN_PRESENCE(bit);
    if ((ALL & field) == 0) continue;
    const hmn_status expected = field == HMN_TELEMETRY_HAS_FAN_RPM ? HMN_E_UNSUPPORTED : HMN_OK;
    NEW(hmn_telemetry, t);
    assert_returns(hmn_telemetry_read(fixture_context(state), 0, field, &t, &error), expected);
    assert_int_equal(t.present & field, expected == HMN_OK ? field : 0);
  }
}

static void fields_of_0_select_the_cheap_values(void** state) {
  NEW(hmn_telemetry, t);
  assert_returns(hmn_telemetry_read(fixture_context(state), 0, 0, &t, &error), HMN_OK);
  const hmn_fields cheap =
      HMN_TELEMETRY_HAS_GPU_BUSY | HMN_TELEMETRY_HAS_TEMPERATURE | HMN_TELEMETRY_HAS_POWER;
  assert_int_equal(t.present & cheap, cheap);
}

/* HMN_E_UNSUPPORTED: the device has none of the values. */
static void a_request_for_missing_values_alone_is_unsupported(void** state) {
  NEW(hmn_telemetry, t);
  hmn_context* context = fixture_context(state);
  assert_returns(hmn_telemetry_read(context, UNIFIED, HMN_TELEMETRY_HAS_ENERGY, &t, &error),
                 HMN_E_UNSUPPORTED);
  assert_returns(hmn_telemetry_read(context, WITH_INSTANCE, 0, &t, &error), HMN_E_UNSUPPORTED);
}

static void a_device_that_cannot_be_read_is_an_error(void** state) {
  NEW(hmn_telemetry, t);
  hmn_context* context = fixture_context(state);
  assert_returns(hmn_telemetry_read(context, 6, 0, &t, &error), HMN_E_NO_DEVICE);
  assert_returns(hmn_telemetry_read(context, ASLEEP, 0, &t, &error), HMN_E_ASLEEP);
  assert_returns(hmn_telemetry_read(context, LOST, 0, &t, &error), HMN_E_DEVICE_LOST);
}

/* 0 is a value, so its bit is set. */
static void zero_is_distinguished_from_unknown(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", \"telemetry\": {\"fan_percent\": 0, "
               "\"power_watts\": 0}}]}",
               NULL);
  NEW(hmn_telemetry, t);
  assert_returns(hmn_telemetry_read(m.context, 0, ALL, &t, &error), HMN_OK);
  assert_int_equal(t.present, HMN_TELEMETRY_HAS_FAN_PERCENT | HMN_TELEMETRY_HAS_POWER);
  assert_true(t.power_watts == 0);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_of_the_device_is_reported),
      cmocka_unit_test(a_missing_value_makes_the_result_partial),
      cmocka_unit_test(each_value_can_be_requested_alone),
      cmocka_unit_test(fields_of_0_select_the_cheap_values),
      cmocka_unit_test(a_request_for_missing_values_alone_is_unsupported),
      cmocka_unit_test(a_device_that_cannot_be_read_is_an_error),
      cmocka_unit_test(zero_is_distinguished_from_unknown),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
