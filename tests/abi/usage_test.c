/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: device 0 is used by 4242, this process and 4250, whose memory the
 * driver hides; device 5 is an instance that 4242 uses.
 */
#include "support/calls.h"
#include "support/child.h"
#include "support/machine.h"

enum { WITH_INSTANCE = 2, ASLEEP = 3, LOST = 4, INSTANCE = 5 };
static const uint64_t mib = 1024 * 1024;

static hmn_context* fixture_context(void** state) {
  return ((fixture*)*state)->context;
}

static void a_process_has_its_own_values(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(fixture_context(state), 0, 4242, 0, &u, &error), HMN_OK);
  const hmn_fields fields = HMN_USAGE_HAS_USED | HMN_USAGE_HAS_RESIDENT | HMN_USAGE_HAS_SHARED |
                            HMN_USAGE_HAS_HOST_POOL | HMN_USAGE_HAS_BUSY_NS |
                            HMN_USAGE_HAS_BUSY_PERCENT | HMN_USAGE_HAS_KINDS |
                            HMN_USAGE_HAS_START_TIME | HMN_USAGE_HAS_UID |
                            HMN_USAGE_HAS_HOST_RESIDENT | HMN_USAGE_HAS_PEAK_USED;
  assert_int_equal(u.present, fields);
  assert_int_equal(u.pid, 4242);
  assert_int_equal(u.device_index, 0);
  assert_int_equal(u.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(u.kinds, HMN_USAGE_KIND_COMPUTE);
  assert_int_equal(u.accounting, HMN_ACCOUNT_ALLOCATED);
  assert_int_equal(u.name_state, HMN_NAME_STATE_RESOLVED);
  assert_int_equal(u.uid, 1001);
  assert_true(u.start_unix_ns == UINT64_C(1700000001000000000));
  assert_int_equal(u.used_bytes, 2048 * mib);
  assert_int_equal(u.peak_used_bytes, 3072 * mib);
  assert_int_equal(u.resident_bytes, 2048 * mib);
  assert_int_equal(u.shared_bytes, 16 * mib);
  assert_int_equal(u.host_pool_bytes, 32 * mib);
  assert_int_equal(u.host_resident_bytes, 5 * 1024 * mib);
  assert_int_equal(u.busy_ns, 5000000);
  assert_true(u.busy_percent == 50.5);
  assert_int_equal(u.window_ns, 1000000000);
  assert_true(u.committed_bytes == 0 && u.purgeable_bytes == 0 && u.evicted_bytes == 0 &&
              u.budget_bytes == 0);
}

static void pid_0_is_out_of_range(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(fixture_context(state), 0, 0, 0, &u, &error), HMN_E_RANGE);
}

static void an_unlisted_process_is_reported_as_no_process(void** state) {
  const uint32_t pids[] = {1, 4243, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    NEW(hmn_usage, u);
    assert_returns(hmn_usage_read(fixture_context(state), 0, pids[i], 0, &u, &error),
                   HMN_E_NO_PROCESS);
    assert_int_equal(u.pid, 0);
  }
}

static void a_value_that_the_driver_hides_fails_with_its_reason(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(fixture_context(state), 0, 4250, 0, &u, &error), HMN_E_PERMISSION);
}

static void the_caller_can_read_its_own_usage(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read_self(fixture_context(state), 0, 0, &u, &error), HMN_OK);
  assert_int_equal(u.pid, own_pid());
  assert_int_equal(u.used_bytes, 512 * mib);
  assert_int_equal(u.kinds, HMN_USAGE_KIND_COMPUTE | HMN_USAGE_KIND_GRAPHICS);
  NEW(hmn_usage, by_pid);
  assert_returns(hmn_usage_read(fixture_context(state), 0, own_pid(), 0, &by_pid, &error), HMN_OK);
  assert_int_equal(by_pid.used_bytes, u.used_bytes);
}

/* 0 bytes is reported only if the driver's list would contain the caller. */
static void a_caller_missing_from_a_trusted_list_uses_0_bytes(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read_self(fixture_context(state), WITH_INSTANCE, 0, &u, &error), HMN_OK);
  assert_int_equal(u.present & HMN_USAGE_HAS_USED, HMN_USAGE_HAS_USED);
  assert_int_equal(u.used_bytes, 0);
}

static const char container_machine[] =
    "{\"pid_namespace\": \"foreign\", \"devices\": [{\"name\": \"GPU\", "
    "\"processes\": [{\"pid\": 4242, \"used\": \"1GiB\"}]}]}";

/* Otherwise the call returns HMN_E_UNSUPPORTED. */
static void own_usage_in_a_foreign_pid_namespace_is_unsupported(void** state) {
  (void)state;
  machine m;
  machine_make(&m, container_machine, NULL);
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read_self(m.context, 0, 0, &u, &error), HMN_E_UNSUPPORTED);
  assert_int_equal(u.present, 0);
  machine_end(&m);
}

static void a_pid_of_another_namespace_is_marked_as_foreign(void** state) {
  (void)state;
  machine m;
  machine_make(&m, container_machine, NULL);
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(m.context, 0, 4242, 0, &u, &error), HMN_OK);
  assert_int_equal(u.notes & HMN_NOTE_FOREIGN_PID, HMN_NOTE_FOREIGN_PID);
  assert_int_equal(u.present & (HMN_USAGE_HAS_HOST_RESIDENT | HMN_USAGE_HAS_UID), 0);
  assert_int_equal(u.name_state, HMN_NAME_STATE_UNKNOWN);
  machine_end(&m);
}

/* With MIG, a process is listed under each instance that it uses, and not under the parent. */
static void a_process_is_listed_under_the_instance_that_it_uses(void** state) {
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(fixture_context(state), INSTANCE, 4242, 0, &u, &error), HMN_OK);
  assert_int_equal(u.present & HMN_USAGE_HAS_INSTANCE, HMN_USAGE_HAS_INSTANCE);
  assert_int_equal(u.gpu_instance, 7);
  assert_int_equal(u.used_bytes, 1024 * mib);
  assert_returns(hmn_usage_read(fixture_context(state), WITH_INSTANCE, 4242, 0, &u, &error),
                 HMN_E_NO_PROCESS);
}

static void a_device_that_cannot_be_read_is_an_error(void** state) {
  hmn_context* context = fixture_context(state);
  NEW(hmn_usage, u);
  assert_returns(hmn_usage_read(context, 6, 1, 0, &u, &error), HMN_E_NO_DEVICE);
  assert_returns(hmn_usage_read_self(context, 6, 0, &u, &error), HMN_E_NO_DEVICE);
  assert_returns(hmn_usage_read(context, ASLEEP, 1, 0, &u, &error), HMN_E_ASLEEP);
  assert_returns(hmn_usage_read_self(context, ASLEEP, 0, &u, &error), HMN_E_ASLEEP);
  assert_returns(hmn_usage_read_self(context, LOST, 0, &u, &error), HMN_E_DEVICE_LOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_has_its_own_values),
      cmocka_unit_test(pid_0_is_out_of_range),
      cmocka_unit_test(an_unlisted_process_is_reported_as_no_process),
      cmocka_unit_test(a_value_that_the_driver_hides_fails_with_its_reason),
      cmocka_unit_test(the_caller_can_read_its_own_usage),
      cmocka_unit_test(a_caller_missing_from_a_trusted_list_uses_0_bytes),
      cmocka_unit_test(own_usage_in_a_foreign_pid_namespace_is_unsupported),
      cmocka_unit_test(a_pid_of_another_namespace_is_marked_as_foreign),
      cmocka_unit_test(a_process_is_listed_under_the_instance_that_it_uses),
      cmocka_unit_test(a_device_that_cannot_be_read_is_an_error),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
