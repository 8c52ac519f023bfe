/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rule: a missing value has a reason, the most specific one that is known.
 */
#include "support/calls.h"
#include "support/keys.h"
#include "support/machine.h"

#define POOL "\"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", \"used\": 0}]"
#define FAILS(call, status)                                       \
  "\"failures\": [{\"call\": \"" call "\", \"status\": \"" status \
  "\", \"message\": \"as "                                        \
  "given\"}]"

static hmn_snapshot* take_snapshot(const machine* m, hmn_flags collect) {
  NEW(hmn_snapshot_options, options);
  options.collect = collect;
  hmn_snapshot* s = NULL;
  assert_returns(hmn_snapshot_take(m->context, &options, &s, &error), HMN_OK);
  return s;
}

static hmn_diagnostic find_reason(const char* json, hmn_flags subject, hmn_fields field,
                                  uint32_t metric) {
  machine m;
  machine_make(&m, json, NULL);
  hmn_snapshot* s = take_snapshot(
      &m, HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS | HMN_COLLECT_SELF);
  NEW(hmn_diagnostic, reason);
  NEW(hmn_reason_key, key);
  key.subject = subject;
  key.field = field;
  key.metric = metric;
  assert_status(hmn_snapshot_reason(s, &key, &reason, NULL), HMN_OK);
  hmn_snapshot_destroy(s);
  machine_end(&m);
  assert_true((reason.present & HMN_DIAGNOSTIC_HAS_DEVICE) != 0);
  assert_int_equal(reason.device_index, 0);
  assert_true(reason.message[0] != 0);
  return reason;
}

static hmn_diagnostic read_field_reason(const char* json, hmn_flags subject, hmn_fields field) {
  return find_reason(json, subject, field, 0);
}

static void the_reason_follows_from_the_status(void** state) {
  (void)state;
  const struct {
    const char* status;
    uint32_t reason;
  } rows[] = {{"unsupported", HMN_REASON_UNSUPPORTED},
              {"no_source", HMN_REASON_NOT_PRESENT},
              {"no_device", HMN_REASON_NOT_PRESENT},
              {"no_process", HMN_REASON_NOT_PRESENT},
              {"permission", HMN_REASON_NOT_PERMITTED},
              {"timeout", HMN_REASON_TIMED_OUT},
              {"device_lost", HMN_REASON_LOST},
              {"backend", HMN_REASON_FAILED},
              {"asleep", HMN_REASON_ASLEEP},
              {"limit", HMN_REASON_LIMIT},
              {"no_memory", HMN_REASON_LIMIT}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{\"devices\": [{\"name\": \"GPU\", " POOL
                   ", \"failures\": [{\"call\": "
                   "\"telemetry\", \"status\": \"%s\", \"message\": \"as given\"}]}]}",
                   rows[i].status);
    const hmn_diagnostic reason = read_field_reason(json, HMN_COLLECT_TELEMETRY, 0);
    assert_string_equal(reason.message, "as given");
    assert_int_equal(reason.reason, rows[i].reason);
  }
}

static void assert_not_permitted(const hmn_error* error) {
  assert_int_equal(error->reason, HMN_REASON_NOT_PERMITTED);
  assert_int_equal(error->backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(error->native_domain, HMN_NATIVE_NVML);
  assert_int_equal(error->native_code, 4);
  assert_string_equal(error->message, "as given");
}

static void an_error_has_the_same_reason_as_a_diagnostic(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", " POOL
               ", \"failures\": [{\"call\": \"telemetry\", \"status\": \"permission\", \"native\": "
               "{\"domain\": \"nvml\", \"code\": 4}, \"message\": \"as given\"}]}]}",
               NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_error, direct);
  NEW(hmn_error, later);
  assert_status(hmn_telemetry_read(m.context, 0, 0, &telemetry, &direct), HMN_E_PERMISSION);
  assert_not_permitted(&direct);
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, &later), HMN_E_EMPTY);
  assert_not_permitted(&later);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* No value is missing. */
static void the_error_of_an_invalid_call_has_no_reason(void** state) {
  (void)state;
  const uint64_t sizes[] = {UINT64_MAX, 1};
  uint64_t bytes = 0;
  machine m;
  machine_make(&m, "{\"devices\": [{\"name\": \"GPU\", " POOL "}]}", NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_POOLS);
  NEW(hmn_pool, pool);
  NEW(hmn_usage, usage);
  NEW(hmn_process_memory, memory);
  NEW(hmn_error, error);
  assert_status(hmn_pool_read(m.context, 0, 99, 0, 0, &pool, &error), HMN_E_RANGE);
  assert_int_equal(error.reason, HMN_REASON_UNKNOWN);
  assert_status(hmn_snapshot_pool_at(s, 4711, &pool, &error), HMN_E_RANGE);
  assert_int_equal(error.reason, HMN_REASON_UNKNOWN);
  assert_status(hmn_estimate_sum(sizes, 2, &bytes, &error), HMN_E_OVERFLOW);
  assert_int_equal(error.reason, HMN_REASON_UNKNOWN);
  assert_status(hmn_snapshot_find_self(s, 0, &usage, &error), HMN_E_EMPTY);
  assert_int_equal(error.reason, HMN_REASON_UNKNOWN);
  assert_status(hmn_snapshot_memory(s, &memory, &error), HMN_E_EMPTY);
  assert_int_equal(error.reason, HMN_REASON_UNKNOWN);
  assert_status(hmn_pool_read(m.context, 4711, 0, 0, 0, &pool, &error), HMN_E_NO_DEVICE);
  assert_int_equal(error.reason, HMN_REASON_NOT_PRESENT);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void an_impossible_value_is_implausible(void** state) {
  (void)state;
  const hmn_diagnostic reason =
      read_field_reason("{\"devices\": [{\"name\": \"GPU\", " POOL
                        ", \"telemetry\": {\"temperature_celsius\": 512, \"power_watts\": 1}}]}",
                        HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE);
  assert_int_equal(reason.reason, HMN_REASON_IMPLAUSIBLE);
  assert_int_equal(reason.status, HMN_E_BACKEND);
  const hmn_diagnostic self_reason =
      read_field_reason("{\"devices\": [{\"name\": \"GPU\", " POOL
                        ", \"processes\": [{\"pid\": \"self\", \"used\": \"300TiB\"}]}]}",
                        HMN_COLLECT_SELF, HMN_USAGE_HAS_USED);
  assert_int_equal(self_reason.reason, HMN_REASON_IMPLAUSIBLE);
}

/* Two processes of 600 MiB that share memory, on a device of which 1 GiB is used. */
static void unattributed_memory_is_ambiguous_if_processes_share(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": "
               "\"4GiB\", \"used\": \"1GiB\"}], \"processes\": [{\"pid\": 7, \"used\": "
               "\"600MiB\", \"shared\": \"300MiB\"}, {\"pid\": 8, \"used\": \"600MiB\", "
               "\"shared\": \"300MiB\"}]}]}",
               NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  NEW(hmn_diagnostic, reason);
  assert_status(read_reason(s, 0, HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED, &reason), HMN_OK);
  assert_int_equal(reason.reason, HMN_REASON_AMBIGUOUS);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void a_failed_call_is_the_reason_for_its_subject(void** state) {
  (void)state;
  const char* const json =
      "{\"devices\": [{\"name\": \"GPU\", " POOL ", " FAILS("pools", "permission") "}]}";
  const hmn_fields fields[] = {0, HMN_POOL_HAS_USED, HMN_POOL_HAS_BUDGET};
  for (size_t i = 0; i < 3; ++i) {
    const hmn_diagnostic reason = read_field_reason(json, HMN_COLLECT_POOLS, fields[i]);
    assert_int_equal(reason.status, HMN_E_PERMISSION);
    assert_string_equal(reason.message, "as given");
  }
}

/* Another field of the same subject has another reason. */
static void a_failed_call_does_not_explain_another_subject(void** state) {
  (void)state;
  const char* const json =
      "{\"devices\": [{\"name\": \"GPU\", " POOL ", " FAILS("pools", "permission") "}]}";
  const hmn_diagnostic reason =
      read_field_reason(json, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER);
  assert_int_equal(reason.status, HMN_E_UNSUPPORTED);
}

static void a_metric_has_its_own_reason(void** state) {
  (void)state;
  const char* const json =
      "{\"devices\": [{\"name\": \"GPU\", \"metrics\": [{\"metric\": \"fan_rpm\", \"missing\": "
      "{\"status\": \"permission\", \"message\": \"only root\"}}]}]}";
  const hmn_diagnostic missing = find_reason(json, HMN_COLLECT_METRICS, 0, HMN_METRIC_FAN_RPM);
  assert_string_equal(missing.message, "only root");
  assert_int_equal(missing.reason, HMN_REASON_NOT_PERMITTED);
  assert_int_equal(missing.present, HMN_DIAGNOSTIC_HAS_DEVICE | HMN_DIAGNOSTIC_HAS_METRIC |
                                        HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE);
  assert_int_equal(missing.metric, HMN_METRIC_FAN_RPM);
  assert_int_equal(missing.field, 0);
  const hmn_diagnostic other = find_reason(json, HMN_COLLECT_METRICS, 0, HMN_METRIC_CLOCK_MHZ);
  assert_int_equal(other.reason, HMN_REASON_UNSUPPORTED);
  assert_int_equal(other.metric, HMN_METRIC_CLOCK_MHZ);
}

static void a_device_that_cannot_be_read_explains_all_its_values(void** state) {
  (void)state;
  const struct {
    const char* json;
    hmn_status status;
    uint32_t reason;
  } states[] = {{"{\"devices\": [{\"name\": \"GPU\", \"state\": \"asleep\", " POOL "}]}",
                 HMN_E_ASLEEP, HMN_REASON_ASLEEP},
                {"{\"devices\": [{\"name\": \"GPU\", \"state\": \"lost\", " POOL "}]}",
                 HMN_E_DEVICE_LOST, HMN_REASON_LOST},
                {"{\"devices\": [{\"name\": \"GPU\", \"state\": \"unreadable\", " POOL "}]}",
                 HMN_E_BACKEND, HMN_REASON_FAILED}};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; ++i) {
    const hmn_flags subjects[] = {HMN_COLLECT_POOLS, HMN_COLLECT_TELEMETRY, HMN_COLLECT_METRICS};
    for (size_t j = 0; j < 3; ++j) {
      const uint32_t is_metric = subjects[j] == HMN_COLLECT_METRICS;
      const hmn_diagnostic diagnostic =
          find_reason(states[i].json, subjects[j], 1 - is_metric, is_metric);
      assert_int_equal(diagnostic.status, states[i].status);
      assert_int_equal(diagnostic.reason, states[i].reason);
    }
  }
}

static void missing_usable_memory_has_its_own_reason(void** state) {
  (void)state;
  const hmn_diagnostic reason = read_field_reason("{\"devices\": [{\"name\": \"GPU\", " POOL
                                                  ", \"partitions\": [{\"name\": \"MIG\"}]}]}",
                                                  HMN_COLLECT_POOLS, HMN_POOL_HAS_USABLE);
  assert_int_equal(reason.status, HMN_E_UNSUPPORTED);
  assert_int_equal(reason.field, HMN_POOL_HAS_USABLE);
  assert_true(strstr(reason.message, "partitions") != NULL);
}

static void an_invalid_reason_key_is_refused(void** state) {
  (void)state;
  machine m;
  machine_make(&m, "{\"devices\": [{\"name\": \"GPU\", " POOL "}]}", NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_POOLS);
  NEW(hmn_diagnostic, reason);
  const hmn_flags subjects[] = {0, HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY, 1U << 31};
  for (size_t i = 0; i < 3; ++i) {
    assert_status(read_reason(s, 0, subjects[i], 0, &reason), HMN_E_RANGE);
  }
  assert_status(read_reason(s, 0, HMN_COLLECT_TELEMETRY, 0, &reason), HMN_E_EMPTY);
  assert_status(read_reason(s, 1, HMN_COLLECT_POOLS, 0, &reason), HMN_E_NO_DEVICE);
  assert_status(read_reason(NULL, 0, HMN_COLLECT_POOLS, 0, &reason), HMN_E_ARGUMENT);
  assert_status(read_reason(s, 0, HMN_COLLECT_POOLS, 0, NULL), HMN_E_ARGUMENT);
  assert_status(hmn_snapshot_reason(s, NULL, &reason, NULL), HMN_E_ARGUMENT);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* Two sensors, two pools and two processes, each without a value for a reason of its own. */
#define THREE_REASONS                                                                           \
  "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", "   \
  "\"free\": 0, \"used\": \"2GiB\"}, {\"kind\": \"host\", \"total\": \"1GiB\", \"used\": 0}], " \
  "\"metrics\": [{\"metric\": \"temperature\", \"instance\": \"core\", \"missing\": "           \
  "{\"status\": \"permission\", \"message\": \"core: only root\"}}, {\"metric\": "              \
  "\"temperature\", \"instance\": \"memory\", \"missing\": {\"status\": \"backend\", "          \
  "\"message\": \"memory: broken\"}}], \"processes\": [{\"pid\": 7, \"missing\": {\"status\": " \
  "\"permission\", \"message\": \"7: only root\"}}, {\"pid\": 8, \"missing\": {\"status\": "    \
  "\"backend\", \"message\": \"8: broken\"}}]}]}"

static hmn_diagnostic find_reason_by_key(const machine* m, const hmn_reason_key* key) {
  hmn_snapshot* s =
      take_snapshot(m, HMN_COLLECT_POOLS | HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES);
  NEW(hmn_diagnostic, reason);
  assert_status(hmn_snapshot_reason(s, key, &reason, NULL), HMN_OK);
  hmn_snapshot_destroy(s);
  return reason;
}

static void each_sensor_has_its_own_reason(void** state) {
  (void)state;
  machine m;
  machine_make(&m, THREE_REASONS, NULL);
  NEW(hmn_reason_key, key);
  key.subject = HMN_COLLECT_METRICS;
  key.metric = HMN_METRIC_TEMPERATURE;
  key.metric_instance = HMN_SENSOR_MEMORY;
  hmn_diagnostic reason = find_reason_by_key(&m, &key);
  assert_string_equal(reason.message, "memory: broken");
  assert_int_equal(reason.present, HMN_DIAGNOSTIC_HAS_DEVICE | HMN_DIAGNOSTIC_HAS_METRIC |
                                       HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE);
  assert_int_equal(reason.metric_instance, HMN_SENSOR_MEMORY);
  key.metric_instance = HMN_SENSOR_CORE;
  reason = find_reason_by_key(&m, &key);
  assert_string_equal(reason.message, "core: only root");
  /* No source reported the hotspot. */
  key.metric_instance = HMN_SENSOR_HOTSPOT;
  reason = find_reason_by_key(&m, &key);
  assert_int_equal(reason.status, HMN_E_UNSUPPORTED);
  assert_int_equal(reason.metric_instance, HMN_SENSOR_HOTSPOT);
  machine_end(&m);
}

static void each_pool_has_its_own_reason(void** state) {
  (void)state;
  machine m;
  machine_make(&m, THREE_REASONS, NULL);
  NEW(hmn_reason_key, key);
  key.subject = HMN_COLLECT_POOLS;
  key.pool = HMN_POOL_VRAM;
  key.field = HMN_POOL_HAS_USED;
  hmn_diagnostic reason = find_reason_by_key(&m, &key);
  assert_int_equal(reason.reason, HMN_REASON_IMPLAUSIBLE);
  assert_true((reason.present & HMN_DIAGNOSTIC_HAS_POOL) != 0);
  assert_int_equal(reason.pool, HMN_POOL_VRAM);
  assert_int_equal(reason.pool_instance, 0);
  /* VRAM is the main pool. */
  key.pool = HMN_POOL_MAIN;
  assert_int_equal(find_reason_by_key(&m, &key).reason, HMN_REASON_IMPLAUSIBLE);
  key.pool = HMN_POOL_HOST;
  assert_int_equal(find_reason_by_key(&m, &key).reason, HMN_REASON_UNSUPPORTED);
  machine_end(&m);
}

static void each_process_has_its_own_reason(void** state) {
  (void)state;
  machine m;
  machine_make(&m, THREE_REASONS, NULL);
  NEW(hmn_reason_key, key);
  key.subject = HMN_COLLECT_PROCESSES;
  key.field = HMN_USAGE_HAS_USED;
  key.pid = 7;
  assert_string_equal(find_reason_by_key(&m, &key).message, "7: only root");
  key.pid = 8;
  const hmn_diagnostic reason = find_reason_by_key(&m, &key);
  assert_string_equal(reason.message, "8: broken");
  assert_int_equal(reason.pid, 8);
  /* Neither explains a process that is not listed. */
  key.pid = 9;
  assert_int_equal(find_reason_by_key(&m, &key).reason, HMN_REASON_UNSUPPORTED);
  machine_end(&m);
}

static void the_host_has_reasons_without_a_device(void** state) {
  (void)state;
  machine m;
  machine_make(&m, "{\"system\": null, \"devices\": []}", NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_SYSTEM);
  NEW(hmn_diagnostic, reason);
  NEW(hmn_reason_key, key);
  key.subject = HMN_COLLECT_SYSTEM;
  assert_status(hmn_snapshot_reason(s, &key, &reason, NULL), HMN_OK);
  assert_int_equal(reason.subject, HMN_COLLECT_SYSTEM);
  assert_int_equal(reason.present & HMN_DIAGNOSTIC_HAS_DEVICE, 0);
  assert_true(reason.message[0] != 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* Every field, with a subject that does not use it. */
static void a_key_field_that_the_subject_does_not_use_must_be_zero(void** state) {
  (void)state;
  machine m;
  machine_make(&m, THREE_REASONS, NULL);
  hmn_snapshot* s = take_snapshot(&m, HMN_COLLECT_POOLS | HMN_COLLECT_METRICS | HMN_COLLECT_SYSTEM);
  const struct {
    hmn_reason_key key;
    hmn_status status;
    const char* message;
  } rows[] = {
      {{.subject = HMN_COLLECT_SYSTEM, .device_index = 1},
       HMN_E_ARGUMENT,
       "device_index: 1, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_POOLS, .pid = 7},
       HMN_E_ARGUMENT,
       "pid: 7, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_SELF, .pid = 7},
       HMN_E_ARGUMENT,
       "pid: 7, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_TELEMETRY, .pool = 1},
       HMN_E_ARGUMENT,
       "pool: 1, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_METRICS, .pool_instance = 1},
       HMN_E_ARGUMENT,
       "pool_instance: 1, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_POOLS, .metric = 20},
       HMN_E_ARGUMENT,
       "metric: 20, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_METRICS, .metric_instance = 1},
       HMN_E_ARGUMENT,
       "metric_instance: 1, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_METRICS, .metric = 20, .field = 1},
       HMN_E_ARGUMENT,
       "field: 1, expected 0 for this subject"},
      {{.subject = HMN_COLLECT_METRICS, .metric = HMN_METRIC_LAST_FAULT, .metric_instance = 1},
       HMN_E_ARGUMENT,
       "metric_instance: 1, but last_fault has no instances: expected 0"},
      {{.subject = HMN_COLLECT_METRICS, .metric = 9999},
       HMN_E_RANGE,
       "metric: 9999 is not a known metric"},
      {{.subject = HMN_COLLECT_POOLS, .pool = 99}, HMN_E_RANGE, "pool: 99 is not a pool kind"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    NEW(hmn_diagnostic, reason);
    NEW(hmn_error, error);
    hmn_reason_key key = rows[i].key;
    key.struct_size = sizeof key;
    assert_status(hmn_snapshot_reason(s, &key, &reason, &error), rows[i].status);
    assert_string_equal(error.message, rows[i].message);
  }
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_call_is_the_reason_for_its_subject),
      cmocka_unit_test(a_failed_call_does_not_explain_another_subject),
      cmocka_unit_test(the_reason_follows_from_the_status),
      cmocka_unit_test(an_error_has_the_same_reason_as_a_diagnostic),
      cmocka_unit_test(the_error_of_an_invalid_call_has_no_reason),
      cmocka_unit_test(an_impossible_value_is_implausible),
      cmocka_unit_test(unattributed_memory_is_ambiguous_if_processes_share),
      cmocka_unit_test(a_metric_has_its_own_reason),
      cmocka_unit_test(a_device_that_cannot_be_read_explains_all_its_values),
      cmocka_unit_test(missing_usable_memory_has_its_own_reason),
      cmocka_unit_test(an_invalid_reason_key_is_refused),
      cmocka_unit_test(each_sensor_has_its_own_reason),
      cmocka_unit_test(each_pool_has_its_own_reason),
      cmocka_unit_test(each_process_has_its_own_reason),
      cmocka_unit_test(the_host_has_reasons_without_a_device),
      cmocka_unit_test(a_key_field_that_the_subject_does_not_use_must_be_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
