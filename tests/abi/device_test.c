/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: 0 discrete, 1 unified, 2 with an instance, 3 asleep, 4 lost, and the
 * instance, which comes after all whole devices.
 */
#include "support/calls.h"
#include "support/machine.h"

enum { UNIFIED = 1, WITH_INSTANCE = 2, ASLEEP = 3, LOST = 4, INSTANCE = 5, COUNT = 6 };

static hmn_device device_at(hmn_context* context, uint32_t index) {
  NEW(hmn_device, device);
  assert_answers(hmn_device_read(context, index, 0, &device, &error), HMN_OK);
  assert_int_equal(device.index, index);
  assert_text(device.name, sizeof device.name);
  assert_text(device.uuid, sizeof device.uuid);
  assert_text(device.pci_bus_id, sizeof device.pci_bus_id);
  assert_text(device.driver_version, sizeof device.driver_version);
  return device;
}

static hmn_context* context_of(void** state) {
  return ((fixture*)*state)->context;
}

static uint32_t count_of(hmn_context* context) {
  uint32_t count = 0;
  assert_answers(hmn_device_scan(context, &count, NULL, &error), HMN_OK);
  return count;
}

static void every_device_counts(void** state) {
  assert_int_equal(count_of(context_of(state)), COUNT);
}

static void a_device_says_who_it_is(void** state) {
  const hmn_device device = device_at(context_of(state), 0);
  const hmn_fields known =
      HMN_DEVICE_HAS_NAME | HMN_DEVICE_HAS_UUID | HMN_DEVICE_HAS_PCI | HMN_DEVICE_HAS_DRIVER |
      HMN_DEVICE_HAS_PCI_DEVICE | HMN_DEVICE_HAS_PCI_SUBSYSTEM | HMN_DEVICE_HAS_RENDER_MINOR |
      HMN_DEVICE_HAS_DRIVER_INDEX | HMN_DEVICE_HAS_OS_ID | HMN_DEVICE_HAS_CUDA_VERSION |
      HMN_DEVICE_HAS_COMPUTE_CAPABILITY | HMN_DEVICE_HAS_ARCHITECTURE;
  assert_int_equal(device.present, known);
  assert_int_equal(device.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(device.form, HMN_DEVICE_FORM_DISCRETE);
  assert_int_equal(device.state, HMN_RUN_STATE_READY);
  assert_int_equal(device.vendor, HMN_VENDOR_NVIDIA);
  assert_int_equal(device.memory_kind, HMN_MEMORY_KIND_DEDICATED);
  assert_string_equal(device.name,
                      "Example RTX 9000 \xC3\xA9"
                      "dition");
  assert_string_equal(device.uuid, "GPU-11111111-2222-3333-4444-555555555555");
  assert_string_equal(device.pci_bus_id, "0000:01:00.0");
  assert_string_equal(device.driver_version, "550.163.01");
  assert_int_equal(device.pci_device, 9904);
  assert_int_equal(device.pci_subsystem, 405017822);
  assert_int_equal(device.render_minor, 128);
  assert_int_equal(device.driver_index, 0);
  assert_int_equal(device.cuda_version_major, 12);
  assert_int_equal(device.cuda_version_minor, 4);
  assert_int_equal(device.compute_capability_major, 8);
  assert_int_equal(device.compute_capability_minor, 9);
  assert_string_equal(device.architecture, "Ada");
  assert_int_equal(device.os_id, UINT64_C(123456789012345678));
}

static void a_field_without_its_bit_is_zero(void** state) {
  const hmn_device device = device_at(context_of(state), 0);
  assert_true(device.parent_index == 0 && device.numa_node == 0 && device.gpu_instance == 0 &&
              device.compute_instance == 0);
  const hmn_device bare = device_at(context_of(state), ASLEEP);
  assert_int_equal(bare.present & HMN_DEVICE_HAS_DRIVER, 0);
  assert_true(is_zero(bare.driver_version, sizeof bare.driver_version));
  assert_true(bare.cuda_version_major == 0 && bare.cuda_version_minor == 0);
}

static void a_text_field_is_zero_behind_its_end(void** state) {
  const hmn_device device = device_at(context_of(state), 0);
  const size_t length = strlen(device.name);
  assert_true(is_zero(device.name + length, sizeof device.name - length));
}

static void a_device_that_allocates_from_host_ram_is_unified(void** state) {
  const hmn_device device = device_at(context_of(state), UNIFIED);
  assert_int_equal(device.memory_kind, HMN_MEMORY_KIND_UNIFIED);
  assert_int_equal(device.form, HMN_DEVICE_FORM_INTEGRATED);
}

/* A device that is lost or asleep is HMN_OK, reported by state. */
static void a_device_that_is_lost_or_asleep_is_reported_by_state(void** state) {
  assert_int_equal(device_at(context_of(state), ASLEEP).state, HMN_RUN_STATE_ASLEEP);
  assert_int_equal(device_at(context_of(state), LOST).state, HMN_RUN_STATE_LOST);
}

/* NVIDIA's come first in the driver's order, then partitions. */
static void an_instance_is_a_device_with_a_parent(void** state) {
  const hmn_device device = device_at(context_of(state), INSTANCE);
  assert_int_equal(device.form, HMN_DEVICE_FORM_DISCRETE);
  assert_int_equal(device.device_class, HMN_DEVICE_CLASS_GPU);
  const hmn_fields known = HMN_DEVICE_HAS_PARENT | HMN_DEVICE_HAS_INSTANCE;
  assert_int_equal(device.present & known, known);
  assert_int_equal(device.parent_index, WITH_INSTANCE);
  assert_int_equal(device.gpu_instance, 7);
  assert_int_equal(device.compute_instance, 0);
  assert_string_equal(device.uuid, "MIG-11111111-2222-3333-4444-555555555555");
}

static void an_index_that_was_never_given_is_no_device(void** state) {
  const uint32_t indexes[] = {COUNT, 999, INT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_device, device);
    assert_answers(hmn_device_read(context_of(state), indexes[i], 0, &device, &error),
                   HMN_E_NO_DEVICE);
  }
}

static uint32_t index_of(hmn_context* context, const char* key) {
  uint32_t index = UINT32_MAX;
  print_message("  %s\n", key);
  assert_answers(hmn_device_find(context, key, &index, &error), HMN_OK);
  return index;
}

static void a_device_is_found_by_each_of_its_keys(void** state) {
  hmn_context* context = context_of(state);
  assert_int_equal(index_of(context, "uuid:GPU-11111111-2222-3333-4444-555555555555"), 0);
  assert_int_equal(index_of(context, "uuid:GPU-66666666-7777-8888-9999-000000000000"), UNIFIED);
  assert_int_equal(index_of(context, "uuid:MIG-11111111-2222-3333-4444-555555555555"), INSTANCE);
  assert_int_equal(index_of(context, "render:128"), 0);
  assert_int_equal(index_of(context, "driver:nvidia:0"), 0);
  assert_int_equal(index_of(context, "driver:nvidia:3"), ASLEEP);
  assert_int_equal(index_of(context, "luid:1b69b4ba630f34e"), 0);
}

/* Any spelling: domain may be left out or have 8 digits, letters in either case. */
static void a_pci_address_is_found_in_any_spelling(void** state) {
  hmn_context* context = context_of(state);
  assert_int_equal(index_of(context, "pci:0000:01:00.0"), 0);
  assert_int_equal(index_of(context, "pci:01:00.0"), 0);
  assert_int_equal(index_of(context, "pci:00000000:01:00.0"), 0);
  assert_int_equal(index_of(context, "pci:00000001:0f:00.0"), UNIFIED);
  assert_int_equal(index_of(context, "pci:00000001:0F:00.0"), UNIFIED);
  assert_int_equal(index_of(context, "pci:0001:0F:00.0"), UNIFIED);
}

static void a_key_that_nothing_has_is_no_device(void** state) {
  const char* keys[] = {"uuid:GPU-00000000-0000-0000-0000-000000000000",
                        "pci:0000:02:00.0",
                        "pci:0001:01:00.0",
                        "luid:1",
                        "render:129",
                        "driver:nvidia:5",
                        "driver:nvidia:4294967295"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    uint32_t index = 7;
    print_message("  %s\n", keys[i]);
    assert_answers(hmn_device_find(context_of(state), keys[i], &index, &error), HMN_E_NO_DEVICE);
    assert_int_equal(index, 0);
  }
}

/* HMN_E_ARGUMENT: no such kind of key, or the value cannot be one. */
static void a_key_that_cannot_be_one_is_an_argument_error(void** state) {
  const char* keys[] = {"",
                        "0",
                        "GPU-1",
                        "uuid",
                        "uuid:",
                        "uuid",
                        "index:0",
                        "pci:",
                        "pci:zz:00.0",
                        "pci:1",
                        "pci:0000:01:00.9",
                        "luid:",
                        "luid:xyz",
                        "luid:11112222333344445",
                        "render:",
                        "render:-1",
                        "render:1x",
                        "driver:nvidia:",
                        "driver:nvidia:-1",
                        "driver:nvidia: 1",
                        "driver:nvidia:4294967296",
                        "driver:nvidia:1.0",
                        "UUID:GPU-1",
                        " uuid:GPU-1",
                        ":",
                        "pci:0000:01:00.0 "};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    uint32_t index = 7;
    print_message("  \"%s\"\n", keys[i]);
    assert_answers(hmn_device_find(context_of(state), keys[i], &index, &error), HMN_E_ARGUMENT);
    assert_int_equal(index, 0);
  }
}

static void a_key_of_any_bytes_makes_a_message_of_utf8(void** state) {
  char key[5000] = "uuid:";
  memset(key + 5, 0xFF, sizeof key - 6);
  key[sizeof key - 1] = 0;
  NEW(hmn_error, error);
  uint32_t index = 0;
  const hmn_status status = hmn_device_find(context_of(state), key, &index, &error);
  assert_true(status == HMN_E_NO_DEVICE || status == HMN_E_ARGUMENT);
  assert_reported(&error, status);
}

/* No device at all is HMN_OK and 0. */
static void no_device_at_all_is_a_count_of_0(void** state) {
  (void)state;
  machine m;
  machine_make(&m, "{\"devices\": []}", NULL);
  assert_int_equal(count_of(m.context), 0);
  NEW(hmn_device, device);
  assert_answers(hmn_device_read(m.context, 0, 0, &device, &error), HMN_E_NO_DEVICE);
  NEW(hmn_pool, pool);
  assert_answers(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_E_NO_DEVICE);
  machine_end(&m);
}

/* What could be there but could not be read is no count of 0. */
static void what_hides_devices_is_no_count_of_0(void** state) {
  (void)state;
#define FAILS(status) "{\"failures\": [{\"call\": \"open\", \"status\": \"" status "\"}]}"
  const struct {
    const char* json;
    hmn_status expected;
  } machines[] = {
      {"{\"devices\": [{\"name\": 7}]}", HMN_E_ARGUMENT},
      {"{", HMN_E_ARGUMENT},
      {FAILS("backend"), HMN_E_BACKEND},
      {FAILS("permission"), HMN_E_PERMISSION},
      {FAILS("timeout"), HMN_E_TIMEOUT},
      {FAILS("no_source"), HMN_OK},
      {FAILS("no_device"), HMN_OK},
  };
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; ++i) {
    print_message("  %s\n", machines[i].json);
    machine m;
    machine_make(&m, machines[i].json, NULL);
    uint32_t count = 7;
    assert_answers(hmn_device_scan(m.context, &count, NULL, &error), machines[i].expected);
    assert_int_equal(count, 0);
    machine_end(&m);
  }
#undef FAILS
}

#define GPU(name) "{\"name\": \"" name "\", \"uuid\": \"" name "\"}"
static const char comes_and_goes[] =
    "{\"devices\": [" GPU("A") ", " GPU("B") "], \"changes\": ["
    "{\"at_reading\": 2, \"devices\": [" GPU("B") "]},"
    "{\"at_reading\": 3, \"devices\": [" GPU("C") ", " GPU("B") "]},"
    "{\"at_reading\": 4, \"devices\": [" GPU("A") ", " GPU("C") ", " GPU("B") "]}]}";

static void assert_named(hmn_context* context, uint32_t index, const char* name, uint32_t state) {
  NEW(hmn_device, device);
  assert_status(hmn_device_read(context, index, 0, &device, NULL), HMN_OK);
  assert_string_equal(device.name, name);
  assert_int_equal(device.state, state);
}

/* An index belongs to one device for the context's life; a device that is gone keeps its index with
 * state HMN_RUN_STATE_LOST; later arrivals are appended; the count never shrinks. */
static void an_index_belongs_to_one_device_for_the_contexts_life(void** state) {
  (void)state;
  machine m;
  machine_make(&m, comes_and_goes, NULL);
  assert_int_equal(count_of(m.context), 2); /* A B */
  assert_int_equal(count_of(m.context), 2); /* B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_of(m.context), 3); /* C B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_of(m.context), 3); /* A C B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
  assert_named(m.context, 1, "B", HMN_RUN_STATE_READY);
  assert_named(m.context, 2, "C", HMN_RUN_STATE_READY);
  machine_end(&m);
}

static const char of_all_classes[] =
    "{\"devices\": [{\"name\": \"N\", \"device_class\": \"npu\", \"form\": \"integrated\","
    " \"partitions\": [{\"name\": \"P\"}]},"
    " {\"name\": \"U\", \"device_class\": \"unknown\"}, {\"name\": \"G\"}]}";

static void only_gpus_are_listed_unless_asked(void** state) {
  (void)state;
  machine m;
  machine_make(&m, of_all_classes, NULL);
  assert_int_equal(count_of(m.context), 1);
  const hmn_device gpu = device_at(m.context, 0);
  assert_string_equal(gpu.name, "G");
  assert_int_equal(gpu.device_class, HMN_DEVICE_CLASS_GPU);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_int_equal(info.device_count, 1);
  hmn_snapshot_destroy(snapshot);
  machine_end(&m);
}

static void classes_that_are_asked_for_are_listed_after_gpus(void** state) {
  (void)state;
  machine m;
  NEW(hmn_context_options, options);
  options.device_classes =
      1U << HMN_DEVICE_CLASS_UNKNOWN | 1U << HMN_DEVICE_CLASS_GPU | 1U << HMN_DEVICE_CLASS_NPU;
  machine_make(&m, of_all_classes, &options);
  assert_int_equal(count_of(m.context), 4);
  assert_string_equal(device_at(m.context, 0).name, "G");
  assert_string_equal(device_at(m.context, 1).name, "N");
  assert_int_equal(device_at(m.context, 1).device_class, HMN_DEVICE_CLASS_NPU);
  const hmn_device part = device_at(m.context, 2);
  assert_int_equal(part.parent_index, 1);
  assert_int_equal(part.device_class, HMN_DEVICE_CLASS_NPU);
  assert_int_equal(part.form, HMN_DEVICE_FORM_INTEGRATED);
  assert_int_equal(device_at(m.context, 3).device_class, HMN_DEVICE_CLASS_UNKNOWN);
  machine_end(&m);
  options.device_classes = 1U << HMN_DEVICE_CLASS_NPU;
  machine_make(&m, of_all_classes, &options);
  assert_int_equal(count_of(m.context), 2);
  assert_string_equal(device_at(m.context, 0).name, "N");
  machine_end(&m);
}

static hmn_status find(hmn_context* context, const char* key, uint32_t* index) {
  *index = UINT32_MAX;
  return hmn_device_find(context, key, index, NULL);
}

/* Of identity and keys only a scan asks the driver. */
static void a_device_is_as_of_the_last_scan(void** state) {
  (void)state;
  machine m;
  uint32_t index = 0;
  machine_make(&m, comes_and_goes, NULL);
  assert_status(hmn_device_scan(m.context, NULL, NULL, NULL), HMN_OK); /* A B */
  for (int i = 0; i < 5; ++i) {
    assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
    assert_status(find(m.context, "uuid:B", &index), HMN_OK);
    assert_int_equal(index, 1);
    assert_status(find(m.context, "uuid:C", &index), HMN_E_NO_DEVICE);
  }
  assert_int_equal(count_of(m.context), 2); /* B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_of(m.context), 3); /* C B */
  assert_status(find(m.context, "uuid:C", &index), HMN_OK);
  assert_int_equal(index, 2);
  machine_end(&m);
}

/* The age of an identity counts from the scan that listed it; of a device that is gone it goes on.
 */
static void an_identity_has_an_age(void** state) {
  (void)state;
  machine m;
  machine_make(&m, comes_and_goes, NULL);
  const uint64_t before = hmn_monotonic_ns();
  assert_int_equal(count_of(m.context), 2); /* A B */
  const uint64_t scanned = hmn_monotonic_ns();
  sleep_ms(20);
  const uint64_t asked = hmn_monotonic_ns();
  const hmn_device b = device_at(m.context, 1);
  assert_in_range(b.age_ns, asked - scanned, hmn_monotonic_ns() - before);
  assert_int_equal(count_of(m.context), 2); /* B */
  const uint64_t again = hmn_monotonic_ns();
  assert_true(device_at(m.context, 0).age_ns >= again - scanned);
  assert_true(device_at(m.context, 1).age_ns < hmn_monotonic_ns() - scanned);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK); /* C B */
  NEW(hmn_snapshot_info, info);
  NEW(hmn_device, device);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_status(hmn_snapshot_device_at(snapshot, 1, &device, NULL), HMN_OK);
  assert_true(device.age_ns > 0 && device.age_ns <= info.duration_ns);
  assert_status(hmn_snapshot_device_at(snapshot, 0, &device, NULL), HMN_OK);
  assert_true(device.age_ns >= info.monotonic_ns + info.duration_ns - scanned);
  hmn_snapshot_destroy(snapshot);
  machine_end(&m);
}

static void a_context_that_has_not_scanned_scans_first(void** state) {
  (void)state;
  machine m;
  uint32_t index = 0;
  machine_make(&m, comes_and_goes, NULL);
  assert_status(find(m.context, "uuid:B", &index), HMN_OK);
  assert_int_equal(index, 1);
  machine_end(&m);
  machine_make(&m, comes_and_goes, NULL);
  assert_named(m.context, 1, "B", HMN_RUN_STATE_READY);
  machine_end(&m);
  /* A snapshot of devices is a scan. */
  machine_make(&m, comes_and_goes, NULL);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK); /* A B */
  hmn_snapshot_destroy(snapshot);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
  assert_status(find(m.context, "uuid:C", &index), HMN_E_NO_DEVICE);
  machine_end(&m);
}

static void a_scan_that_fails_changes_nothing(void** state) {
  (void)state;
  machine m;
  uint32_t count = 7;
  uint64_t first = 0, generation = 7;
  machine_make(&m,
               "{\"devices\": [" GPU("A") "], \"failures\": [{\"call\": \"devices\","
               " \"status\": \"limit\", \"from_reading\": 2, \"readings\": 1}]}",
               NULL);
  assert_status(hmn_device_scan(m.context, &count, &first, NULL), HMN_OK);
  assert_int_equal(count, 1);
  assert_answers(hmn_device_scan(m.context, &count, &generation, &error), HMN_E_LIMIT);
  assert_true(count == 0 && generation == 0);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
  assert_status(hmn_device_scan(m.context, &count, &generation, NULL), HMN_OK);
  assert_int_equal(count, 1);
  assert_int_equal(generation, first);
  machine_end(&m);
}

static uint64_t generation_of(hmn_context* context) {
  uint64_t generation = 0;
  assert_answers(hmn_device_scan(context, NULL, &generation, &error), HMN_OK);
  return generation;
}

static uint64_t generation_in_snapshot(hmn_context* context) {
  hmn_snapshot* snapshot = NULL;
  assert_answers(hmn_snapshot_take(context, NULL, &snapshot, &error), HMN_OK);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info.device_generation;
}

/* The number changes when a device is added, is gone or comes back, and only then. */
static void the_generation_changes_with_the_list(void** state) {
  (void)state;
  machine m;
  machine_make(&m, comes_and_goes, NULL);
  const uint64_t first = generation_of(m.context); /* A B */
  assert_int_not_equal(first, 0);
  const uint64_t gone = generation_of(m.context); /* B */
  assert_int_not_equal(gone, first);
  const uint64_t added = generation_in_snapshot(m.context); /* C B */
  assert_int_not_equal(added, gone);
  const uint64_t back = generation_of(m.context); /* A C B */
  assert_int_not_equal(back, added);
  assert_int_equal(generation_of(m.context), back);
  assert_int_equal(generation_in_snapshot(m.context), back);
  machine_end(&m);
}

static void the_generation_is_0_until_a_device_is_seen(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [], \"changes\": [{\"at_reading\": 2, \"devices\": [" GPU("A") "]}]}",
               NULL);
  assert_int_equal(generation_of(m.context), 0);
  assert_int_not_equal(generation_in_snapshot(m.context), 0);
  machine_end(&m);
}

/* What is asleep, or answers with errors, is present. */
static void the_generation_does_not_change_with_sleep_or_errors(void** state) {
  (void)state;
  machine m;
  machine_make(
      &m,
      "{\"devices\": [" GPU("A") "], \"changes\": ["
      "{\"at_reading\": 2, \"devices\": [{\"name\": \"A\", \"uuid\": \"A\", \"state\": \"asleep\"}]}, "
      "{\"at_reading\": 3, \"devices\": "
      "[{\"name\": \"A\", \"uuid\": \"A\", \"state\": \"unreadable\"}]}]}",
      NULL);
  const uint64_t ready = generation_of(m.context);
  assert_int_equal(generation_of(m.context), ready);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_ASLEEP);
  assert_int_equal(generation_of(m.context), ready);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_UNREADABLE);
  assert_int_equal(generation_in_snapshot(m.context), ready);
  machine_end(&m);
}

static void a_name_that_is_too_long_is_cut_at_a_code_point_and_reported(void** state) {
  (void)state;
  char json[2048] = "{\"devices\": [{\"name\": \"";
  for (int i = 0; i < 100; ++i) strcat(json, "\xE2\x82\xAC"); /* 300 bytes of three each */
  strcat(json, "\"}]}");
  machine m;
  machine_make(&m, json, NULL);
  const hmn_device device = device_at(m.context, 0);
  assert_int_equal(strlen(device.name), 255);
  assert_int_equal(device.notes & HMN_NOTE_TRUNCATED, HMN_NOTE_TRUNCATED);
  machine_end(&m);
}

static void a_sleeping_device_is_not_woken_unless_asked(void** state) {
  NEW(hmn_pool, pool);
  assert_answers(hmn_pool_read(context_of(state), ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_ASLEEP);
  hmn_context* waking = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_WAKE_DEVICES, &waking), HMN_OK);
  assert_answers(hmn_pool_read(waking, ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.total_bytes, UINT64_C(8) << 30);
  hmn_context_destroy(waking);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_device_counts),
      cmocka_unit_test(a_device_says_who_it_is),
      cmocka_unit_test(a_field_without_its_bit_is_zero),
      cmocka_unit_test(a_text_field_is_zero_behind_its_end),
      cmocka_unit_test(a_device_that_allocates_from_host_ram_is_unified),
      cmocka_unit_test(a_device_that_is_lost_or_asleep_is_reported_by_state),
      cmocka_unit_test(an_instance_is_a_device_with_a_parent),
      cmocka_unit_test(an_index_that_was_never_given_is_no_device),
      cmocka_unit_test(a_device_is_found_by_each_of_its_keys),
      cmocka_unit_test(a_pci_address_is_found_in_any_spelling),
      cmocka_unit_test(a_key_that_nothing_has_is_no_device),
      cmocka_unit_test(a_key_that_cannot_be_one_is_an_argument_error),
      cmocka_unit_test(a_key_of_any_bytes_makes_a_message_of_utf8),
      cmocka_unit_test(no_device_at_all_is_a_count_of_0),
      cmocka_unit_test(what_hides_devices_is_no_count_of_0),
      cmocka_unit_test(an_index_belongs_to_one_device_for_the_contexts_life),
      cmocka_unit_test(only_gpus_are_listed_unless_asked),
      cmocka_unit_test(classes_that_are_asked_for_are_listed_after_gpus),
      cmocka_unit_test(a_device_is_as_of_the_last_scan),
      cmocka_unit_test(an_identity_has_an_age),
      cmocka_unit_test(a_context_that_has_not_scanned_scans_first),
      cmocka_unit_test(a_scan_that_fails_changes_nothing),
      cmocka_unit_test(the_generation_changes_with_the_list),
      cmocka_unit_test(the_generation_is_0_until_a_device_is_seen),
      cmocka_unit_test(the_generation_does_not_change_with_sleep_or_errors),
      cmocka_unit_test(a_name_that_is_too_long_is_cut_at_a_code_point_and_reported),
      cmocka_unit_test(a_sleeping_device_is_not_woken_unless_asked),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
