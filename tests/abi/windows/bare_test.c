/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Windows without any GPU source (as Wine has it): each source reports that it is absent, and why.
 */
#include "support/suite.h"

#include <windows.h>

static void no_device_is_listed(void** state) {
  hmn_context* const context = *state;
  uint32_t count = 1;
  assert_returns(hmn_device_scan(context, &count, NULL, &error), HMN_OK);
  assert_int_equal(count, 0);
}

static void each_gpu_source_reports_why_it_is_absent(void** state) {
  static const uint32_t sources[] = {HMN_BACKEND_NVML, HMN_BACKEND_NVIDIA_SMI, HMN_BACKEND_DXGI,
                                     HMN_BACKEND_PDH};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
    NEW(hmn_backend_info, info);
    assert_returns(hmn_context_backend(*state, sources[i], &info, &error), HMN_OK);
    if (info.state == HMN_RUN_STATE_READY) fail_msg("source %u is ready", sources[i]);
    assert_true(info.status < 0);
    assert_true(strlen(info.message) > 8);
    assert_text(info.message, sizeof info.message);
  }
  NEW(hmn_backend_info, host);
  assert_returns(hmn_context_backend(*state, HMN_BACKEND_OS, &host, &error), HMN_OK);
  assert_int_equal(host.state, HMN_RUN_STATE_READY);
}

static void a_snapshot_succeeds_without_gpu_sources(void** state) {
  NEW(hmn_snapshot_options, options);
  options.collect = (HMN_COLLECT_METRICS << 1) - 1;
  hmn_snapshot* snapshot = NULL;
  assert_returns(hmn_snapshot_take(*state, &options, &snapshot, &error), HMN_OK);
  assert_non_null(snapshot);
  hmn_snapshot_destroy(snapshot);
}

static int open_context(void** state) {
  hmn_context* context = NULL;
  const hmn_context_options options = patient_options(0);
  const hmn_status status = hmn_context_create(&options, &context, NULL);
  *state = context;
  return status;
}

static int end_context(void** state) {
  hmn_context_destroy(*state);
  return 0;
}

int main(void) {
  /* Without Wine, there may be a GPU. */
  if (GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") == NULL) {
    puts("skipped: abi.bare: this is no Wine");
    return SKIPPED;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_device_is_listed),
      cmocka_unit_test(each_gpu_source_reports_why_it_is_absent),
      cmocka_unit_test(a_snapshot_succeeds_without_gpu_sources),
  };
  return cmocka_run_group_tests(tests, open_context, end_context);
}
