/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/clock.h"
#include "support/suite.h"

static void the_version_matches_the_header(void** state) {
  (void)state;
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", HMN_VERSION_MAJOR, HMN_VERSION_MINOR, HMN_VERSION_PATCH);
  assert_int_equal(hmn_version_number(), HMN_VERSION_NUMBER);
  assert_string_equal(hmn_version_string(), text);
  assert_int_equal(HMN_VERSION_NUMBER,
                   HMN_VERSION_MAJOR * 1000000 + HMN_VERSION_MINOR * 1000 + HMN_VERSION_PATCH);
}

#define NAMED(status) \
  { status, #status }
static void each_status_has_the_name_of_its_constant(void** state) {
  (void)state;
  const struct {
    hmn_status status;
    const char* name;
  } all[] = {NAMED(HMN_OK),
             NAMED(HMN_E_ARGUMENT),
             NAMED(HMN_E_STRUCT_SIZE),
             NAMED(HMN_E_UNKNOWN_FLAG),
             NAMED(HMN_E_RANGE),
             NAMED(HMN_E_NO_MEMORY),
             NAMED(HMN_E_UNSUPPORTED),
             NAMED(HMN_E_NO_SOURCE),
             NAMED(HMN_E_NO_DEVICE),
             NAMED(HMN_E_NO_PROCESS),
             NAMED(HMN_E_PERMISSION),
             NAMED(HMN_E_TIMEOUT),
             NAMED(HMN_E_DEVICE_LOST),
             NAMED(HMN_E_BACKEND),
             NAMED(HMN_E_LIMIT),
             NAMED(HMN_E_OVERFLOW),
             NAMED(HMN_E_FORKED),
             NAMED(HMN_E_BUFFER),
             NAMED(HMN_E_EMPTY),
             NAMED(HMN_E_INTERNAL),
             NAMED(HMN_E_ASLEEP),
             NAMED(HMN_E_STATE),
             NAMED(HMN_E_CANCELLED)};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    assert_string_equal(hmn_status_name(all[i].status), all[i].name);
  }
}

static void an_unknown_status_has_a_name_too(void** state) {
  (void)state;
  const hmn_status unknown[] = {1, -23, 1000, INT32_MAX, INT32_MIN, -1000000};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    assert_string_equal(hmn_status_name(unknown[i]), "HMN_E_?");
  }
}

static void each_backend_has_a_distinct_name(void** state) {
  (void)state;
  assert_string_equal(hmn_backend_name(HMN_BACKEND_NONE), "none");
  assert_string_equal(hmn_backend_name(HMN_BACKEND_NVML), "nvml");
  const uint32_t backends[] = {HMN_BACKEND_NONE,       HMN_BACKEND_OS,        HMN_BACKEND_NVML,
                               HMN_BACKEND_NVIDIA_SMI, HMN_BACKEND_AMDGPU,    HMN_BACKEND_KFD,
                               HMN_BACKEND_ROCM_SMI,   HMN_BACKEND_I915,      HMN_BACKEND_XE,
                               HMN_BACKEND_DRM,        HMN_BACKEND_DXGI,      HMN_BACKEND_PDH,
                               HMN_BACKEND_METAL,      HMN_BACKEND_MACMON,    HMN_BACKEND_TEGRA,
                               HMN_BACKEND_DMEM,       HMN_BACKEND_SIMULATED, HMN_BACKEND_AMD_SMI};
  for (size_t i = 0; i < sizeof backends / sizeof backends[0]; ++i) {
    assert_string_not_equal(hmn_backend_name(backends[i]), "unknown");
    for (size_t j = 0; j < i; ++j) {
      assert_string_not_equal(hmn_backend_name(backends[i]), hmn_backend_name(backends[j]));
    }
  }
}

static void an_unknown_backend_is_named_unknown(void** state) {
  (void)state;
  const uint32_t unknown[] = {62, 63, 64, 1000, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    assert_string_equal(hmn_backend_name(unknown[i]), "unknown");
  }
}

static void each_reason_has_a_distinct_name(void** state) {
  (void)state;
  assert_string_equal(hmn_reason_name(HMN_REASON_UNKNOWN), "unknown");
  assert_string_equal(hmn_reason_name(HMN_REASON_NOT_PERMITTED), "not_permitted");
  for (uint32_t i = HMN_REASON_UNKNOWN; i <= HMN_REASON_LIMIT; ++i) {
    for (uint32_t j = HMN_REASON_UNKNOWN; j < i; ++j) {
      assert_string_not_equal(hmn_reason_name(i), hmn_reason_name(j));
    }
  }
  assert_string_equal(hmn_reason_name(HMN_REASON_LIMIT + 1), "unknown");
  assert_string_equal(hmn_reason_name(UINT32_MAX), "unknown");
}

static void names_are_static(void** state) {
  (void)state;
  assert_ptr_equal(hmn_status_name(HMN_E_RANGE), hmn_status_name(HMN_E_RANGE));
  assert_ptr_equal(hmn_backend_name(HMN_BACKEND_OS), hmn_backend_name(HMN_BACKEND_OS));
  assert_ptr_equal(hmn_version_string(), hmn_version_string());
}

static void features_match_the_build(void** state) {
  (void)state;
  assert_int_equal(hmn_backend_available(HMN_BACKEND_OS), 1);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_NVML), HMN_WITH_NVML);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_NVIDIA_SMI), HMN_WITH_NVIDIA_SMI);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_AMD_SMI), HMN_WITH_AMD_SMI);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_ROCM_SMI), HMN_WITH_ROCM_SMI);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_DRM), HMN_WITH_DRM);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_AMDGPU), HMN_WITH_AMDGPU);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_KFD), HMN_WITH_KFD);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_I915), HMN_WITH_I915);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_XE), HMN_WITH_XE);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_DMEM), HMN_WITH_DMEM);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_DXGI), HMN_WITH_DXGI);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_PDH), HMN_WITH_PDH);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_METAL), HMN_WITH_METAL);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_MACMON), HMN_WITH_MACMON);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_TEGRA), HMN_WITH_TEGRA);
  assert_int_equal(hmn_backend_available(HMN_BACKEND_SIMULATED), HMN_WITH_SIMULATED);
  assert_int_equal(hmn_feature(HMN_FEATURE_SIMULATION), HMN_WITH_SIMULATED);
  assert_int_equal(hmn_feature(HMN_FEATURE_SUBPROCESS), HMN_WITH_SUBPROCESS);
}

static void an_unknown_feature_is_unavailable(void** state) {
  (void)state;
  const uint32_t unknown[] = {0, 3, 999, 1000, 1062, 1063, 1064, 1000000, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
    assert_int_equal(hmn_feature(unknown[i]), 0);
  }
}

static uint64_t end_ns(const hmn_snapshot_info* info) {
  return info->monotonic_ns + info->duration_ns;
}

static void snapshots_are_timed_by_the_same_clock(void** state) {
  (void)state;
  hmn_context* context = NULL;
  hmn_snapshot* snapshot = NULL;
  NEW(hmn_snapshot_options, options);
  NEW(hmn_snapshot_info, info);
  options.collect = HMN_COLLECT_MEMORY;
  assert_int_equal(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const uint64_t before = hmn_monotonic_ns();
  assert_int_equal(hmn_snapshot_take(context, &options, &snapshot, NULL), HMN_OK);
  const uint64_t after = hmn_monotonic_ns();
  assert_int_equal(hmn_snapshot_read(snapshot, &info, NULL), HMN_OK);
  assert_true(before > 0 && before <= info.monotonic_ns && end_ns(&info) <= after);
  hmn_snapshot_destroy(snapshot);
  hmn_context_destroy(context);
}

/* Its time is between two readings of the same system clock. */
static void the_clock_is_the_one_documented_in_the_header(void** state) {
  (void)state;
  const uint64_t before = now_ns();
  const uint64_t read = hmn_monotonic_ns();
  assert_true(before <= read && read <= now_ns());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_version_matches_the_header),
      cmocka_unit_test(each_status_has_the_name_of_its_constant),
      cmocka_unit_test(an_unknown_status_has_a_name_too),
      cmocka_unit_test(each_backend_has_a_distinct_name),
      cmocka_unit_test(an_unknown_backend_is_named_unknown),
      cmocka_unit_test(each_reason_has_a_distinct_name),
      cmocka_unit_test(names_are_static),
      cmocka_unit_test(features_match_the_build),
      cmocka_unit_test(an_unknown_feature_is_unavailable),
      cmocka_unit_test(snapshots_are_timed_by_the_same_clock),
      cmocka_unit_test(the_clock_is_the_one_documented_in_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
