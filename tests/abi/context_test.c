/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/environment.h"
#include "support/image.h"
#include "support/machine.h"

#ifndef HMN_TEST_NVML
#define HMN_TEST_NVML ""
#endif

static const char one_gpu[] =
    "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16GiB\", "
    "\"used\": \"3GiB\"}]}]}";

static hmn_context* make_context(void) {
  const hmn_context_options options = patient_options(0);
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(&options, &context, &error), HMN_OK);
  assert_non_null(context);
  return context;
}

static const char* machine_path(const machine* m) {
  static char path[128];
  snprintf(path, sizeof path, "%s/machine.json", m->folder.path);
  return path;
}

static uint32_t count_devices(hmn_context* context) {
  uint32_t count = UINT32_MAX;
  assert_returns(hmn_device_scan(context, &count, NULL, &error), HMN_OK);
  return count;
}

static void an_unknown_path_number_is_out_of_range(void** state) {
  (void)state;
  hmn_context* context = make_context();
  const uint32_t unknown[] = {0, 11, 64, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    assert_returns(hmn_context_set_path(context, unknown[i], HMN_TEST_ROOT "/proc", &error),
                   HMN_E_RANGE);
    assert_returns(hmn_context_set_path(context, unknown[i], NULL, &error), HMN_E_RANGE);
  }
  hmn_context_destroy(context);
}

static const uint32_t paths[] = {HMN_PATH_PROC,       HMN_PATH_SYS,        HMN_PATH_NVML,
                                 HMN_PATH_NVIDIA_SMI, HMN_PATH_SIMULATION, HMN_PATH_CGROUP,
                                 HMN_PATH_DEV,        HMN_PATH_MACMON};
enum { PATHS = 8 };

static int is_compiled_in(uint32_t path) {
  return (path != HMN_PATH_NVML || HMN_WITH_NVML) &&
         (path != HMN_PATH_NVIDIA_SMI || HMN_WITH_NVIDIA_SMI) &&
         (path != HMN_PATH_MACMON || HMN_WITH_MACMON) &&
         (path != HMN_PATH_SIMULATION || HMN_WITH_SIMULATED);
}

static void a_path_must_be_absolute_and_not_empty(void** state) {
  (void)state;
  hmn_context* context = make_context();
  const char* refused[] = {"", "proc", "./proc", "../proc", "~", " /proc"};
  for (size_t p = 0; p < PATHS; ++p) {
    for (size_t i = 0; is_compiled_in(paths[p]) && i < sizeof refused / sizeof refused[0]; ++i) {
      assert_returns(hmn_context_set_path(context, paths[p], refused[i], &error), HMN_E_ARGUMENT);
    }
  }
  hmn_context_destroy(context);
}

static void a_path_has_at_most_4095_bytes(void** state) {
  (void)state;
  hmn_context* context = make_context();
  char path[4097];
  memset(path, 'a', sizeof path);
  memcpy(path, HMN_TEST_ROOT "/", strlen(HMN_TEST_ROOT "/"));
  path[4096] = 0;
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, path, &error), HMN_E_ARGUMENT);
  path[4095] = 0;
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, path, &error), HMN_OK);
  hmn_context_destroy(context);
}

static void a_path_of_a_backend_not_compiled_in_is_unsupported(void** state) {
  (void)state;
  hmn_context* context = make_context();
  for (size_t p = 0; p < PATHS; ++p) {
    assert_returns(hmn_context_set_path(context, paths[p], HMN_TEST_ROOT "/nowhere", &error),
                   is_compiled_in(paths[p]) ? HMN_OK : HMN_E_UNSUPPORTED);
  }
  hmn_context_destroy(context);
}

static void set_path_copies_the_path(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  hmn_context* context = make_context();
  char path[128];
  strcpy(path, machine_path(&m));
  assert_returns(hmn_context_set_path(context, HMN_PATH_SIMULATION, path, &error), HMN_OK);
  memset(path, 'x', sizeof path - 1);
  assert_int_equal(count_devices(context), 1);
  hmn_context_destroy(context);
  machine_end(&m);
}

static void set_path_after_a_reading_is_refused(void** state) {
  (void)state;
  hmn_context* context = make_context();
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(context, 0, &memory, &error), HMN_OK);
  for (size_t p = 0; p < PATHS; ++p) {
    if (!is_compiled_in(paths[p])) continue;
    assert_returns(hmn_context_set_path(context, paths[p], HMN_TEST_ROOT "/nowhere", &error),
                   HMN_E_STATE);
    assert_returns(hmn_context_set_path(context, paths[p], NULL, &error), HMN_E_STATE);
  }
  assert_returns(hmn_process_memory_read_self(context, 0, &memory, &error), HMN_OK);
  hmn_context_destroy(context);
}

static void a_refused_path_changes_nothing(void** state) {
  (void)state;
  hmn_context* context = make_context();
  assert_returns(hmn_context_set_path(context, HMN_PATH_PROC, "relative", &error), HMN_E_ARGUMENT);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(context, 0, &memory, &error), HMN_OK);
  hmn_context_destroy(context);
}

static void an_unknown_backend_number_is_out_of_range(void** state) {
  (void)state;
  hmn_context* context = make_context();
  const uint32_t unknown[] = {HMN_BACKEND_NONE, 62, 63, 64, 1000, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    NEW(hmn_backend_info, info);
    assert_returns(hmn_context_backend(context, unknown[i], &info, &error), HMN_E_RANGE);
  }
  hmn_context_destroy(context);
}

static hmn_backend_info read_backend(hmn_context* context, uint32_t backend) {
  NEW(hmn_backend_info, info);
  assert_returns(hmn_context_backend(context, backend, &info, &error), HMN_OK);
  assert_int_equal(info.backend, backend);
  assert_text(info.version, sizeof info.version);
  assert_text(info.message, sizeof info.message);
  assert_int_equal((info.present & HMN_BACKEND_INFO_HAS_VERSION) != 0, info.version[0] != 0);
  return info;
}

static void the_operating_system_backend_is_ready(void** state) {
  (void)state;
  hmn_context* context = make_context();
  const hmn_backend_info info = read_backend(context, HMN_BACKEND_OS);
  assert_int_equal(info.state, HMN_RUN_STATE_READY);
  assert_status(info.status, HMN_OK);
  assert_string_equal(info.message, "");
  hmn_context_destroy(context);
}

static void a_simulated_machine_is_ready_and_has_a_version(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(open_machine("everything.json", 0, &context), HMN_OK);
  const hmn_backend_info info = read_backend(context, HMN_BACKEND_SIMULATED);
  assert_int_equal(info.state, HMN_RUN_STATE_READY);
  assert_status(info.status, HMN_OK);
  assert_string_equal(info.version, "simulated 1.0");
  hmn_context_destroy(context);
}

/* The call returns HMN_OK for a backend that is absent, off or failing; state and status report it.
 */
static void a_disabled_backend_is_reported_as_off(void** state) {
  (void)state;
  hmn_context_options options = patient_options(0);
  options.backends_off = UINT64_C(1) << HMN_BACKEND_NVML | UINT64_C(1) << HMN_BACKEND_NVIDIA_SMI;
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(&options, &context, &error), HMN_OK);
  assert_int_equal(read_backend(context, HMN_BACKEND_NVML).state, HMN_RUN_STATE_OFF);
  assert_int_equal(read_backend(context, HMN_BACKEND_NVIDIA_SMI).state, HMN_RUN_STATE_OFF);
  assert_int_equal(read_backend(context, HMN_BACKEND_SIMULATED).state, HMN_RUN_STATE_OFF);
  assert_int_equal(count_devices(context), 0);
  hmn_context_destroy(context);
}

static void a_disabled_simulation_replaces_no_backend(void** state) {
  (void)state;
  if (!HMN_WITH_SIMULATED) skip();
  hmn_context_options options = patient_options(0);
  options.backends_off = UINT64_MAX & ~(UINT64_C(1) << HMN_BACKEND_OS);
  hmn_context* context = NULL;
  assert_returns(hmn_context_create(&options, &context, &error), HMN_OK);
  assert_returns(
      hmn_context_set_path(context, HMN_PATH_SIMULATION, HMN_TEST_ROOT "/nowhere.json", &error),
      HMN_OK);
  assert_int_equal(read_backend(context, HMN_BACKEND_SIMULATED).state, HMN_RUN_STATE_OFF);
  assert_int_equal(count_devices(context), 0);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(context, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  hmn_context_destroy(context);
}

static void a_missing_vendor_library_is_reported_as_absent(void** state) {
  (void)state;
  if (!HMN_WITH_NVML) skip();
  hmn_context* context = make_context();
  assert_returns(hmn_context_set_path(context, HMN_PATH_NVML,
                                      HMN_TEST_ROOT "/nowhere/libnvidia-ml.so.1", &error),
                 HMN_OK);
  const hmn_backend_info info = read_backend(context, HMN_BACKEND_NVML);
  assert_int_equal(info.state, HMN_RUN_STATE_ABSENT);
  assert_status(info.status, HMN_E_NO_SOURCE);
  assert_true(strlen(info.message) > 8);
  hmn_context_destroy(context);
}

static void an_invalid_machine_file_is_reported_with_its_position(void** state) {
  (void)state;
  machine m;
  machine_make(&m, "{\"devices\": [{\"name\": 7}]}", NULL);
  const hmn_backend_info info = read_backend(m.context, HMN_BACKEND_SIMULATED);
  assert_int_equal(info.state, HMN_RUN_STATE_UNREADABLE);
  assert_status(info.status, HMN_E_ARGUMENT);
  assert_non_null(strstr(info.message, "/devices/0/name"));
  machine_end(&m);
}

/* Whether the file exists is checked at the first reading. */
static void a_missing_machine_file_is_reported_as_no_source(void** state) {
  (void)state;
  hmn_context* context = make_context();
  assert_returns(hmn_context_set_path(context, HMN_PATH_SIMULATION,
                                      HMN_TEST_ROOT "/nowhere/machine.json", &error),
                 HMN_OK);
  const hmn_backend_info info = read_backend(context, HMN_BACKEND_SIMULATED);
  assert_int_equal(info.state, HMN_RUN_STATE_ABSENT);
  assert_status(info.status, HMN_E_NO_SOURCE);
  hmn_context_destroy(context);
}

static hmn_status create_from_environment(hmn_flags flags, hmn_context** out) {
  const hmn_context_options options = patient_options(flags);
  NEW(hmn_error, error);
  const hmn_status status = hmn_context_create(&options, out, &error);
  assert_reported(&error, status);
  return status;
}

static void the_environment_is_read_only_with_its_flag(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  environment_set("HMN_SIMULATION", machine_path(&m));
  hmn_context* context = NULL;
  assert_status(create_from_environment(HMN_CONTEXT_ENVIRONMENT, &context), HMN_OK);
  assert_int_equal(count_devices(context), 1);
  hmn_context_destroy(context);
  environment_set("HMN_SIMULATION", "not absolute");
  assert_status(create_from_environment(0, &context), HMN_OK);
  assert_int_equal(read_backend(context, HMN_BACKEND_SIMULATED).state, HMN_RUN_STATE_OFF);
  hmn_context_destroy(context);
  environment_set("HMN_SIMULATION", NULL);
  machine_end(&m);
}

/* HMN_E_ARGUMENT: with HMN_CONTEXT_ENVIRONMENT, a path that set_path would refuse. */
static void a_variable_with_an_invalid_path_is_refused(void** state) {
  (void)state;
  const char* variables[] = {"HMN_PROC", "HMN_SYS", "HMN_CGROUP", "HMN_SIMULATION"};
  for (size_t i = 0; i < 4; ++i) {
    hmn_context* context = (hmn_context*)state;
    environment_set(variables[i], "not absolute");
    assert_status(create_from_environment(HMN_CONTEXT_ENVIRONMENT, &context), HMN_E_ARGUMENT);
    assert_null(context);
    environment_set(variables[i], NULL);
    assert_status(create_from_environment(HMN_CONTEXT_ENVIRONMENT, &context), HMN_OK);
    hmn_context_destroy(context);
  }
}

/* A variable that changes later has no effect. */
static void the_environment_is_read_at_creation(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  hmn_context* context = NULL;
  environment_set("HMN_SIMULATION", machine_path(&m));
  assert_status(create_from_environment(HMN_CONTEXT_ENVIRONMENT, &context), HMN_OK);
  environment_set("HMN_SIMULATION", NULL);
  assert_int_equal(count_devices(context), 1);
  hmn_context_destroy(context);
  machine_end(&m);
}

static void set_path_overrides_the_environment(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  hmn_context* context = NULL;
  environment_set("HMN_SIMULATION", HMN_TEST_ROOT "/nowhere");
  assert_status(create_from_environment(HMN_CONTEXT_ENVIRONMENT, &context), HMN_OK);
  environment_set("HMN_SIMULATION", NULL);
  assert_returns(hmn_context_set_path(context, HMN_PATH_SIMULATION, machine_path(&m), &error),
                 HMN_OK);
  assert_int_equal(count_devices(context), 1);
  hmn_context_destroy(context);
  machine_end(&m);
}

/* Neither creating a context nor reading the host loads a driver. */
static void the_first_reading_of_a_device_loads_the_driver(void** state) {
  (void)state;
  if (!HMN_WITH_NVML) skip();
  hmn_context* context = make_context();
  assert_returns(hmn_context_set_path(context, HMN_PATH_NVML, HMN_TEST_NVML, &error), HMN_OK);
  NEW(hmn_process_memory, memory);
  NEW(hmn_system_memory, host);
  assert_returns(hmn_process_memory_read_self(context, 63, &memory, &error), HMN_OK);
  assert_returns(hmn_system_memory_read(context, 0, &host, &error), HMN_OK);
  assert_false(image_is_loaded(HMN_TEST_NVML));
  assert_int_equal(count_devices(context), 1);
  assert_true(image_is_loaded(HMN_TEST_NVML));
  hmn_context_destroy(context);
}

static void contexts_do_not_share_their_backends(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  hmn_context* other = make_context();
  assert_returns(hmn_context_set_path(other, HMN_PATH_SIMULATION, HMN_TEST_ROOT "/nowhere", &error),
                 HMN_OK);
  assert_int_equal(read_backend(other, HMN_BACKEND_SIMULATED).state, HMN_RUN_STATE_ABSENT);
  assert_int_equal(count_devices(m.context), 1);
  hmn_context_destroy(other);
  assert_int_equal(count_devices(m.context), 1);
  machine_end(&m);
}

static void a_cancelled_context_refuses_device_calls_until_it_is_resumed(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  assert_int_equal(count_devices(m.context), 1);
  assert_returns(hmn_context_cancel(m.context, &error), HMN_OK);
  assert_returns(hmn_context_cancel(m.context, &error), HMN_OK);
  uint32_t count = 99;
  assert_returns(hmn_device_scan(m.context, &count, NULL, &error), HMN_E_CANCELLED);
  assert_int_equal(count, 0);
  assert_returns(hmn_context_resume(m.context, &error), HMN_OK);
  assert_returns(hmn_context_resume(m.context, &error), HMN_OK);
  assert_int_equal(count_devices(m.context), 1);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_unknown_path_number_is_out_of_range),
      cmocka_unit_test(a_path_must_be_absolute_and_not_empty),
      cmocka_unit_test(a_path_has_at_most_4095_bytes),
      cmocka_unit_test(a_path_of_a_backend_not_compiled_in_is_unsupported),
      cmocka_unit_test(set_path_copies_the_path),
      cmocka_unit_test(set_path_after_a_reading_is_refused),
      cmocka_unit_test(a_cancelled_context_refuses_device_calls_until_it_is_resumed),
      cmocka_unit_test(a_refused_path_changes_nothing),
      cmocka_unit_test(an_unknown_backend_number_is_out_of_range),
      cmocka_unit_test(the_operating_system_backend_is_ready),
      cmocka_unit_test(a_simulated_machine_is_ready_and_has_a_version),
      cmocka_unit_test(a_disabled_backend_is_reported_as_off),
      cmocka_unit_test(a_disabled_simulation_replaces_no_backend),
      cmocka_unit_test(a_missing_vendor_library_is_reported_as_absent),
      cmocka_unit_test(an_invalid_machine_file_is_reported_with_its_position),
      cmocka_unit_test(a_missing_machine_file_is_reported_as_no_source),
      cmocka_unit_test(the_environment_is_read_only_with_its_flag),
      cmocka_unit_test(a_variable_with_an_invalid_path_is_refused),
      cmocka_unit_test(the_environment_is_read_at_creation),
      cmocka_unit_test(set_path_overrides_the_environment),
      cmocka_unit_test(the_first_reading_of_a_device_loads_the_driver),
      cmocka_unit_test(contexts_do_not_share_their_backends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
