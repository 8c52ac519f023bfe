// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Compares the layouts declared in src with the vendor's header, fetched next to the build.
#include <doctest/doctest.h>
#include <nvml.h>

#include <cstddef>

#include "backends/nvml/abi.hpp"

namespace ours = hmn::nvml;

#define SAME(type, member, their_type, their_member)                                 \
  static_assert(offsetof(ours::type, member) == offsetof(their_type, their_member)); \
  static_assert(sizeof(ours::type::member) == sizeof(their_type::their_member))

static_assert(sizeof(ours::MemoryV1) == sizeof(nvmlMemory_t));
SAME(MemoryV1, total, nvmlMemory_t, total);
SAME(MemoryV1, free, nvmlMemory_t, free);
SAME(MemoryV1, used, nvmlMemory_t, used);

static_assert(sizeof(ours::MemoryV2) == sizeof(nvmlMemory_v2_t));
SAME(MemoryV2, version, nvmlMemory_v2_t, version);
SAME(MemoryV2, total, nvmlMemory_v2_t, total);
SAME(MemoryV2, reserved, nvmlMemory_v2_t, reserved);
SAME(MemoryV2, free, nvmlMemory_v2_t, free);
SAME(MemoryV2, used, nvmlMemory_v2_t, used);
static_assert(ours::memory_v2_version == nvmlMemory_v2);

static_assert(sizeof(ours::Bar1Memory) == sizeof(nvmlBAR1Memory_t));
static_assert(sizeof(ours::Utilization) == sizeof(nvmlUtilization_t));
SAME(Utilization, gpu, nvmlUtilization_t, gpu);
SAME(Utilization, memory, nvmlUtilization_t, memory);

static_assert(sizeof(ours::ProcessSample) == sizeof(nvmlProcessUtilizationSample_t));
SAME(ProcessSample, pid, nvmlProcessUtilizationSample_t, pid);
SAME(ProcessSample, time_us, nvmlProcessUtilizationSample_t, timeStamp);
SAME(ProcessSample, sm, nvmlProcessUtilizationSample_t, smUtil);
SAME(ProcessSample, decoder, nvmlProcessUtilizationSample_t, decUtil);

static_assert(sizeof(ours::AccountingStats) == sizeof(nvmlAccountingStats_t));
SAME(AccountingStats, max_memory, nvmlAccountingStats_t, maxMemoryUsage);
SAME(AccountingStats, time_ms, nvmlAccountingStats_t, time);
SAME(AccountingStats, start_us, nvmlAccountingStats_t, startTime);
SAME(AccountingStats, is_running, nvmlAccountingStats_t, isRunning);
static_assert(ours::feature_enabled == NVML_FEATURE_ENABLED);

static_assert(sizeof(ours::ProcessV1) == sizeof(nvmlProcessInfo_v1_t));
SAME(ProcessV1, pid, nvmlProcessInfo_v1_t, pid);
SAME(ProcessV1, used, nvmlProcessInfo_v1_t, usedGpuMemory);
static_assert(sizeof(ours::ProcessV2) == sizeof(nvmlProcessInfo_v2_t));
SAME(ProcessV2, pid, nvmlProcessInfo_v2_t, pid);
SAME(ProcessV2, used, nvmlProcessInfo_v2_t, usedGpuMemory);
SAME(ProcessV2, gpu_instance, nvmlProcessInfo_v2_t, gpuInstanceId);
SAME(ProcessV2, compute_instance, nvmlProcessInfo_v2_t, computeInstanceId);

static_assert(sizeof(ours::PciInfo) == sizeof(nvmlPciInfo_t));
SAME(PciInfo, bus_id_legacy, nvmlPciInfo_t, busIdLegacy);
SAME(PciInfo, domain, nvmlPciInfo_t, domain);
SAME(PciInfo, device_id, nvmlPciInfo_t, pciDeviceId);
SAME(PciInfo, subsystem_id, nvmlPciInfo_t, pciSubSystemId);
SAME(PciInfo, bus_id, nvmlPciInfo_t, busId);

static_assert(sizeof(ours::FieldValue) == sizeof(nvmlFieldValue_t));
SAME(FieldValue, id, nvmlFieldValue_t, fieldId);
SAME(FieldValue, scope, nvmlFieldValue_t, scopeId);
SAME(FieldValue, type, nvmlFieldValue_t, valueType);
SAME(FieldValue, result, nvmlFieldValue_t, nvmlReturn);
SAME(FieldValue, bits, nvmlFieldValue_t, value);

static_assert(sizeof(ours::EventData) == sizeof(nvmlEventData_t));
SAME(EventData, device, nvmlEventData_t, device);
SAME(EventData, type, nvmlEventData_t, eventType);
SAME(EventData, data, nvmlEventData_t, eventData);
SAME(EventData, compute_instance, nvmlEventData_t, computeInstanceId);
static_assert(ours::event_xid == nvmlEventTypeXidCriticalError);

static_assert(int{ours::success} == int{NVML_SUCCESS} &&
              int{ours::not_supported} == int{NVML_ERROR_NOT_SUPPORTED});
static_assert(int{ours::gpu_is_lost} == int{NVML_ERROR_GPU_IS_LOST} &&
              int{ours::unknown} == int{NVML_ERROR_UNKNOWN});
static_assert(ours::init_no_attach == NVML_INIT_FLAG_NO_ATTACH);
static_assert(ours::virtualization_vgpu == NVML_GPU_VIRTUALIZATION_MODE_VGPU);
static_assert(unsigned{ours::field_unsigned_int} == unsigned{NVML_VALUE_TYPE_UNSIGNED_INT});
static_assert(ours::field_throttled_by_power == NVML_FI_DEV_PERF_POLICY_POWER);
static_assert(ours::field_throttled_by_heat == NVML_FI_DEV_PERF_POLICY_THERMAL);
static_assert(ours::field_throttled_by_sync == NVML_FI_DEV_PERF_POLICY_SYNC_BOOST);
static_assert(ours::field_throttled_by_board == NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT);
static_assert(ours::field_memory_temperature == NVML_FI_DEV_MEMORY_TEMP);
static_assert(ours::field_link_count == NVML_FI_DEV_NVLINK_LINK_COUNT);
static_assert(ours::field_link_tx == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
static_assert(ours::field_link_rx == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
#ifdef NVML_FI_DEV_POWER_INSTANT  // NVML 12
static_assert(ours::field_power_average == NVML_FI_DEV_POWER_AVERAGE);
static_assert(ours::field_power_instant == NVML_FI_DEV_POWER_INSTANT);
#endif
static_assert(ours::name_capacity == NVML_DEVICE_NAME_V2_BUFFER_SIZE);

TEST_CASE("layouts match the fetched header") {
  MESSAGE("checked while compiling, against NVML_API_VERSION " << NVML_API_VERSION);
}
