/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/machine.h"

#define RAM(resident) "\"host\": {\"self\": {\"resident\": \"" resident "\"}}"
#define OWN_USE(resident, joules, used)                                                 \
  RAM(resident)                                                                         \
  ", \"devices\": [{\"name\": \"NVIDIA Test GPU\", "                                    \
  "\"pools\": [{\"kind\": \"vram\", \"total\": \"16384MiB\", \"used\": \"3000MiB\"}], " \
  "\"telemetry\": {\"energy_joules\": " joules                                          \
  "}, \"processes\": [{\"pid\": \"self\", \"used\": \"" used "\"}]}, {\"name\": \"Other\"}]"
static const char own_use_grows[] =
    "{" OWN_USE("100MiB", "100.5", "500MiB") ", \"changes\": [{\"at_reading\": 2, " OWN_USE(
        "200MiB", "350.75", "1000MiB") "}]}";

/* The caller's own usage is not available, so the device's is used. */
#define DEVICE_USE(resident, used)                                \
  RAM(resident)                                                   \
  ", \"devices\": [{\"name\": \"NVIDIA Test GPU\", \"pools\": [{" \
  "\"kind\": \"vram\", \"total\": \"16384MiB\", \"used\": \"" used "\"}]}]"
static const char device_use_grows[] = "{\"pid_namespace\": \"foreign\", " DEVICE_USE(
    "100MiB", "500MiB") ", \"changes\": [{\"at_reading\": 2, " DEVICE_USE("150MiB", "750MiB") "}]}";

static const char memory_alone[] =
    "{\"host\": {\"self\": {\"resident\": \"80MiB\"}}, \"devices\": [{\"name\": \"NVIDIA Test "
    "GPU\"}], "
    "\"failures\": [{\"call\": \"self\", \"status\": \"backend\"}], "
    "\"changes\": [{\"at_reading\": 2, " RAM("50MiB") "}]}";

typedef struct pair {
  machine m;
  hmn_snapshot* before;
  hmn_snapshot* after;
} pair;

static hmn_snapshot* take(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  options.collect =
      HMN_COLLECT_MEMORY | HMN_COLLECT_POOLS | HMN_COLLECT_SELF | HMN_COLLECT_TELEMETRY;
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_snapshot_take(context, &options, &snapshot, &error), HMN_OK);
  return snapshot;
}

static pair make(const char* json) {
  pair p;
  machine_make(&p.m, json, NULL);
  p.before = take(p.m.context);
  p.after = take(p.m.context);
  return p;
}

static void end(pair* p) {
  hmn_snapshot_destroy(p->before);
  hmn_snapshot_destroy(p->after);
  machine_end(&p->m);
}

static void assert_delta(const pair* p, const char* label, const char* expected) {
  char text[256];
  uint32_t needed = 0;
  assert_status(hmn_report_delta(p->before, p->after, 0, label, HMN_LINE_MB, text, sizeof text,
                                 &needed, NULL),
                HMN_OK);
  assert_string_equal(text, expected);
  assert_int_equal(needed, strlen(expected) + 1);
}

static void assert_before_after(const pair* p, const char* label, const char* expected) {
  char text[256];
  assert_status(hmn_report_before_after(p->before, p->after, 0, label, HMN_LINE_MB, text,
                                        sizeof text, NULL, NULL),
                HMN_OK);
  assert_string_equal(text, expected);
}

static void a_change_of_own_usage_is_marked_as_per_process(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  assert_delta(&p, "alloc", "  alloc: RAM +100 MB  |  VRAM +500 MB [per-process]\n");
  assert_before_after(
      &p, "model_load",
      "  model_load: RAM 100 MB \xE2\x86\x92 200 MB (+100 MB)\n"
      "  model_load: VRAM 500 MB \xE2\x86\x92 1000 MB (+500 MB / 16384 MB) [per-process] "
      "[NVIDIA Test GPU]\n");
  end(&p);
}

static void a_line_has_the_unit_of_its_values(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  char text[256];
  assert_status(hmn_report_delta(p.before, p.after, 0, "alloc", 0, text, sizeof text, NULL, NULL),
                HMN_OK);
  assert_string_equal(text, "  alloc: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n");
  assert_status(
      hmn_report_before_after(p.before, p.after, 0, "load", 0, text, sizeof text, NULL, NULL),
      HMN_OK);
  assert_string_equal(text,
                      "  load: RAM 100 MiB \xE2\x86\x92 200 MiB (+100 MiB)\n"
                      "  load: VRAM 500 MiB \xE2\x86\x92 1000 MiB (+500 MiB / 16384 MiB) "
                      "[per-process] [NVIDIA Test GPU]\n");
  assert_status(hmn_report_delta(p.before, p.after, 0, "alloc", 2, text, sizeof text, NULL, NULL),
                HMN_E_UNKNOWN_FLAG);
  end(&p);
}

static void a_change_of_device_usage_is_marked_as_device_wide(void** state) {
  (void)state;
  pair p = make(device_use_grows);
  assert_delta(&p, "step", "  step: RAM +50 MB  |  VRAM +250 MB [device-wide]\n");
  end(&p);
}

/* The VRAM part is left out if a snapshot lacks it. */
static void a_report_without_vram_has_ram_only(void** state) {
  (void)state;
  pair p = make(memory_alone);
  assert_delta(&p, "free", "  free: RAM -30 MB\n");
  assert_before_after(&p, "cpu_only", "  cpu_only: RAM 80 MB \xE2\x86\x92 50 MB (-30 MB)\n");
  end(&p);
}

static void a_delta_is_after_minus_before(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.before, p.after, 0, &d, NULL), HMN_OK);
  assert_int_equal(d.present, HMN_DELTA_HAS_MEMORY | HMN_DELTA_HAS_DEVICE | HMN_DELTA_HAS_ENERGY);
  assert_int_equal(d.device_index, 0);
  assert_int_equal(d.scope, HMN_DELTA_SCOPE_PROCESS);
  assert_int_equal(d.accounting, HMN_ACCOUNT_ALLOCATED);
  assert_int_equal(d.backend, HMN_BACKEND_SIMULATED);
  assert_true(d.memory_bytes == 100 * 1024 * 1024 && d.device_bytes == 500 * 1024 * 1024);
  assert_true(d.energy_joules == 250.25);
  NEW(hmn_snapshot_info, before);
  NEW(hmn_snapshot_info, after);
  assert_status(hmn_snapshot_read(p.before, &before, NULL), HMN_OK);
  assert_status(hmn_snapshot_read(p.after, &after, NULL), HMN_OK);
  assert_true(d.elapsed_ns == after.monotonic_ns - before.monotonic_ns);
  end(&p);
}

static void a_decrease_is_negative(void** state) {
  (void)state;
  pair p = make(memory_alone);
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.before, p.after, 0, &d, NULL), HMN_OK);
  assert_int_equal(d.present, HMN_DELTA_HAS_MEMORY);
  assert_true(d.memory_bytes == -30 * 1024 * 1024);
  assert_true(d.device_bytes == 0 && d.scope == HMN_DELTA_SCOPE_NONE);
  end(&p);
}

/* HMN_E_ARGUMENT: `after` was taken before `before`. */
static void snapshots_in_the_wrong_order_are_refused(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.after, p.before, 0, &d, NULL), HMN_E_ARGUMENT);
  end(&p);
}

/* HMN_E_NO_DEVICE: neither snapshot has the device. */
static void a_device_in_neither_snapshot_is_reported_as_no_device(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.before, p.after, 2, &d, NULL), HMN_E_NO_DEVICE);
  end(&p);
}

static pair make_without_device(const char* before, const char* after) {
  char json[512];
  snprintf(json, sizeof json,
           "{\"host\": {\"self\": {\"resident\": \"%s\"}}, \"devices\": [], \"changes\": "
           "[{\"at_reading\": 2, \"host\": {\"self\": {\"resident\": \"%s\"}}}]}",
           before, after);
  return make(json);
}

/* On a machine without a GPU the line has RAM only. */
static void a_report_without_a_device_has_ram_only(void** state) {
  (void)state;
  pair p = make_without_device("50MiB", "80MiB");
  assert_delta(&p, "cpu", "  cpu: RAM +30 MB\n");
  end(&p);
  p = make_without_device("100MiB", "150MiB");
  assert_before_after(&p, "cpu_only", "  cpu_only: RAM 100 MB \xE2\x86\x92 150 MB (+50 MB)\n");
  end(&p);
}

/* HMN_E_EMPTY: a snapshot lacks host memory; the snapshots have no value in common. */
static void a_report_without_host_memory_is_empty(void** state) {
  (void)state;
  pair p = make(
      "{\"devices\": [{\"name\": \"GPU\"}], \"failures\": [{\"call\": \"self\", \"status\": "
      "\"backend\"}]}");
  NEW(hmn_delta, d);
  char text[64];
  assert_status(hmn_delta_read(p.before, p.after, 0, &d, NULL), HMN_E_EMPTY);
  assert_status(hmn_report_delta(p.before, p.after, 0, "a", 0, text, sizeof text, NULL, NULL),
                HMN_E_EMPTY);
  assert_status(
      hmn_report_before_after(p.before, p.after, 0, "a", 0, text, sizeof text, NULL, NULL),
      HMN_E_EMPTY);
  end(&p);
}

static void a_change_above_63_bits_is_an_overflow(void** state) {
  (void)state;
  pair p = make(
      "{\"host\": {\"self\": {\"resident\": 0}}, \"devices\": [{\"name\": \"GPU\"}], \"changes\": "
      "[{\"at_reading\": 2, \"host\": {\"self\": {\"resident\": 18446744073709551615}}}]}");
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.before, p.after, 0, &d, NULL), HMN_E_OVERFLOW);
  end(&p);
}

static void a_snapshot_compared_with_itself_has_no_change(void** state) {
  (void)state;
  pair p = make(own_use_grows);
  NEW(hmn_delta, d);
  assert_status(hmn_delta_read(p.before, p.before, 0, &d, NULL), HMN_OK);
  assert_true(d.memory_bytes == 0 && d.device_bytes == 0 && d.elapsed_ns == 0 &&
              d.energy_joules == 0);
  end(&p);
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void a_label_that_is_not_utf8_gives_a_line_in_utf8(void** state) {
  (void)state;
  pair p = make(memory_alone);
  char text[256];
  assert_status(
      hmn_report_delta(p.before, p.after, 0, "bad \xFF\xC3( end", 0, text, sizeof text, NULL, NULL),
      HMN_OK);
  assert_text(text, sizeof text);
  assert_non_null(strstr(text, "bad \xEF\xBF\xBD"));
  end(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_change_of_own_usage_is_marked_as_per_process),
      cmocka_unit_test(a_line_has_the_unit_of_its_values),
      cmocka_unit_test(a_change_of_device_usage_is_marked_as_device_wide),
      cmocka_unit_test(a_report_without_vram_has_ram_only),
      cmocka_unit_test(a_delta_is_after_minus_before),
      cmocka_unit_test(a_decrease_is_negative),
      cmocka_unit_test(snapshots_in_the_wrong_order_are_refused),
      cmocka_unit_test(a_device_in_neither_snapshot_is_reported_as_no_device),
      cmocka_unit_test(a_report_without_a_device_has_ram_only),
      cmocka_unit_test(a_report_without_host_memory_is_empty),
      cmocka_unit_test(a_change_above_63_bits_is_an_overflow),
      cmocka_unit_test(a_snapshot_compared_with_itself_has_no_change),
      cmocka_unit_test(a_label_that_is_not_utf8_gives_a_line_in_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
