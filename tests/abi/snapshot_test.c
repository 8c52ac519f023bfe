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

static const hmn_snapshot* whole(void** state) {
  return ((fixture*)*state)->after;
}

static hmn_snapshot_info info_of(const hmn_snapshot* snapshot) {
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

static void it_says_when_it_was_begun_and_how_long_it_took(void** state) {
  hmn_context* context = ((fixture*)*state)->context;
  const uint64_t unix_before = unix_now_ns(), before = now_ns();
  hmn_snapshot* snapshot = take(context, EVERYTHING, 0, 0, 0);
  const uint64_t unix_after = unix_now_ns(), after = now_ns();
  const hmn_snapshot_info info = info_of(snapshot);
  assert_true(info.unix_time_ns >= unix_before && info.unix_time_ns <= unix_after);
  assert_true(info.monotonic_ns >= before && info.monotonic_ns <= after);
  assert_true(info.duration_ns > 0 && info.duration_ns <= after - before);
  hmn_snapshot_destroy(snapshot);
}

static void it_counts_what_it_holds(void** state) {
  const hmn_snapshot_info info = info_of(whole(state));
  assert_int_equal(info.collect, EVERYTHING);
  assert_int_equal(info.device_count, DEVICES);
  assert_int_equal(info.pool_count, 5); /* two of device 0, one of 1, 2 and the instance */
  assert_int_equal(info.usage_count, 4);
  assert_true(info.diagnostic_count > 0);
}

static void devices_come_by_index(void** state) {
  for (uint32_t i = 0; i < DEVICES; ++i) {
    NEW(hmn_device, device);
    assert_status(hmn_snapshot_device_at(whole(state), i, &device, NULL), HMN_OK);
    assert_int_equal(device.index, i);
  }
}

/* By device index, the main pool first. */
static void pools_come_by_device_and_the_main_one_first(void** state) {
  static const struct {
    uint32_t device, kind, is_main;
  } expected[] = {{0, HMN_POOL_VRAM, 1},
                  {0, HMN_POOL_HOST, 0},
                  {1, HMN_POOL_UNIFIED, 1},
                  {2, HMN_POOL_VRAM, 1},
                  {INSTANCE, HMN_POOL_VRAM, 1}};
  for (uint32_t i = 0; i < 5; ++i) {
    NEW(hmn_pool, pool);
    assert_status(hmn_snapshot_pool_at(whole(state), i, &pool, NULL), HMN_OK);
    assert_int_equal(pool.device_index, expected[i].device);
    assert_int_equal(pool.kind, expected[i].kind);
    assert_int_equal(pool.is_main, expected[i].is_main);
  }
}

/* By device index, then pid. */
static void usages_come_by_device_and_pid(void** state) {
  uint32_t last_device = 0, last_pid = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(whole(state), i, &u, NULL), HMN_OK);
    assert_true(u.device_index > last_device ||
                (u.device_index == last_device && u.pid > last_pid));
    last_device = u.device_index;
    last_pid = u.pid;
  }
  assert_int_equal(last_device, INSTANCE);
}

/* On a snapshot of device 1 alone, which is at position 0. */
static void values_of_a_device_are_never_those_of_another(void** state) {
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
  const hmn_snapshot* s = whole(state);
  const hmn_snapshot_info info = info_of(s);
  const uint32_t past[] = {0, 1, 1000, UINT32_MAX};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_device, device);
    NEW(hmn_usage, usage);
    NEW(hmn_pool, pool);
    NEW(hmn_diagnostic, diagnostic);
    const uint32_t far = i < 2 ? past[i] : 0;
    assert_status(
        hmn_snapshot_device_at(s, i < 2 ? info.device_count + far : past[i], &device, NULL),
        HMN_E_RANGE);
    assert_status(hmn_snapshot_pool_at(s, i < 2 ? info.pool_count + far : past[i], &pool, NULL),
                  HMN_E_RANGE);
    assert_status(hmn_snapshot_usage_at(s, i < 2 ? info.usage_count + far : past[i], &usage, NULL),
                  HMN_E_RANGE);
    assert_status(hmn_snapshot_diagnostic_at(s, i < 2 ? info.diagnostic_count + far : past[i],
                                             &diagnostic, NULL),
                  HMN_E_RANGE);
  }
}

static void it_holds_the_callers_memory_and_the_hosts(void** state) {
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  assert_status(hmn_snapshot_memory(whole(state), &memory, NULL), HMN_OK);
  assert_int_equal(memory.pid, own_pid());
  assert_int_equal(memory.present,
                   HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL);
  assert_int_equal(memory.resident_bytes, 300 * mib);
  assert_status(hmn_snapshot_system(whole(state), &system_memory, NULL), HMN_OK);
  assert_int_equal(system_memory.total_bytes, 32 * 1024 * mib);
  assert_int_equal(system_memory.limit_bytes, 16 * 1024 * mib);
}

/* HMN_E_EMPTY: not asked for, or not to be had. */
static void what_was_not_asked_for_is_empty(void** state) {
  hmn_snapshot* s = take(((fixture*)*state)->context, HMN_COLLECT_DEVICES, 0, 0, 0);
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, system_memory);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_memory(s, &memory, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_system(s, &system_memory, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_self(s, 0, &usage, NULL), HMN_E_EMPTY);
  const hmn_snapshot_info info = info_of(s);
  assert_true(info.device_count == DEVICES && info.pool_count == 0 && info.usage_count == 0);
  assert_int_equal(info.diagnostic_count, 0);
  assert_int_equal(info.notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
}

static void what_was_not_to_be_had_is_empty(void** state) {
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_find_telemetry(whole(state), ASLEEP, &telemetry, NULL), HMN_E_EMPTY);
  assert_status(hmn_snapshot_find_self(whole(state), LOST, &usage, NULL), HMN_E_EMPTY);
}

/* Who the devices are (implied by all of the next). */
static void devices_are_implied_by_what_is_asked_of_them(void** state) {
  const hmn_flags implying[] = {HMN_COLLECT_POOLS, HMN_COLLECT_SELF, HMN_COLLECT_PROCESSES,
                                HMN_COLLECT_TELEMETRY, HMN_COLLECT_METRICS};
  for (size_t i = 0; i < 5; ++i) {
    hmn_snapshot* s = take(((fixture*)*state)->context, implying[i], 0, 0, 0);
    const hmn_snapshot_info info = info_of(s);
    assert_int_equal(info.collect, implying[i] | HMN_COLLECT_DEVICES);
    assert_int_equal(info.device_count, DEVICES);
    hmn_snapshot_destroy(s);
  }
}

static void without_devices_no_driver_is_asked(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"host\": \"real\", \"devices\": [{\"name\": \"GPU\"}], "
               "\"delays\": [{\"call\": \"any\", \"hang\": \"forever\"}]}",
               NULL);
  const int64_t begun = now_ms();
  hmn_snapshot* s = take(m.context, HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM, 0, 0, 0);
  assert_in_range(now_ms() - begun, 0, PATIENT_MS / 2);
  const hmn_snapshot_info info = info_of(s);
  assert_true(info.device_count == 0 && info.diagnostic_count == 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void one_device_alone_can_be_asked_for(void** state) {
  hmn_snapshot* s =
      take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_DEVICE, INSTANCE, 0);
  const hmn_snapshot_info info = info_of(s);
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

/* Keeps the usage rows of that pid alone. */
static void one_process_alone_can_be_asked_for(void** state) {
  hmn_snapshot* s =
      take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_PROCESS, 0, 4242);
  const hmn_snapshot_info info = info_of(s);
  assert_int_equal(info.usage_count, 2);
  assert_int_equal(info.device_count, DEVICES);
  for (uint32_t i = 0; i < 2; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(s, i, &u, NULL), HMN_OK);
    assert_int_equal(u.pid, 4242);
  }
  hmn_snapshot_destroy(s);
  s = take(((fixture*)*state)->context, EVERYTHING, HMN_SNAPSHOT_ONE_PROCESS, 0, 99999);
  assert_int_equal(info_of(s).usage_count, 0);
  hmn_snapshot_destroy(s);
}

static const hmn_diagnostic* find(const hmn_snapshot* s, hmn_diagnostic* d, hmn_status status,
                                  hmn_flags subject, uint32_t device) {
  const uint32_t count = info_of(s).diagnostic_count;
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

/* Why something is missing, and what can be done. */
static void what_is_missing_has_a_diagnostic(void** state) {
  hmn_diagnostic d;
  assert_non_null(find(whole(state), &d, HMN_E_ASLEEP, HMN_COLLECT_POOLS, ASLEEP));
  assert_true(strlen(d.message) > 8);
  assert_int_equal(d.backend, HMN_BACKEND_SIMULATED);
  assert_non_null(find(whole(state), &d, HMN_E_DEVICE_LOST, HMN_COLLECT_POOLS, LOST));
  assert_non_null(find(whole(state), &d, HMN_E_UNSUPPORTED, HMN_COLLECT_TELEMETRY, 0));
  assert_int_equal(d.present & HMN_DIAGNOSTIC_HAS_FIELD, HMN_DIAGNOSTIC_HAS_FIELD);
  assert_int_equal(d.field, HMN_TELEMETRY_HAS_FAN_RPM);
  assert_non_null(find(whole(state), &d, HMN_E_PERMISSION, HMN_COLLECT_PROCESSES, 0));
  assert_int_equal(d.present & HMN_DIAGNOSTIC_HAS_PID, HMN_DIAGNOSTIC_HAS_PID);
  assert_int_equal(d.pid, 4250);
  assert_int_equal(d.count, 1);
  assert_string_equal(d.message, "the driver hides this process; run as root");
}

static void what_is_missing_makes_it_partial(void** state) {
  assert_int_equal(info_of(whole(state)).notes & HMN_NOTE_PARTIAL, HMN_NOTE_PARTIAL);
}

#define GPU "\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"1GiB\", \"used\": 0}]"

/* HMN_E_UNSUPPORTED (this card has no such value) and a conclusive "no GPU" are not PARTIAL. */
static void what_the_card_does_not_have_is_not_partial(void** state) {
  (void)state;
  const char* machines[] = {"{\"host\": \"real\", \"devices\": [{" GPU
                            ", \"telemetry\": {\"power_watts\": 1}}]}",
                            "{\"host\": \"real\", \"devices\": []}"};
  for (size_t i = 0; i < 2; ++i) {
    machine m;
    machine_make(&m, machines[i], NULL);
    hmn_snapshot* s = take(m.context, EVERYTHING, 0, 0, 0);
    const hmn_snapshot_info info = info_of(s);
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

/* Each process has the reason that several share, so that it is found by any of their pids. */
static void a_reason_that_processes_share_is_that_of_each(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m, "{\"devices\": [{" GPU ", \"processes\": [{\"pid\": 7}, {\"pid\": 8}, {\"pid\": 9}]}]}",
      NULL);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_PROCESSES, 0, 0, 0);
  assert_int_equal(info_of(s).usage_count, 3);
  assert_int_equal(info_of(s).diagnostic_count, 3);
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

/* A value that is missing is absent in its row, and the row is kept. */
static void a_row_without_a_value_is_kept(void** state) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    NEW(hmn_usage, u);
    assert_status(hmn_snapshot_usage_at(whole(state), i, &u, NULL), HMN_OK);
    if (u.pid != 4250) continue;
    ++found;
    assert_int_equal(u.present & HMN_USAGE_HAS_USED, 0);
    assert_int_equal(u.used_bytes, 0);
    assert_int_equal(u.name_state, HMN_NAME_STATE_EXITED);
  }
  assert_int_equal(found, 1);
}

static uint32_t row_of(const hmn_snapshot* s, uint32_t pid) {
  for (uint32_t i = 0; i < info_of(s).usage_count; ++i) {
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
  const uint32_t i = row_of(whole(state), 4242);
  assert_status(hmn_snapshot_text_at(whole(state), HMN_TEXT_PROCESS_NAME, i, text, sizeof text,
                                     &needed, NULL),
                HMN_OK);
  assert_string_equal(text, "trainer");
  assert_int_equal(needed, sizeof "trainer");
}

/* A process has its texts from the machine's list of processes. */
static void a_command_line_and_a_container_are_given_where_they_are_known(void** state) {
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

static void a_name_that_is_not_known_is_empty(void** state) {
  char text[64];
  const uint32_t i = row_of(whole(state), 4250);
  assert_status(
      hmn_snapshot_text_at(whole(state), HMN_TEXT_PROCESS_NAME, i, text, sizeof text, NULL, NULL),
      HMN_E_EMPTY);
}

static void a_text_that_no_number_names_is_out_of_range(void** state) {
  const uint32_t unknown[] = {0, 2, 4, 6, 32, UINT32_MAX};
  char text[64];
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
    assert_status(hmn_snapshot_text_at(whole(state), unknown[i], 0, text, sizeof text, NULL, NULL),
                  HMN_E_RANGE);
  }
  assert_status(
      hmn_snapshot_text_at(whole(state), HMN_TEXT_PROCESS_NAME, 4, text, sizeof text, NULL, NULL),
      HMN_E_RANGE);
}

/* Used, and owned by no process that can be seen; only in snapshots that collect processes. */
static void memory_that_no_process_owns_is_reported(void** state) {
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

/* What a pool of 3 GiB has left over two rows; 0 where it is not reported, with the reason's words.
 */
static uint64_t left_over(const char* one, const char* other, char* why, size_t capacity) {
  machine m;
  char text[512];
  snprintf(
      text, sizeof text,
      "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"8GiB\", "
      "\"used\": \"3GiB\"}], \"processes\": [{\"pid\": 7, %s}, {\"pid\": 8, %s}]}]}",
      one, other);
  machine_make(&m, text, NULL);
  hmn_snapshot* s = take(m.context, HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES, 0, 0, 0);
  NEW(hmn_pool, pool);
  assert_status(hmn_snapshot_pool_at(s, 0, &pool, NULL), HMN_OK);
  why[0] = 0;
  for (uint32_t i = 0; i < info_of(s).diagnostic_count; ++i) {
    NEW(hmn_diagnostic, d);
    assert_status(hmn_snapshot_diagnostic_at(s, i, &d, NULL), HMN_OK);
    if (d.subject != HMN_COLLECT_POOLS || d.field != HMN_POOL_HAS_UNATTRIBUTED) continue;
    assert_int_equal(d.status, HMN_E_UNSUPPORTED);
    assert_int_equal(d.device_index, 0);
    snprintf(why, capacity, "%s", d.message);
  }
  assert_int_equal(info_of(s).notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
  return (pool.present & HMN_POOL_HAS_UNATTRIBUTED) != 0 ? pool.unattributed_bytes : 0;
}

/* 3 GiB less 2 GiB if nothing is held twice; less 768 + 512 + 512 MiB if the larger shared part
 * holds the smaller one. */
static void what_two_processes_share_is_not_counted_twice(void** state) {
  (void)state;
  char why[256];
  assert_int_equal(left_over("\"used\": \"1GiB\", \"shared\": \"256MiB\"",
                             "\"used\": \"1GiB\", \"shared\": \"512MiB\"", why, sizeof why),
                   0);
  char bounds[64];
  snprintf(bounds, sizeof bounds, "%llu to %llu bytes", (unsigned long long)(1024 * mib),
           (unsigned long long)(1280 * mib));
  assert_non_null(strstr(why, bounds));
  assert_int_equal(left_over("\"used\": \"1GiB\", \"shared\": \"256MiB\"",
                             "\"used\": \"1GiB\", \"shared\": 0", why, sizeof why),
                   1024 * mib);
  assert_string_equal(why, "");
}

/* fdinfo without a word on sharing may count a buffer in each holder; NVML never does. */
static void a_driver_that_reports_nothing_of_sharing_is_not_trusted_to_add_up(void** state) {
  (void)state;
  char why[256];
  assert_int_equal(left_over("\"used\": \"1GiB\", \"accounting\": \"resident\"",
                             "\"used\": \"1GiB\", \"accounting\": \"resident\"", why, sizeof why),
                   0);
  assert_string_not_equal(why, "");
  assert_int_equal(left_over("\"used\": \"1GiB\"", "\"used\": \"1GiB\"", why, sizeof why),
                   1024 * mib);
  assert_int_equal(left_over("\"used\": \"1GiB\", \"accounting\": \"committed\"",
                             "\"used\": \"1GiB\"", why, sizeof why),
                   0);
}

/* Rows that a driver counts in another way may hold more than the pool: nothing is left, and no
 * difference wraps. */
static void rows_of_more_than_is_used_leave_nothing_over(void** state) {
  (void)state;
  char why[256];
  assert_int_equal(left_over("\"used\": \"2GiB\"", "\"used\": \"2GiB\"", why, sizeof why), 0);
  assert_non_null(strstr(why, "counted differently"));
  assert_int_equal(left_over("\"used\": \"4GiB\", \"shared\": \"1GiB\"",
                             "\"used\": \"4GiB\", \"shared\": \"1GiB\"", why, sizeof why),
                   0);
  assert_non_null(strstr(why, "counted differently"));
}

/* With HMN_CONTEXT_TRACE each driver call becomes a diagnostic: not a fault, a recorded call. */
static void a_traced_call_is_a_diagnostic_with_its_duration(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_TRACE, &context), HMN_OK);
  hmn_snapshot* s = take(context, EVERYTHING, 0, 0, 0);
  uint32_t traced = 0;
  for (uint32_t i = 0; i < info_of(s).diagnostic_count; ++i) {
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

static void a_trace_alone_is_not_partial(void** state) {
  (void)state;
  machine m;
  const hmn_context_options options = patient_options(HMN_CONTEXT_TRACE);
  machine_make(&m, "{\"host\": \"real\", \"devices\": [{" GPU "}]}", &options);
  hmn_snapshot* s = take(m.context, 0, 0, 0, 0);
  assert_true(info_of(s).diagnostic_count > 0);
  assert_int_equal(info_of(s).notes & HMN_NOTE_PARTIAL, 0);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

/* What could not be read is a diagnostic of it, not an error of this call. */
static void a_machine_that_answers_nothing_still_has_a_snapshot(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"GPU\"}], \"failures\": [{\"call\": \"any\", "
               "\"status\": \"backend\", "
               "\"native\": {\"domain\": \"nvml\", \"code\": 18}, \"message\": \"versions differ; "
               "restart\"}]}",
               NULL);
  hmn_snapshot* s = take(m.context, EVERYTHING, 0, 0, 0);
  const hmn_snapshot_info info = info_of(s);
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
      cmocka_unit_test(it_says_when_it_was_begun_and_how_long_it_took),
      cmocka_unit_test(it_counts_what_it_holds),
      cmocka_unit_test(devices_come_by_index),
      cmocka_unit_test(pools_come_by_device_and_the_main_one_first),
      cmocka_unit_test(usages_come_by_device_and_pid),
      cmocka_unit_test(values_of_a_device_are_never_those_of_another),
      cmocka_unit_test(a_position_past_the_end_is_out_of_range),
      cmocka_unit_test(it_holds_the_callers_memory_and_the_hosts),
      cmocka_unit_test(what_was_not_asked_for_is_empty),
      cmocka_unit_test(what_was_not_to_be_had_is_empty),
      cmocka_unit_test(devices_are_implied_by_what_is_asked_of_them),
      cmocka_unit_test(without_devices_no_driver_is_asked),
      cmocka_unit_test(one_device_alone_can_be_asked_for),
      cmocka_unit_test(one_process_alone_can_be_asked_for),
      cmocka_unit_test(what_is_missing_has_a_diagnostic),
      cmocka_unit_test(what_is_missing_makes_it_partial),
      cmocka_unit_test(what_the_card_does_not_have_is_not_partial),
      cmocka_unit_test(a_reason_that_processes_share_is_that_of_each),
      cmocka_unit_test(a_row_without_a_value_is_kept),
      cmocka_unit_test(a_process_has_its_name),
      cmocka_unit_test(a_command_line_and_a_container_are_given_where_they_are_known),
      cmocka_unit_test(a_name_that_is_not_known_is_empty),
      cmocka_unit_test(a_text_that_no_number_names_is_out_of_range),
      cmocka_unit_test(memory_that_no_process_owns_is_reported),
      cmocka_unit_test(what_two_processes_share_is_not_counted_twice),
      cmocka_unit_test(a_driver_that_reports_nothing_of_sharing_is_not_trusted_to_add_up),
      cmocka_unit_test(rows_of_more_than_is_used_leave_nothing_over),
      cmocka_unit_test(a_traced_call_is_a_diagnostic_with_its_duration),
      cmocka_unit_test(a_trace_alone_is_not_partial),
      cmocka_unit_test(a_machine_that_answers_nothing_still_has_a_snapshot),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
