/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: 0 discrete, 1 unified, 2 with an instance, 3 asleep, 4 lost, and the
 * instance, which comes after all whole devices.
 */
#include "support/calls.h"
#include "support/machine.h"

enum { UNIFIED = 1, WITH_INSTANCE = 2, ASLEEP = 3, LOST = 4, INSTANCE = 5, COUNT = 6 };

static hmn_device read_device(hmn_context* context, uint32_t index) {
  NEW(hmn_device, device);
  assert_returns(hmn_device_read(context, index, 0, &device, &error), HMN_OK);
  assert_int_equal(device.index, index);
  assert_text(device.name, sizeof device.name);
  assert_text(device.uuid, sizeof device.uuid);
  assert_text(device.pci_bus_id, sizeof device.pci_bus_id);
  assert_text(device.driver_version, sizeof device.driver_version);
  return device;
}

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static uint32_t count_devices(hmn_context* context) {
  uint32_t count = 0;
  assert_returns(hmn_device_scan(context, &count, NULL, &error), HMN_OK);
  return count;
}

static void every_device_is_counted(void** state) {
  assert_int_equal(count_devices(fixture_context(state)), COUNT);
}

static void a_device_has_its_identity(void** state) {
  const hmn_device device = read_device(fixture_context(state), 0);
  const hmn_fields fields =
      HMN_DEVICE_HAS_NAME | HMN_DEVICE_HAS_UUID | HMN_DEVICE_HAS_PCI | HMN_DEVICE_HAS_DRIVER |
      HMN_DEVICE_HAS_PCI_DEVICE | HMN_DEVICE_HAS_PCI_SUBSYSTEM | HMN_DEVICE_HAS_RENDER_MINOR |
      HMN_DEVICE_HAS_DRIVER_INDEX | HMN_DEVICE_HAS_OS_ID | HMN_DEVICE_HAS_CUDA_VERSION |
      HMN_DEVICE_HAS_COMPUTE_CAPABILITY | HMN_DEVICE_HAS_ARCHITECTURE;
  assert_int_equal(device.present, fields);
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
  const hmn_device device = read_device(fixture_context(state), 0);
  assert_true(device.parent_index == 0 && device.numa_node == 0 && device.gpu_instance == 0 &&
              device.compute_instance == 0);
  const hmn_device bare = read_device(fixture_context(state), ASLEEP);
  assert_int_equal(bare.present & HMN_DEVICE_HAS_DRIVER, 0);
  assert_true(is_zero(bare.driver_version, sizeof bare.driver_version));
  assert_true(bare.cuda_version_major == 0 && bare.cuda_version_minor == 0);
}

static void a_text_field_is_zero_after_its_end(void** state) {
  const hmn_device device = read_device(fixture_context(state), 0);
  const size_t length = strlen(device.name);
  assert_true(is_zero(device.name + length, sizeof device.name - length));
}

static void a_device_that_allocates_from_host_ram_is_unified(void** state) {
  const hmn_device device = read_device(fixture_context(state), UNIFIED);
  assert_int_equal(device.memory_kind, HMN_MEMORY_KIND_UNIFIED);
  assert_int_equal(device.form, HMN_DEVICE_FORM_INTEGRATED);
}

/* The call returns HMN_OK for a device that is lost or asleep; its state reports it. */
static void a_device_that_is_lost_or_asleep_is_reported_by_state(void** state) {
  assert_int_equal(read_device(fixture_context(state), ASLEEP).state, HMN_RUN_STATE_ASLEEP);
  assert_int_equal(read_device(fixture_context(state), LOST).state, HMN_RUN_STATE_LOST);
}

/* Whole devices come first, in the driver's order, then partitions. */
static void an_instance_is_a_device_with_a_parent(void** state) {
  const hmn_device device = read_device(fixture_context(state), INSTANCE);
  assert_int_equal(device.form, HMN_DEVICE_FORM_DISCRETE);
  assert_int_equal(device.device_class, HMN_DEVICE_CLASS_GPU);
  const hmn_fields fields = HMN_DEVICE_HAS_PARENT | HMN_DEVICE_HAS_INSTANCE;
  assert_int_equal(device.present & fields, fields);
  assert_int_equal(device.parent_index, WITH_INSTANCE);
  assert_int_equal(device.gpu_instance, 7);
  assert_int_equal(device.compute_instance, 0);
  assert_string_equal(device.uuid, "MIG-11111111-2222-3333-4444-555555555555");
}

static void an_unknown_index_is_reported_as_no_device(void** state) {
  const uint32_t indexes[] = {COUNT, 999, INT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < 4; ++i) {
    NEW(hmn_device, device);
    assert_returns(hmn_device_read(fixture_context(state), indexes[i], 0, &device, &error),
                   HMN_E_NO_DEVICE);
  }
}

static uint32_t find_index(hmn_context* context, const char* key) {
  uint32_t index = UINT32_MAX;
  print_message("  %s\n", key);
  assert_returns(hmn_device_find(context, key, &index, &error), HMN_OK);
  return index;
}

static void a_device_is_found_by_each_of_its_keys(void** state) {
  hmn_context* context = fixture_context(state);
  assert_int_equal(find_index(context, "uuid:GPU-11111111-2222-3333-4444-555555555555"), 0);
  assert_int_equal(find_index(context, "uuid:GPU-66666666-7777-8888-9999-000000000000"), UNIFIED);
  assert_int_equal(find_index(context, "uuid:MIG-11111111-2222-3333-4444-555555555555"), INSTANCE);
  assert_int_equal(find_index(context, "render:128"), 0);
  assert_int_equal(find_index(context, "driver:nvidia:0"), 0);
  assert_int_equal(find_index(context, "driver:nvidia:3"), ASLEEP);
  assert_int_equal(find_index(context, "luid:1b69b4ba630f34e"), 0);
}

/* Any spelling: domain may be left out or have 8 digits, letters in either case. */
static void a_pci_address_is_found_in_any_spelling(void** state) {
  hmn_context* context = fixture_context(state);
  assert_int_equal(find_index(context, "pci:0000:01:00.0"), 0);
  assert_int_equal(find_index(context, "pci:01:00.0"), 0);
  assert_int_equal(find_index(context, "pci:00000000:01:00.0"), 0);
  assert_int_equal(find_index(context, "pci:00000001:0f:00.0"), UNIFIED);
  assert_int_equal(find_index(context, "pci:00000001:0F:00.0"), UNIFIED);
  assert_int_equal(find_index(context, "pci:0001:0F:00.0"), UNIFIED);
}

static void a_key_without_a_device_is_reported_as_no_device(void** state) {
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
    assert_returns(hmn_device_find(fixture_context(state), keys[i], &index, &error),
                   HMN_E_NO_DEVICE);
    assert_int_equal(index, 0);
  }
}

/* HMN_E_ARGUMENT: no such kind of key, or the value cannot be one. */
static void a_malformed_key_is_an_argument_error(void** state) {
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
    assert_returns(hmn_device_find(fixture_context(state), keys[i], &index, &error),
                   HMN_E_ARGUMENT);
    assert_int_equal(index, 0);
  }
}

static void a_key_that_is_not_utf8_gives_a_message_in_utf8(void** state) {
  char key[5000] = "uuid:";
  memset(key + 5, 0xFF, sizeof key - 6);
  key[sizeof key - 1] = 0;
  NEW(hmn_error, error);
  uint32_t index = 0;
  const hmn_status status = hmn_device_find(fixture_context(state), key, &index, &error);
  assert_true(status == HMN_E_NO_DEVICE || status == HMN_E_ARGUMENT);
  assert_reported(&error, status);
}

/* A machine without devices is HMN_OK and 0. */
static void a_machine_without_devices_has_a_count_of_0(void** state) {
  (void)state;
  machine m;
  machine_make(&m, "{\"devices\": []}", NULL);
  assert_int_equal(count_devices(m.context), 0);
  NEW(hmn_device, device);
  assert_returns(hmn_device_read(m.context, 0, 0, &device, &error), HMN_E_NO_DEVICE);
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(m.context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_E_NO_DEVICE);
  machine_end(&m);
}

/* A source that may have devices but cannot be read is an error, not a count of 0. */
static void devices_that_cannot_be_listed_are_an_error(void** state) {
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
    assert_returns(hmn_device_scan(m.context, &count, NULL, &error), machines[i].expected);
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
  assert_int_equal(count_devices(m.context), 2); /* A B */
  assert_int_equal(count_devices(m.context), 2); /* B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_devices(m.context), 3); /* C B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_devices(m.context), 3); /* A C B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
  assert_named(m.context, 1, "B", HMN_RUN_STATE_READY);
  assert_named(m.context, 2, "C", HMN_RUN_STATE_READY);
  machine_end(&m);
}

static const char all_classes[] =
    "{\"devices\": [{\"name\": \"N\", \"device_class\": \"npu\", \"form\": \"integrated\","
    " \"partitions\": [{\"name\": \"P\"}]},"
    " {\"name\": \"U\", \"device_class\": \"unknown\"}, {\"name\": \"G\"}]}";

static void only_gpus_are_listed_by_default(void** state) {
  (void)state;
  machine m;
  machine_make(&m, all_classes, NULL);
  assert_int_equal(count_devices(m.context), 1);
  const hmn_device gpu = read_device(m.context, 0);
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

static void requested_classes_are_listed_after_gpus(void** state) {
  (void)state;
  machine m;
  NEW(hmn_context_options, options);
  options.device_classes =
      1U << HMN_DEVICE_CLASS_UNKNOWN | 1U << HMN_DEVICE_CLASS_GPU | 1U << HMN_DEVICE_CLASS_NPU;
  machine_make(&m, all_classes, &options);
  assert_int_equal(count_devices(m.context), 4);
  assert_string_equal(read_device(m.context, 0).name, "G");
  assert_string_equal(read_device(m.context, 1).name, "N");
  assert_int_equal(read_device(m.context, 1).device_class, HMN_DEVICE_CLASS_NPU);
  const hmn_device partition = read_device(m.context, 2);
  assert_int_equal(partition.parent_index, 1);
  assert_int_equal(partition.device_class, HMN_DEVICE_CLASS_NPU);
  assert_int_equal(partition.form, HMN_DEVICE_FORM_INTEGRATED);
  assert_int_equal(read_device(m.context, 3).device_class, HMN_DEVICE_CLASS_UNKNOWN);
  machine_end(&m);
  options.device_classes = 1U << HMN_DEVICE_CLASS_NPU;
  machine_make(&m, all_classes, &options);
  assert_int_equal(count_devices(m.context), 2);
  assert_string_equal(read_device(m.context, 0).name, "N");
  machine_end(&m);
}

static hmn_status find(hmn_context* context, const char* key, uint32_t* index) {
  *index = UINT32_MAX;
  return hmn_device_find(context, key, index, NULL);
}

/* Only a scan asks the driver for identities and keys. */
static void reading_a_device_returns_the_last_scan(void** state) {
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
  assert_int_equal(count_devices(m.context), 2); /* B */
  assert_named(m.context, 0, "A", HMN_RUN_STATE_LOST);
  assert_int_equal(count_devices(m.context), 3); /* C B */
  assert_status(find(m.context, "uuid:C", &index), HMN_OK);
  assert_int_equal(index, 2);
  machine_end(&m);
}

/* The age of an identity counts from the scan that listed it; that of a removed device grows on. */
static void an_identity_ages_from_its_scan(void** state) {
  (void)state;
  machine m;
  machine_make(&m, comes_and_goes, NULL);
  const uint64_t before = hmn_monotonic_ns();
  assert_int_equal(count_devices(m.context), 2); /* A B */
  const uint64_t scan_end = hmn_monotonic_ns();
  sleep_ms(20);
  const uint64_t read_start = hmn_monotonic_ns();
  const hmn_device b = read_device(m.context, 1);
  assert_in_range(b.age_ns, read_start - scan_end, hmn_monotonic_ns() - before);
  assert_int_equal(count_devices(m.context), 2); /* B */
  const uint64_t rescan_end = hmn_monotonic_ns();
  assert_true(read_device(m.context, 0).age_ns >= rescan_end - scan_end);
  assert_true(read_device(m.context, 1).age_ns < hmn_monotonic_ns() - scan_end);
  hmn_snapshot* snapshot = NULL;
  assert_status(hmn_snapshot_take(m.context, NULL, &snapshot, NULL), HMN_OK); /* C B */
  NEW(hmn_snapshot_info, info);
  NEW(hmn_device, device);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_status(hmn_snapshot_device_at(snapshot, 1, &device, NULL), HMN_OK);
  assert_true(device.age_ns > 0 && device.age_ns <= info.duration_ns);
  assert_status(hmn_snapshot_device_at(snapshot, 0, &device, NULL), HMN_OK);
  assert_true(device.age_ns >= info.monotonic_ns + info.duration_ns - scan_end);
  hmn_snapshot_destroy(snapshot);
  machine_end(&m);
}

static void a_device_call_before_any_scan_scans_first(void** state) {
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
  assert_returns(hmn_device_scan(m.context, &count, &generation, &error), HMN_E_LIMIT);
  assert_true(count == 0 && generation == 0);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_READY);
  assert_status(hmn_device_scan(m.context, &count, &generation, NULL), HMN_OK);
  assert_int_equal(count, 1);
  assert_int_equal(generation, first);
  machine_end(&m);
}

static uint64_t scan_generation(hmn_context* context) {
  uint64_t generation = 0;
  assert_returns(hmn_device_scan(context, NULL, &generation, &error), HMN_OK);
  return generation;
}

static uint64_t snapshot_generation(hmn_context* context) {
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_snapshot_take(context, NULL, &snapshot, &error), HMN_OK);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(snapshot);
  return info.device_generation;
}

/* The number changes when a device is added, is gone or comes back, and only then. */
static void the_generation_changes_with_the_device_list(void** state) {
  (void)state;
  machine m;
  machine_make(&m, comes_and_goes, NULL);
  const uint64_t first = scan_generation(m.context); /* A B */
  assert_int_not_equal(first, 0);
  const uint64_t removed = scan_generation(m.context); /* B */
  assert_int_not_equal(removed, first);
  const uint64_t added = snapshot_generation(m.context); /* C B */
  assert_int_not_equal(added, removed);
  const uint64_t returned = scan_generation(m.context); /* A C B */
  assert_int_not_equal(returned, added);
  assert_int_equal(scan_generation(m.context), returned);
  assert_int_equal(snapshot_generation(m.context), returned);
  machine_end(&m);
}

static void the_generation_is_0_until_a_device_is_listed(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [], \"changes\": [{\"at_reading\": 2, \"devices\": [" GPU("A") "]}]}",
               NULL);
  assert_int_equal(scan_generation(m.context), 0);
  assert_int_not_equal(snapshot_generation(m.context), 0);
  machine_end(&m);
}

/* A device that sleeps or fails is still in the list. */
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
  const uint64_t ready = scan_generation(m.context);
  assert_int_equal(scan_generation(m.context), ready);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_ASLEEP);
  assert_int_equal(scan_generation(m.context), ready);
  assert_named(m.context, 0, "A", HMN_RUN_STATE_UNREADABLE);
  assert_int_equal(snapshot_generation(m.context), ready);
  machine_end(&m);
}

static void a_long_name_is_cut_at_a_code_point_and_marked_as_truncated(void** state) {
  (void)state;
  char json[2048] = "{\"devices\": [{\"name\": \"";
  for (int i = 0; i < 100; ++i) strcat(json, "\xE2\x82\xAC"); /* three bytes each */
  strcat(json, "\"}]}");
  machine m;
  machine_make(&m, json, NULL);
  const hmn_device device = read_device(m.context, 0);
  assert_int_equal(strlen(device.name), 255);
  assert_int_equal(device.notes & HMN_NOTE_TRUNCATED, HMN_NOTE_TRUNCATED);
  machine_end(&m);
}

static void a_sleeping_device_is_woken_only_with_the_flag(void** state) {
  NEW(hmn_pool, pool);
  assert_returns(hmn_pool_read(fixture_context(state), ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error),
                 HMN_E_ASLEEP);
  hmn_context* waking = NULL;
  assert_status(open_machine("everything.json", HMN_CONTEXT_WAKE_DEVICES, &waking), HMN_OK);
  assert_returns(hmn_pool_read(waking, ASLEEP, HMN_POOL_MAIN, 0, 0, &pool, &error), HMN_OK);
  assert_int_equal(pool.total_bytes, UINT64_C(8) << 30);
  hmn_context_destroy(waking);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_device_is_counted),
      cmocka_unit_test(a_device_has_its_identity),
      cmocka_unit_test(a_field_without_its_bit_is_zero),
      cmocka_unit_test(a_text_field_is_zero_after_its_end),
      cmocka_unit_test(a_device_that_allocates_from_host_ram_is_unified),
      cmocka_unit_test(a_device_that_is_lost_or_asleep_is_reported_by_state),
      cmocka_unit_test(an_instance_is_a_device_with_a_parent),
      cmocka_unit_test(an_unknown_index_is_reported_as_no_device),
      cmocka_unit_test(a_device_is_found_by_each_of_its_keys),
      cmocka_unit_test(a_pci_address_is_found_in_any_spelling),
      cmocka_unit_test(a_key_without_a_device_is_reported_as_no_device),
      cmocka_unit_test(a_malformed_key_is_an_argument_error),
      cmocka_unit_test(a_key_that_is_not_utf8_gives_a_message_in_utf8),
      cmocka_unit_test(a_machine_without_devices_has_a_count_of_0),
      cmocka_unit_test(devices_that_cannot_be_listed_are_an_error),
      cmocka_unit_test(an_index_belongs_to_one_device_for_the_contexts_life),
      cmocka_unit_test(only_gpus_are_listed_by_default),
      cmocka_unit_test(requested_classes_are_listed_after_gpus),
      cmocka_unit_test(reading_a_device_returns_the_last_scan),
      cmocka_unit_test(an_identity_ages_from_its_scan),
      cmocka_unit_test(a_device_call_before_any_scan_scans_first),
      cmocka_unit_test(a_scan_that_fails_changes_nothing),
      cmocka_unit_test(the_generation_changes_with_the_device_list),
      cmocka_unit_test(the_generation_is_0_until_a_device_is_listed),
      cmocka_unit_test(the_generation_does_not_change_with_sleep_or_errors),
      cmocka_unit_test(a_long_name_is_cut_at_a_code_point_and_marked_as_truncated),
      cmocka_unit_test(a_sleeping_device_is_woken_only_with_the_flag),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
