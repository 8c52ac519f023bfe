/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: 0 discrete, 1 unified, 2 with an instance, 3 asleep, 4 lost, 5 the
 * instance.
 */
#include "support/calls.h"
#include "support/child.h"
#include "support/keys.h"
#include "support/machine.h"

enum { ASLEEP = 3, LOST = 4, INSTANCE = 5, DEVICES = 6 };
static const uint64_t mib = 1024 * 1024;

static const hmn_snapshot* fixture_snapshot(void** state) {
  return ((fixture*)*state)->after;
}

static hmn_snapshot_info read_info(const hmn_snapshot* snapshot) {
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  return info;
}

static hmn_snapshot* take(hmn_context* context, hmn_flags collect, hmn_flags flags, uint32_t device,
                          uint32_t pid) {
  NEW(hmn_snapshot_options, options);
  options.collect = collect;
  options.flags = flags;
  options.device_index = device;
  options.pid = pid;
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_snapshot_take(context, &options, &snapshot, &error), HMN_OK);
  return snapshot;
}

static void a_snapshot_has_its_start_time_and_duration(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  const uint64_t unix_before = unix_now_ns(), before = now_ns();
  hmn_snapshot* snapshot = take(context, EVERYTHING, 0, 0, 0);
  const uint64_t unix_after = unix_now_ns(), after = now_ns();
  const hmn_snapshot_info info = read_info(snapshot);
  assert_true(info.unix_time_ns >= unix_before && info.unix_time_ns <= unix_after);
  assert_true(info.monotonic_ns >= before && info.monotonic_ns <= after);
  assert_true(info.duration_ns > 0 && info.duration_ns <= after - before);
  hmn_snapshot_destroy(snapshot);
}

static void a_snapshot_counts_its_rows(void** state) {
  const hmn_snapshot_info info = read_info(fixture_snapshot(state));
  assert_int_equal(info.collect, EVERYTHING);
  assert_int_equal(info.device_count, DEVICES);
  assert_int_equal(info.pool_count, 5); /* two of device 0, one of 1, 2 and the instance */
  assert_int_equal(info.usage_count, 4);
  assert_true(info.diagnostic_count > 0);
}

static void devices_are_ordered_by_index(void** state) {
  for (uint32_t i = 0; i < DEVICES; ++i) {
    NEW(hmn_device, device);
    assert_status(hmn_snapshot_device_at(fixture_snapshot(state), i, &device, NULL), HMN_OK);
    assert_int_equal(device.index, i);
  }
}

/* By device index, the main pool first. */
static void pools_are_ordered_by_device_with_the_main_pool_first(void** state) {
  static const struct {
    uint32_t device, kind, is_main;
  } expected[] = {{0, HMN_POOL_VRAM, 1},
                  {0, HMN_POOL_HOST, 0},
                  {1, HMN_POOL_UNIFIED, 1},
                  {2, HMN_POOL_VRAM, 1},
                  {INSTANCE, HMN_POOL_VRAM, 1}};
  for (uint32_t i = 0; i < 5; ++i) {
    NEW(hmn_pool, pool);
    assert_status(hmn_snapshot_pool_at(fixture_snapshot(state), i, &pool, NULL), HMN_OK);
    assert_int_equal(pool.device_index, expected[i].device);
    assert_int_equal(pool.kind, expected[i].kind);
    assert_int_equal(pool.is_main, expected[i].is_main);
  }
}

/* By device index, then pid. */
static void usages_are_ordered_by_device_and_pid(void** state) {
  uint32_t last_device = 0, last_pid = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(fixture_snapshot(state), i, &u, NULL), HMN_OK);
    assert_true(u.device_index > last_device ||
                (u.device_index == last_device && u.pid > last_pid));
    last_device = u.device_index;
    last_pid = u.pid;
  }
  assert_int_equal(last_device, INSTANCE);
}

/* On a snapshot of device 1 alone, which is at position 0. */
static void a_device_never_has_the_values_of_another(void** state) {
  const fixture* f = *state;
  NEW(hmn_snapshot_options, options);
  options.flags = HMN_SNAPSHOT_ONE_DEVICE;
  options.device_index = 1;
  options.collect = EVERYTHING;
  hmn_snapshot* s = NULL;
  assert_returns(hmn_snapshot_take(f->context, &options, &s, &error), HMN_OK);
  NEW(hmn_device, device);
  assert_status(hmn_snapshot_device_at(s, 0, &device, NULL), HMN_OK);
  assert_int_equal(device.index, 1);
  assert_status(hmn_snapshot_device_at(s, 1, &device, NULL), HMN_E_RANGE);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_usage, usage);
  NEW(hmn_pool, pool);
  NEW(hmn_diagnostic, diagnostic);
  char line[256];
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, NULL), HMN_E_NO_DEVICE);
  assert_status(hmn_snapshot_find_self(s, 0, &usage, NULL), HMN_E_NO_DEVICE);
  assert_status(hmn_snapshot_find_pool(s, 0, HMN_POOL_MAIN, 0, &pool, NULL), HMN_E_NO_DEVICE);
  assert_status(read_reason(s, 0, HMN_COLLECT_POOLS, 0, &diagnostic), HMN_E_NO_DEVICE);
  assert_status(hmn_format_device(s, 0, HMN_FORMAT_FREE, 0, line, sizeof line, NULL, NULL),
                HMN_E_NO_DEVICE);
  assert_status(hmn_snapshot_find_pool(s, 1, HMN_POOL_MAIN, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.device_index, 1);
  assert_true(pool.is_main == 1);
  assert_status(hmn_snapshot_find_pool(s, 1, HMN_POOL_STOLEN + 1, 0, &pool, NULL), HMN_E_RANGE);
  const hmn_status status = hmn_snapshot_find_telemetry(s, 1, &telemetry, NULL);
  assert_true(status == HMN_OK || status == HMN_E_EMPTY);
  if (status == HMN_OK) assert_int_equal(telemetry.device_index, 1);
  hmn_snapshot_destroy(s);
}

static void a_position_past_the_end_is_out_of_range(void** state) {
  const hmn_snapshot* s = fixture_snapshot(state);
  const hmn_snapshot_info info = read_info(s);
  const uint32_t past[] = {0, 1, 1000, UINT32_MAX};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_device, device);
    NEW(hmn_usage, usage);
    NEW(hmn_pool, pool);
    NEW(hmn_diagnostic, diagnostic);
    const uint32_t offset = i < 2 ? past[i] : 0;
    assert_status(
        hmn_snapshot_device_at(s, i < 2 ? info.device_count + offset : past[i], &device, NULL),
        HMN_E_RANGE);
    assert_status(hmn_snapshot_pool_at(s, i < 2 ? info.pool_count + offset : past[i], &pool, NULL),
                  HMN_E_RANGE);
    assert_status(
        hmn_snapshot_usage_at(s, i < 2 ? info.usage_count + offset : past[i], &usage, NULL),
        HMN_E_RANGE);
    assert_status(hmn_snapshot_diagnostic_at(s, i < 2 ? info.diagnostic_count + offset : past[i],
                                             &diagnostic, NULL),
                  HMN_E_RANGE);
  }
}

static void a_snapshot_has_the_memory_of_the_caller_and_the_host(void** state) {
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  assert_status(hmn_snapshot_memory(fixture_snapshot(state), &memory, NULL), HMN_OK);
  assert_int_equal(memory.pid, own_pid());
  assert_int_equal(memory.present,
                   HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL);
  assert_int_equal(memory.resident_bytes, 300 * mib);
  assert_status(hmn_snapshot_system(fixture_snapshot(state), &system_memory, NULL), HMN_OK);
  assert_int_equal(system_memory.total_bytes, 32 * 1024 * mib);
  assert_int_equal(system_memory.limit_bytes, 16 * 1024 * mib);
}

/* HMN_E_EMPTY: not collected, or not available. */
static void values_that_are_not_collected_are_empty(void** state) {
  hmn_snapshot* s = take(((fixture*)*state)->context, HMN_COLLECT_DEVICES, 0, 0, 0);
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_memory(s, &memory, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_system(s, &system_memory, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_self(s, 0, &usage, NULL), HMN_E_EMPTY);
  const hmn_snapshot_info info = read_info(s);
  assert_true(info.device_count == DEVICES && info.pool_count == 0 && info.usage_count == 0);
  assert_int_equal(info.diagnostic_count, 0);
  assert_int_equal(info.notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
}

static void values_that_are_not_available_are_empty(void** state) {
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_find_telemetry(fixture_snapshot(state), ASLEEP, &telemetry, NULL),
                HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_self(fixture_snapshot(state), LOST, &usage, NULL), HMN_E_EMPTY);
}

/* Identities of devices; implied by every subject of a device. */
static void subjects_of_devices_imply_the_devices(void** state) {
  const hmn_flags subjects[] = {HMN_COLLECT_POOLS, HMN_COLLECT_SELF, HMN_COLLECT_PROCESSES,
                                HMN_COLLECT_TELEMETRY, HMN_COLLECT_METRICS};
  for (size_t i = 0; i < 5; ++i) {
    hmn_snapshot* s = take(((fixture*)*state)->context, subjects[i], 0, 0, 0);
    const hmn_snapshot_info info = read_info(s);
    assert_int_equal(info.collect, subjects[i] | HMN_COLLECT_DEVICES);
    assert_int_equal(info.device_count, DEVICES);
    hmn_snapshot_destroy(s);
  }
}

static void a_snapshot_without_devices_calls_no_driver(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"host\": \"real\", \"devices\": [{\"name\": \"GPU\"}], "
               "\"delays\": [{\"call\": \"any\", \"hang\": \"forever\"}]}",
               NULL);
  const int64_t start = now_ms();
  hmn_snapshot* s = take(m.context, HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM, 0, 0, 0);
  assert_in_range(now_ms() - start, 0, PATIENT_MS / 2);
  const hmn_snapshot_info info = read_info(s);
  assert_true(info.device_count == 0 && info.diagnostic_count == 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void a_snapshot_may_be_limited_to_one_device(void** state) {
  hmn_snapshot* s =
      take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_DEVICE, INSTANCE, 0);
  const hmn_snapshot_info info = read_info(s);
  assert_true(info.device_count == 1 && info.pool_count == 1 && info.usage_count == 1);
  NEW(hmn_device, device);
  assert_status(hmn_snapshot_device_at(s, 0, &device, NULL), HMN_OK);
  assert_int_equal(device.index, INSTANCE);
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, diagnostic);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &diagnostic, NULL), HMN_OK);
    if (diagnostic.present & HMN_DIAGNOSTIC_HAS_DEVICE)
      assert_int_equal(diagnostic.device_index, INSTANCE);
  }
  hmn_snapshot_destroy(s);
}

/* The snapshot has only the usage rows of that PID. */
static void a_snapshot_may_be_limited_to_one_process(void** state) {
  hmn_snapshot* s =
      take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_PROCESS, 0, 4242);
  const hmn_snapshot_info info = read_info(s);
  assert_int_equal(info.usage_count, 2);
  assert_int_equal(info.device_count, DEVICES);
  for (uint32_t i = 0; i < 2; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(s, i, &u, NULL), HMN_OK);
    assert_int_equal(u.pid, 4242);
  }
  hmn_snapshot_destroy(s);
  s = take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_PROCESS, 0, 99999);
  assert_int_equal(read_info(s).usage_count, 0);
  hmn_snapshot_destroy(s);
}

static const hmn_diagnostic* find_diagnostic(const hmn_snapshot* s, hmn_diagnostic* d,
                                             hmn_status status, hmn_flags subject,
                                             uint32_t device) {
  const uint32_t count = read_info(s).diagnostic_count;
  for (uint32_t i = 0; i < count; ++i) {
    memset(d, 0, sizeof *d);
    d->struct_size = sizeof *d;
    assert_status(hmn_snapshot_diagnostic_at(s, i, d, NULL), HMN_OK);
    assert_text(d->message, sizeof d->message);
    const int is_of_device =
        (d->present & HMN_DIAGNOSTIC_HAS_DEVICE) != 0 && d->device_index == device;
    if (d->status == status && d->subject == subject && is_of_device) return d;
  }
  return NULL;
}

/* The message has the reason, and what the user can do. */
static void a_missing_value_has_a_diagnostic(void** state) {
  hmn_diagnostic d;
  assert_non_null(
      find_diagnostic(fixture_snapshot(state), &d, HMN_E_ASLEEP, HMN_COLLECT_POOLS, ASLEEP));
  assert_true(strlen(d.message) > 8);
  assert_int_equal(d.backend, HMN_BACKEND_SIMULATED);
  assert_non_null(
      find_diagnostic(fixture_snapshot(state), &d, HMN_E_DEVICE_LOST, HMN_COLLECT_POOLS, LOST));
  assert_non_null(
      find_diagnostic(fixture_snapshot(state), &d, HMN_E_UNSUPPORTED, HMN_COLLECT_TELEMETRY, 0));
  assert_int_equal(d.present & HMN_DIAGNOSTIC_HAS_FIELD, HMN_DIAGNOSTIC_HAS_FIELD);
  assert_int_equal(d.field, HMN_TELEMETRY_HAS_FAN_RPM);
  assert_non_null(
      find_diagnostic(fixture_snapshot(state), &d, HMN_E_PERMISSION, HMN_COLLECT_PROCESSES, 0));
  assert_int_equal(d.present & HMN_DIAGNOSTIC_HAS_PID, HMN_DIAGNOSTIC_HAS_PID);
  assert_int_equal(d.pid, 4250);
  assert_int_equal(d.count, 1);
  assert_string_equal(d.message, "the driver hides this process; run as root");
}

static void a_missing_value_makes_the_snapshot_partial(void** state) {
  assert_int_equal(read_info(fixture_snapshot(state)).notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
}

#define GPU "\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", \"used\": 0}]"

/* A snapshot is not PARTIAL for HMN_E_UNSUPPORTED (this card has no such value) or a certain "no
 * GPU". */
static void a_value_the_card_does_not_have_is_not_partial(void** state) {
  (void)state;
  const char* machines[] = {"{\"host\": \"real\", \"devices\": [{" GPU
                            ", \"telemetry\": {\"power_watts\": 1}}]}",
                            "{\"host\": \"real\", \"devices\": []}"};
  for (size_t i = 0; i < 2; ++i) {
    machine m;
    machine_make(&m, machines[i], NULL);
    hmn_snapshot* s = take(m.context, EVERYTHING, 0, 0, 0);
    const hmn_snapshot_info info = read_info(s);
    for (uint32_t j = 0; j < info.diagnostic_count; ++j) {
      NEW(hmn_diagnostic, d);
      assert_status(hmn_snapshot_diagnostic_at(s, j, &d, NULL), HMN_OK);
      assert_status(d.status, HMN_E_UNSUPPORTED);
    }
    assert_int_equal(info.notes & HMN_NOTE_PARTIAL, 0);
    hmn_snapshot_destroy(s);
    machine_end(&m);
  }
}

/* A reason that several processes share is listed for each, so that any of their PIDs finds it. */
static void a_shared_reason_is_listed_for_each_process(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{" GPU ", \"processes\": [{\"pid\": 7}, {\"pid\": 8}, {\"pid\": 9}]}]}",
      NULL);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_PROCESSES, 0, 0, 0);
  assert_int_equal(read_info(s).usage_count, 3);
  assert_int_equal(read_info(s).diagnostic_count, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    NEW(hmn_diagnostic, d);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &d, NULL), HMN_OK);
    assert_status(d.status, HMN_E_UNSUPPORTED);
    assert_int_equal(d.subject, HMN_COLLECT_PROCESSES);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.pid, 7 + i);
    assert_int_equal(d.field, HMN_USAGE_HAS_USED);
  }
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* A missing value has no bit in its row, and the row is still listed. */
static void a_row_with_a_missing_value_is_listed(void** state) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(fixture_snapshot(state), i, &u, NULL), HMN_OK);
    if (u.pid != 4250) continue;
    ++count;
    assert_int_equal(u.present & HMN_USAGE_HAS_USED, 0);
    assert_int_equal(u.used_bytes, 0);
    assert_int_equal(u.name_state, HMN_NAME_STATE_EXITED);
  }
  assert_int_equal(count, 1);
}

static uint32_t find_row(const hmn_snapshot* s, uint32_t pid) {
  for (uint32_t i = 0; i < read_info(s).usage_count; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(s, i, &u, NULL), HMN_OK);
    if (u.pid == pid) return i;
  }
  fail_msg("no row of pid %u", pid);
  return 0;
}

static void a_process_has_its_name(void** state) {
  char text[64];
  uint32_t needed = 0;
  const uint32_t i = find_row(fixture_snapshot(state), 4242);
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_PROCESS_NAME, i, text,
                                     sizeof text, &needed, NULL),
                HMN_OK);
  assert_string_equal(text, "trainer");
  assert_int_equal(needed, sizeof "trainer");
}

/* The command line and the container come from the machine's list of processes. */
static void a_process_has_its_command_line_and_container_if_known(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"host\": {\"processes\": [{\"pid\": 7, \"command\": \"python3 train.py\", "
               "\"container\": \"docker:1c8f\"}]}, \"devices\": [{\"name\": \"GPU\", "
               "\"processes\": [{\"pid\": 7, \"used\": 1}, {\"pid\": 8, \"used\": 1}]}]}",
               NULL);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_PROCESSES, 0, 0, 0);
  char text[64];
  assert_status(hmn_snapshot_text_at(s, HMN_TEXT_PROCESS_COMMAND, 0, text, sizeof text, NULL, NULL),
                HMN_OK);
  assert_string_equal(text, "python3 train.py");
  assert_status(
      hmn_snapshot_text_at(s, HMN_TEXT_PROCESS_CONTAINER, 0, text, sizeof text, NULL, NULL),
      HMN_OK);
  assert_string_equal(text, "docker:1c8f");
  const uint32_t texts[] = {HMN_TEXT_PROCESS_COMMAND, HMN_TEXT_PROCESS_CONTAINER};
  for (size_t i = 0; i < 2; ++i) {
    assert_status(hmn_snapshot_text_at(s, texts[i], 1, text, sizeof text, NULL, NULL), HMN_E_EMPTY);
    assert_status(hmn_snapshot_text_at(s, texts[i], 2, text, sizeof text, NULL, NULL), HMN_E_RANGE);
  }
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void an_unknown_process_name_is_empty(void** state) {
  char text[64];
  const uint32_t i = find_row(fixture_snapshot(state), 4250);
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_PROCESS_NAME, i, text,
                                     sizeof text, NULL, NULL),
                HMN_E_EMPTY);
}

static void an_unknown_text_number_is_out_of_range(void** state) {
  const uint32_t unknown[] = {0, 2, 4, 6, 32, UINT32_MAX};
  char text[64];
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
    assert_status(
        hmn_snapshot_text_at(fixture_snapshot(state), unknown[i], 0, text, sizeof text, NULL, NULL),
        HMN_E_RANGE);
  }
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_PROCESS_NAME, 4, text,
                                     sizeof text, NULL, NULL),
                HMN_E_RANGE);
}

/* Memory in use that no visible process owns; only in snapshots that collect processes. */
static void memory_that_no_process_owns_is_unattributed(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m,
      "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"8GiB\", "
      "\"used\": \"3GiB\"}], \"processes\": [{\"pid\": 7, \"used\": \"1GiB\"}]}]}",
      NULL);
  NEW(hmn_pool, pool);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES, 0, 0, 0);
  assert_status(hmn_snapshot_pool_at(s, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.present & HMN_POOL_HAS_UNATTRIBUTED, HMN_POOL_HAS_UNATTRIBUTED);
  assert_int_equal(pool.unattributed_bytes, 2048 * mib);
  hmn_snapshot_destroy(s);
  s = take(m.context, HMN_COLLECT_POOLS, 0, 0, 0);
  assert_status(hmn_snapshot_pool_at(s, 0, &pool, NULL), HMN_OK);
  assert_int_equal(pool.present & HMN_POOL_HAS_UNATTRIBUTED, 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* The unattributed bytes of a pool of 3 GiB with two rows; 0 if not reported, with the reason. */
static uint64_t read_unattributed(const char* first, const char* second, char* message,
                                  size_t capacity) {
  machine m;
  char text[512];
  snprintf(
      text, sizeof text,
      "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"8GiB\", "
      "\"used\": \"3GiB\"}], \"processes\": [{\"pid\": 7, %s}, {\"pid\": 8, %s}]}]}",
      first, second);
  machine_make(&m, text, NULL);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES, 0, 0, 0);
  NEW(hmn_pool, pool);
  assert_status(hmn_snapshot_pool_at(s, 0, &pool, NULL), HMN_OK);
  message[0] = 0;
  for (uint32_t i = 0; i < read_info(s).diagnostic_count; ++i) {
    NEW(hmn_diagnostic, d);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &d, NULL), HMN_OK);
    if (d.subject != HMN_COLLECT_POOLS || d.field != HMN_POOL_HAS_UNATTRIBUTED) continue;
    assert_int_equal(d.status, HMN_E_UNSUPPORTED);
    assert_int_equal(d.device_index, 0);
    snprintf(message, capacity, "%s", d.message);
  }
  assert_int_equal(read_info(s).notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
  return (pool.present & HMN_POOL_HAS_UNATTRIBUTED) != 0 ? pool.unattributed_bytes : 0;
}

/* 3 GiB less 2 GiB if nothing is shared; less 768 + 512 + 512 MiB if the larger shared part
 * contains the smaller one. */
static void memory_that_two_processes_share_is_not_counted_twice(void** state) {
  (void)state;
  char message[256];
  assert_int_equal(
      read_unattributed("\"used\": \"1GiB\", \"shared\": \"256MiB\"",
                        "\"used\": \"1GiB\", \"shared\": \"512MiB\"", message, sizeof message),
      0);
  char bounds[64];
  snprintf(bounds, sizeof bounds, "%llu to %llu bytes", (unsigned long long)(1024 * mib),
           (unsigned long long)(1280 * mib));
  assert_non_null(strstr(message, bounds));
  assert_int_equal(read_unattributed("\"used\": \"1GiB\", \"shared\": \"256MiB\"",
                                     "\"used\": \"1GiB\", \"shared\": 0", message, sizeof message),
                   1024 * mib);
  assert_string_equal(message, "");
}

/* fdinfo without shared sizes may count a buffer for each process that uses it; NVML never does. */
static void rows_of_a_driver_that_does_not_report_sharing_are_not_added_up(void** state) {
  (void)state;
  char message[256];
  assert_int_equal(read_unattributed("\"used\": \"1GiB\", \"accounting\": \"resident\"",
                                     "\"used\": \"1GiB\", \"accounting\": \"resident\"", message,
                                     sizeof message),
                   0);
  assert_string_not_equal(message, "");
  assert_int_equal(
      read_unattributed("\"used\": \"1GiB\"", "\"used\": \"1GiB\"", message, sizeof message),
      1024 * mib);
  assert_int_equal(read_unattributed("\"used\": \"1GiB\", \"accounting\": \"committed\"",
                                     "\"used\": \"1GiB\"", message, sizeof message),
                   0);
}

/* Rows that a driver counts in another way may add up to more than the pool: nothing is
 * unattributed, and no difference wraps. */
static void rows_of_more_than_the_used_memory_leave_nothing_unattributed(void** state) {
  (void)state;
  char message[256];
  assert_int_equal(
      read_unattributed("\"used\": \"2GiB\"", "\"used\": \"2GiB\"", message, sizeof message), 0);
  assert_non_null(strstr(message, "counted differently"));
  assert_int_equal(
      read_unattributed("\"used\": \"4GiB\", \"shared\": \"1GiB\"",
                        "\"used\": \"4GiB\", \"shared\": \"1GiB\"", message, sizeof message),
      0);
  assert_non_null(strstr(message, "counted differently"));
}

/* With HMN_CONTEXT_TRACE each driver call becomes a diagnostic, which is not a fault. */
static void a_traced_call_is_a_diagnostic_with_its_duration(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_TRACE, &context), HMN_OK);
  hmn_snapshot* s = take(context, EVERYTHING, 0, 0, 0);
  uint32_t traced = 0;
  for (uint32_t i = 0; i < read_info(s).diagnostic_count; ++i) {
    NEW(hmn_diagnostic, d);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &d, NULL), HMN_OK);
    if ((d.notes & HMN_NOTE_TRACE) == 0) continue;
    ++traced;
    assert_int_equal(d.present & HMN_DIAGNOSTIC_HAS_DURATION, HMN_DIAGNOSTIC_HAS_DURATION);
    assert_int_equal(d.backend, HMN_BACKEND_SIMULATED);
  }
  assert_true(traced >= DEVICES);
  hmn_snapshot_destroy(s);
  hmn_context_destroy(context);
}

static void a_trace_does_not_make_a_snapshot_partial(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = patient_options(HMN_CONTEXT_TRACE);
  machine_make(&m, "{\"host\": \"real\", \"devices\": [{" GPU "}]}", &options);
  hmn_snapshot* s = take(m.context, 0, 0, 0, 0);
  assert_true(read_info(s).diagnostic_count > 0);
  assert_int_equal(read_info(s).notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* A value that cannot be read is a diagnostic of the snapshot, not an error of the call. */
static void a_snapshot_of_a_machine_that_fails_has_diagnostics(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\"}], \"failures\": [{\"call\": \"any\", "
               "\"status\": \"backend\", "
               "\"native\": {\"domain\": \"nvml\", \"code\": 18}, \"message\": \"versions differ; "
               "restart\"}]}",
               NULL);
  hmn_snapshot* s = take(m.context, EVERYTHING, 0, 0, 0);
  const hmn_snapshot_info info = read_info(s);
  assert_int_equal(info.device_count, 0);
  assert_int_equal(info.notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
  int reported = 0;
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    NEW(hmn_diagnostic, d);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &d, NULL), HMN_OK);
    reported +=
        d.status == HMN_E_BACKEND && d.native_code == 18 && d.native_domain == HMN_NATIVE_NVML;
  }
  assert_true(reported > 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_snapshot_has_its_start_time_and_duration),
      cmocka_unit_test(a_snapshot_counts_its_rows),
      cmocka_unit_test(devices_are_ordered_by_index),
      cmocka_unit_test(pools_are_ordered_by_device_with_the_main_pool_first),
      cmocka_unit_test(usages_are_ordered_by_device_and_pid),
      cmocka_unit_test(a_device_never_has_the_values_of_another),
      cmocka_unit_test(a_position_past_the_end_is_out_of_range),
      cmocka_unit_test(a_snapshot_has_the_memory_of_the_caller_and_the_host),
      cmocka_unit_test(values_that_are_not_collected_are_empty),
      cmocka_unit_test(values_that_are_not_available_are_empty),
      cmocka_unit_test(subjects_of_devices_imply_the_devices),
      cmocka_unit_test(a_snapshot_without_devices_calls_no_driver),
      cmocka_unit_test(a_snapshot_may_be_limited_to_one_device),
      cmocka_unit_test(a_snapshot_may_be_limited_to_one_process),
      cmocka_unit_test(a_missing_value_has_a_diagnostic),
      cmocka_unit_test(a_missing_value_makes_the_snapshot_partial),
      cmocka_unit_test(a_value_the_card_does_not_have_is_not_partial),
      cmocka_unit_test(a_shared_reason_is_listed_for_each_process),
      cmocka_unit_test(a_row_with_a_missing_value_is_listed),
      cmocka_unit_test(a_process_has_its_name),
      cmocka_unit_test(a_process_has_its_command_line_and_container_if_known),
      cmocka_unit_test(an_unknown_process_name_is_empty),
      cmocka_unit_test(an_unknown_text_number_is_out_of_range),
      cmocka_unit_test(memory_that_no_process_owns_is_unattributed),
      cmocka_unit_test(memory_that_two_processes_share_is_not_counted_twice),
      cmocka_unit_test(rows_of_a_driver_that_does_not_report_sharing_are_not_added_up),
      cmocka_unit_test(rows_of_more_than_the_used_memory_leave_nothing_unattributed),
      cmocka_unit_test(a_traced_call_is_a_diagnostic_with_its_duration),
      cmocka_unit_test(a_trace_does_not_make_a_snapshot_partial),
      cmocka_unit_test(a_snapshot_of_a_machine_that_fails_has_diagnostics),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
