/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * On machines/everything.json: a container with a limit and a slice without one use memory of
 * device 0.
 */
#include <string.h>

#include "support/calls.h"
#include "support/machine.h"

static const hmn_snapshot* fixture_snapshot(void** state) {
  return ((fixture*)*state)->after;
}

static void each_group_has_its_memory_and_device(void** state) {
  NEW(hmn_group, group);
  assert_status(hmn_snapshot_group_at(fixture_snapshot(state), 0, &group, NULL), HMN_OK);
  assert_int_equal(group.present, HMN_GROUP_HAS_USED | HMN_GROUP_HAS_LIMIT);
  assert_int_equal(group.backend, HMN_BACKEND_SIMULATED);
  assert_int_equal(group.notes, 0);
  assert_int_equal(group.device_index, 0);
  assert_true(group.used_bytes == UINT64_C(1) << 30 && group.limit_bytes == UINT64_C(2) << 30);
  assert_status(hmn_snapshot_group_at(fixture_snapshot(state), 1, &group, NULL), HMN_OK);
  assert_int_equal(group.present, HMN_GROUP_HAS_USED);
  assert_true(group.used_bytes == UINT64_C(512) << 20 && group.limit_bytes == 0);
  assert_status(hmn_snapshot_group_at(fixture_snapshot(state), 2, &group, NULL), HMN_E_RANGE);
}

static void a_group_has_a_name(void** state) {
  char name[64];
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_GROUP_NAME, 0, name,
                                     sizeof name, NULL, NULL),
                HMN_OK);
  assert_string_equal(name, "docker:1c8f");
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_GROUP_NAME, 1, name,
                                     sizeof name, NULL, NULL),
                HMN_OK);
  assert_string_equal(name, "/user.slice");
  assert_status(hmn_snapshot_text_at(fixture_snapshot(state), HMN_TEXT_GROUP_NAME, 2, name,
                                     sizeof name, NULL, NULL),
                HMN_E_RANGE);
}

static uint32_t count_groups(void** state, hmn_flags collect, uint32_t device_index) {
  NEW(hmn_snapshot_options, options);
  options.flags = HMN_SNAPSHOT_ONE_DEVICE;
  options.device_index = device_index;
  options.collect = collect;
  hmn_snapshot* s = NULL;
  assert_returns(hmn_snapshot_take(((fixture*)*state)->context, &options, &s, &error), HMN_OK);
  NEW(hmn_snapshot_info, info);
  assert_status(hmn_snapshot_read(s, &info, NULL), HMN_OK);
  hmn_snapshot_destroy(s);
  return info.group_count;
}

static void groups_are_collected_on_request_and_by_device(void** state) {
  assert_int_equal(count_groups(state, HMN_COLLECT_GROUPS, 0), 2);
  assert_int_equal(count_groups(state, HMN_COLLECT_GROUPS, 1), 0);
  assert_int_equal(count_groups(state, HMN_COLLECT_METRICS, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_group_has_its_memory_and_device),
      cmocka_unit_test(a_group_has_a_name),
      cmocka_unit_test(groups_are_collected_on_request_and_by_device),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
