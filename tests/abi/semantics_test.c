/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Meaning of numbers and names, which is part of the ABI: each unit, each name and each documented
 * text, through the public interface alone. abi.coverage compares the rows with the header: each
 * field with a unit, and each constant with a name, has one.
 */
#include "../bindings/c/records.h"
#include "support/calls.h"
#include "support/machine.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define MS(n) ((uint64_t)(n)*1000000)

/* ---- names ---- */

typedef const char* (*name_function)(uint32_t number);
static const char* status_name(uint32_t number) {
  return hmn_status_name((hmn_status)number);
}
static const struct {
  name_function function;
  uint32_t number;
  const char* name;
} names[] = {
    /* clang-format off */
    {status_name, (uint32_t)HMN_OK, "HMN_OK"},
    {status_name, (uint32_t)HMN_E_ARGUMENT, "HMN_E_ARGUMENT"},
    {status_name, (uint32_t)HMN_E_STRUCT_SIZE, "HMN_E_STRUCT_SIZE"},
    {status_name, (uint32_t)HMN_E_UNKNOWN_FLAG, "HMN_E_UNKNOWN_FLAG"},
    {status_name, (uint32_t)HMN_E_RANGE, "HMN_E_RANGE"},
    {status_name, (uint32_t)HMN_E_NO_MEMORY, "HMN_E_NO_MEMORY"},
    {status_name, (uint32_t)HMN_E_UNSUPPORTED, "HMN_E_UNSUPPORTED"},
    {status_name, (uint32_t)HMN_E_NO_SOURCE, "HMN_E_NO_SOURCE"},
    {status_name, (uint32_t)HMN_E_NO_DEVICE, "HMN_E_NO_DEVICE"},
    {status_name, (uint32_t)HMN_E_NO_PROCESS, "HMN_E_NO_PROCESS"},
    {status_name, (uint32_t)HMN_E_PERMISSION, "HMN_E_PERMISSION"},
    {status_name, (uint32_t)HMN_E_TIMEOUT, "HMN_E_TIMEOUT"},
    {status_name, (uint32_t)HMN_E_DEVICE_LOST, "HMN_E_DEVICE_LOST"},
    {status_name, (uint32_t)HMN_E_BACKEND, "HMN_E_BACKEND"},
    {status_name, (uint32_t)HMN_E_LIMIT, "HMN_E_LIMIT"},
    {status_name, (uint32_t)HMN_E_OVERFLOW, "HMN_E_OVERFLOW"},
    {status_name, (uint32_t)HMN_E_FORKED, "HMN_E_FORKED"},
    {status_name, (uint32_t)HMN_E_BUFFER, "HMN_E_BUFFER"},
    {status_name, (uint32_t)HMN_E_EMPTY, "HMN_E_EMPTY"},
    {status_name, (uint32_t)HMN_E_INTERNAL, "HMN_E_INTERNAL"},
    {status_name, (uint32_t)HMN_E_ASLEEP, "HMN_E_ASLEEP"},
    {status_name, (uint32_t)HMN_E_STATE, "HMN_E_STATE"},
    {status_name, (uint32_t)HMN_E_CANCELLED, "HMN_E_CANCELLED"},
    {status_name, (uint32_t)1, "HMN_E_?"},
    {hmn_backend_name, HMN_BACKEND_NONE, "none"},
    {hmn_backend_name, HMN_BACKEND_OS, "os"},
    {hmn_backend_name, HMN_BACKEND_NVML, "nvml"},
    {hmn_backend_name, HMN_BACKEND_NVIDIA_SMI, "nvidia-smi"},
    {hmn_backend_name, HMN_BACKEND_AMDGPU, "amdgpu"},
    {hmn_backend_name, HMN_BACKEND_KFD, "kfd"},
    {hmn_backend_name, HMN_BACKEND_ROCM_SMI, "rocm-smi"},
    {hmn_backend_name, HMN_BACKEND_I915, "i915"},
    {hmn_backend_name, HMN_BACKEND_XE, "xe"},
    {hmn_backend_name, HMN_BACKEND_DRM, "drm"},
    {hmn_backend_name, HMN_BACKEND_DXGI, "dxgi"},
    {hmn_backend_name, HMN_BACKEND_PDH, "pdh"},
    {hmn_backend_name, HMN_BACKEND_METAL, "metal"},
    {hmn_backend_name, HMN_BACKEND_MACMON, "macmon"},
    {hmn_backend_name, HMN_BACKEND_TEGRA, "tegra"},
    {hmn_backend_name, HMN_BACKEND_DMEM, "dmem"},
    {hmn_backend_name, HMN_BACKEND_SIMULATED, "simulated"},
    {hmn_backend_name, HMN_BACKEND_AMD_SMI, "amd-smi"},
    {hmn_backend_name, 63, "unknown"},
    {hmn_reason_name, HMN_REASON_UNKNOWN, "unknown"},
    {hmn_reason_name, HMN_REASON_UNSUPPORTED, "unsupported"},
    {hmn_reason_name, HMN_REASON_NOT_PRESENT, "not_present"},
    {hmn_reason_name, HMN_REASON_NOT_UNDERSTOOD, "not_understood"},
    {hmn_reason_name, HMN_REASON_AMBIGUOUS, "ambiguous"},
    {hmn_reason_name, HMN_REASON_NOT_PERMITTED, "not_permitted"},
    {hmn_reason_name, HMN_REASON_NOT_YET, "not_yet"},
    {hmn_reason_name, HMN_REASON_ASLEEP, "asleep"},
    {hmn_reason_name, HMN_REASON_LOST, "lost"},
    {hmn_reason_name, HMN_REASON_TIMED_OUT, "timed_out"},
    {hmn_reason_name, HMN_REASON_FAILED, "failed"},
    {hmn_reason_name, HMN_REASON_IMPLAUSIBLE, "implausible"},
    {hmn_reason_name, HMN_REASON_LIMIT, "limit"},
    {hmn_dtype_name, HMN_DTYPE_UNKNOWN, "unknown"},
    {hmn_dtype_name, HMN_DTYPE_U8, "u8"},
    {hmn_dtype_name, HMN_DTYPE_I8, "i8"},
    {hmn_dtype_name, HMN_DTYPE_U16, "u16"},
    {hmn_dtype_name, HMN_DTYPE_I16, "i16"},
    {hmn_dtype_name, HMN_DTYPE_U32, "u32"},
    {hmn_dtype_name, HMN_DTYPE_I32, "i32"},
    {hmn_dtype_name, HMN_DTYPE_U64, "u64"},
    {hmn_dtype_name, HMN_DTYPE_I64, "i64"},
    {hmn_dtype_name, HMN_DTYPE_F16, "f16"},
    {hmn_dtype_name, HMN_DTYPE_BF16, "bf16"},
    {hmn_dtype_name, HMN_DTYPE_F32, "f32"},
    {hmn_dtype_name, HMN_DTYPE_F64, "f64"},
    {hmn_dtype_name, HMN_DTYPE_F8E4M3, "f8e4m3"},
    {hmn_dtype_name, HMN_DTYPE_F8E5M2, "f8e5m2"},
    {hmn_dtype_name, HMN_DTYPE_F8E8M0, "f8e8m0"},
    {hmn_dtype_name, HMN_DTYPE_F6E2M3, "f6e2m3"},
    {hmn_dtype_name, HMN_DTYPE_F6E3M2, "f6e3m2"},
    {hmn_dtype_name, HMN_DTYPE_F4, "f4"},
    {hmn_dtype_name, HMN_DTYPE_I4, "i4"},
    {hmn_dtype_name, HMN_DTYPE_U4, "u4"},
    {hmn_dtype_name, HMN_DTYPE_BOOL, "bool"},
    /* clang-format on */
};

static void each_number_has_its_name(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    assert_string_equal(names[i].function(names[i].number), names[i].name);
  }
}

static const struct {
  uint32_t metric;
  const char *name, *unit;
} metrics[] = {
    /* clang-format off */
    {HMN_METRIC_UNKNOWN, "unknown", ""},
    {HMN_METRIC_ENGINE_BUSY_NS, "engine_busy_ns", "ns"},
    {HMN_METRIC_ENGINE_PERCENT, "engine_percent", "%"},
    {HMN_METRIC_ENGINE_CAPACITY, "engine_capacity", ""},
    {HMN_METRIC_TEMPERATURE, "temperature", "C"},
    {HMN_METRIC_TEMPERATURE_LIMIT, "temperature_limit", "C"},
    {HMN_METRIC_FAN_RPM, "fan_rpm", "RPM"},
    {HMN_METRIC_FAN_PERCENT, "fan_percent", "%"},
    {HMN_METRIC_POWER_WATTS, "power_watts", "W"},
    {HMN_METRIC_ENERGY_JOULES, "energy_joules", "J"},
    {HMN_METRIC_CLOCK_MHZ, "clock_mhz", "MHz"},
    {HMN_METRIC_CLOCK_LIMIT_MHZ, "clock_limit_mhz", "MHz"},
    {HMN_METRIC_VOLTAGE, "voltage", "V"},
    {HMN_METRIC_TEMPERATURE_SHUTDOWN, "temperature_shutdown", "C"},
    {HMN_METRIC_POWER_LIMIT_WATTS, "power_limit_watts", "W"},
    {HMN_METRIC_ECC_CORRECTED, "ecc_corrected", ""},
    {HMN_METRIC_ECC_UNCORRECTED, "ecc_uncorrected", ""},
    {HMN_METRIC_ROWS_REMAPPED, "rows_remapped", ""},
    {HMN_METRIC_LAST_FAULT, "last_fault", ""},
    {HMN_METRIC_THROTTLE_NS, "throttle_ns", "ns"},
    {HMN_METRIC_PCIE_RX_BYTES, "pcie_rx_bytes", "B"},
    {HMN_METRIC_PCIE_TX_BYTES, "pcie_tx_bytes", "B"},
    {HMN_METRIC_PCIE_REPLAYS, "pcie_replays", ""},
    {HMN_METRIC_LINK_RX_BYTES, "link_rx_bytes", "B"},
    {HMN_METRIC_LINK_TX_BYTES, "link_tx_bytes", "B"},
    /* clang-format on */
};

static void each_metric_has_its_name_and_unit(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; ++i) {
    assert_string_equal(hmn_metric_name(metrics[i].metric), metrics[i].name);
    assert_string_equal(hmn_metric_unit(metrics[i].metric), metrics[i].unit);
  }
}

static const struct {
  uint32_t metric, instance;
  const char* name;
} instances[] = {
    /* clang-format off */
    {HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_UNKNOWN, ""},
    {HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_GRAPHICS, "graphics"},
    {HMN_METRIC_ENGINE_PERCENT, HMN_ENGINE_COMPUTE, "compute"},
    {HMN_METRIC_ENGINE_CAPACITY, HMN_ENGINE_COPY, "copy"},
    {HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_DECODE, "decode"},
    {HMN_METRIC_ENGINE_PERCENT, HMN_ENGINE_ENCODE, "encode"},
    {HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_VIDEO, "video"},
    {HMN_METRIC_ENGINE_BUSY_NS, HMN_ENGINE_OTHER, "other"},
    {HMN_METRIC_ENGINE_PERCENT, HMN_ENGINE_MEMORY, "memory"},
    {HMN_METRIC_TEMPERATURE, HMN_SENSOR_UNKNOWN, ""},
    {HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, "core"},
    {HMN_METRIC_TEMPERATURE_LIMIT, HMN_SENSOR_HOTSPOT, "hotspot"},
    {HMN_METRIC_TEMPERATURE_SHUTDOWN, HMN_SENSOR_MEMORY, "memory"},
    {HMN_METRIC_TEMPERATURE, HMN_SENSOR_PACKAGE, "package"},
    {HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, "board"},
    {HMN_METRIC_TEMPERATURE, HMN_SENSOR_REGULATOR, "regulator"},
    {HMN_METRIC_POWER_WATTS, HMN_POWER_READING_UNKNOWN, ""},
    {HMN_METRIC_POWER_WATTS, HMN_POWER_READING_AVERAGE, "average"},
    {HMN_METRIC_POWER_WATTS, HMN_POWER_READING_INSTANT, "instant"},
    {HMN_METRIC_ENERGY_JOULES, HMN_POWER_READING_PACKAGE, "package"},
    {HMN_METRIC_POWER_WATTS, HMN_POWER_READING_MEMORY, "memory"},
    {HMN_METRIC_POWER_WATTS, HMN_POWER_READING_BOARD, "board"},
    {HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_UNKNOWN, ""},
    {HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_CURRENT, "current"},
    {HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_DEFAULT, "default"},
    {HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_MIN, "min"},
    {HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_MAX, "max"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_UNKNOWN, ""},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_CORE, "core"},
    {HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_MEMORY, "memory"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_SM, "sm"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_VIDEO, "video"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_MEDIA, "media"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_SOC, "soc"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_FABRIC, "fabric"},
    {HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_REQUESTED, "requested"},
    {HMN_METRIC_VOLTAGE, HMN_RAIL_UNKNOWN, ""},
    {HMN_METRIC_VOLTAGE, HMN_RAIL_CORE, "core"},
    {HMN_METRIC_VOLTAGE, HMN_RAIL_SOC, "soc"},
    {HMN_METRIC_VOLTAGE, HMN_RAIL_MEMORY, "memory"},
    {HMN_METRIC_VOLTAGE, HMN_RAIL_BOARD, "board"},
    {HMN_METRIC_ECC_CORRECTED, HMN_ERA_UNKNOWN, ""},
    {HMN_METRIC_ECC_CORRECTED, HMN_ERA_SINCE_LOAD, "since_load"},
    {HMN_METRIC_ECC_UNCORRECTED, HMN_ERA_LIFETIME, "lifetime"},
    {HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_UNKNOWN, ""},
    {HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_CORRECTED, "corrected"},
    {HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_UNCORRECTED, "uncorrected"},
    {HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_PENDING, "pending"},
    {HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_FAILED, "failed"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_IDLE, "idle"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_POWER, "power"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_THERMAL, "thermal"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_HARDWARE, "hardware"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_SETTING, "setting"},
    {HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_OTHER, "other"},
    {HMN_METRIC_FAN_RPM, 1, ""},
    {HMN_METRIC_LINK_RX_BYTES, 1, ""},
    /* clang-format on */
};

static void each_instance_has_its_name(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof instances / sizeof instances[0]; ++i) {
    print_message("  %s %u\n", hmn_metric_name(instances[i].metric), instances[i].instance);
    assert_string_equal(hmn_metric_instance_name(instances[i].metric, instances[i].instance),
                        instances[i].name);
  }
}

/* ---- units ---- */

static const char all_values[] =
    "{\"host\": {"
    "\"self\": {\"resident\": \"301MiB\", \"peak_resident\": \"302MiB\", \"virtual\": \"303MiB\","
    " \"swap\": \"304MiB\", \"proportional\": \"305MiB\", \"private\": \"306MiB\", \"committed\": "
    "\"307MiB\","
    " \"footprint\": \"308MiB\", \"peak_footprint\": \"309MiB\", \"peak_committed\": \"310MiB\"},"
    "\"system\": {\"total\": \"401MiB\", \"available\": \"200MiB\", \"swap_total\": \"403MiB\","
    " \"swap_free\": \"204MiB\", \"limit\": \"300MiB\", \"limit_used\": \"206MiB\", "
    "\"commit_limit\": \"407MiB\","
    " \"committed\": \"208MiB\", \"stall_percent\": 12.25}},"
    "\"devices\": [{\"name\": \"GPU\", \"uuid\": \"GPU-1\", \"pci_bus_id\": \"0000:01:00.0\","
    "\"pools\": [{\"kind\": \"vram\", \"total\": \"1000MiB\", \"used\": \"300MiB\", \"reserved\": "
    "\"28MiB\","
    " \"usable\": \"500MiB\", \"budget\": \"900MiB\"},"
    " {\"kind\": \"host\", \"total\": \"800MiB\", \"used\": \"64MiB\"}],"
    "\"telemetry\": {\"gpu_busy_percent\": 64.25, \"memory_busy_percent\": 12, "
    "\"encoder_busy_percent\": 1.5,"
    " \"decoder_busy_percent\": 2.5, \"temperature_celsius\": 45, \"hotspot_celsius\": 57.5, "
    "\"memory_celsius\": 60,"
    " \"power_watts\": 123.5, \"power_limit_watts\": 300, \"energy_joules\": 5000.25, "
    "\"core_clock_mhz\": 2520,"
    " \"memory_clock_mhz\": 9001, \"fan_percent\": 105, \"fan_rpm\": 1400, \"pcie_rx_bytes\": "
    "18446744073709551615,"
    " \"pcie_tx_bytes\": 7, \"window_ns\": 166000000},"
    "\"metrics\": [{\"metric\": \"temperature\", \"instance\": \"core\", \"value\": 45.5, "
    "\"window_ns\": 7000}],"
    "\"groups\": [{\"name\": \"docker:1c8f\", \"used\": \"101MiB\", \"limit\": \"202MiB\"}],"
    "\"processes\": [{\"pid\": \"self\", \"used\": \"40MiB\"},"
    " {\"pid\": 4242, \"start_unix_ns\": 1700000001000000007, \"used\": \"201MiB\", \"peak_used\": "
    "\"212MiB\","
    " \"resident\": \"203MiB\", \"committed\": \"204MiB\", \"allocated\": \"205MiB\", \"shared\": "
    "\"16MiB\","
    " \"purgeable\": \"7MiB\", \"evicted\": \"8MiB\", \"host_pool\": \"32MiB\", \"host_resident\": "
    "\"210MiB\","
    " \"budget\": \"211MiB\", \"busy_ns\": 5000000, \"busy_percent\": 50.5, \"window_ns\": "
    "1000000000}]}],"
    "\"delays\": [{\"call\": \"pools\", \"ms\": 200}]}";

static void assert_present(const struct field* fields, const void* record, const char* name) {
  hmn_fields present = 0;
  memcpy(&present, (const char*)record + 2 * sizeof(uint32_t), sizeof present);
  while (fields->name != NULL && strcmp(fields->name, name) != 0) ++fields;
  assert_non_null(fields->name);
  if (fields->bit != 0 && (present & fields->bit) == 0) fail_msg("%s has no presence bit", name);
}

/* The variable `type` is a record of that type. */
#define UNIT(type, member, expected)                                                           \
  do {                                                                                         \
    assert_present(type##_fields, &(type), #member);                                           \
    if (!((type).member == (expected))) {                                                      \
      fail_msg(#type "." #member " is %g, not %g", (double)(type).member, (double)(expected)); \
    }                                                                                          \
  } while (0)
/* Between two times in nanoseconds that were measured here. */
#define BETWEEN(type, member, min, max)                                              \
  do {                                                                               \
    assert_present(type##_fields, &(type), #member);                                 \
    if (!((type).member >= (min) && (type).member <= (max))) {                       \
      fail_msg(#type "." #member " is %g, not from %g to %g", (double)(type).member, \
               (double)(min), (double)(max));                                        \
    }                                                                                \
  } while (0)

static hmn_snapshot* take(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  hmn_snapshot* snapshot = NULL;
  options.collect = EVERYTHING;
  assert_returns(hmn_snapshot_take(context, &options, &snapshot, &error), HMN_OK);
  return snapshot;
}

static void check_memory_units(const hmn_snapshot* s) {
  NEW(hmn_process_memory, process_memory);
  NEW(hmn_system_memory, system_memory);
  assert_status(hmn_snapshot_memory(s, &process_memory, NULL), HMN_OK);
  UNIT(process_memory, resident_bytes, MIB(301));
  UNIT(process_memory, virtual_bytes, MIB(303));
  assert_status(hmn_snapshot_system(s, &system_memory, NULL), HMN_OK);
  UNIT(system_memory, total_bytes, MIB(401));
  UNIT(system_memory, available_bytes, MIB(200));
  UNIT(system_memory, swap_total_bytes, MIB(403));
  UNIT(system_memory, swap_free_bytes, MIB(204));
  UNIT(system_memory, limit_bytes, MIB(300));
  UNIT(system_memory, limit_used_bytes, MIB(206));
  UNIT(system_memory, commit_limit_bytes, MIB(407));
  UNIT(system_memory, committed_bytes, MIB(208));
  UNIT(system_memory, usable_bytes, MIB(94)); /* what the limit leaves */
  UNIT(system_memory, stall_percent, 12.25);
}

static void check_more_memory_units(hmn_context* context) {
  NEW(hmn_process_memory, process_memory);
  assert_returns(hmn_process_memory_read_self(context, (1 << 10) - 1, &process_memory, &error),
                 HMN_OK);
  UNIT(process_memory, peak_resident_bytes, MIB(302));
  UNIT(process_memory, swap_bytes, MIB(304));
  UNIT(process_memory, proportional_bytes, MIB(305));
  UNIT(process_memory, private_bytes, MIB(306));
  UNIT(process_memory, committed_bytes, MIB(307));
  UNIT(process_memory, footprint_bytes, MIB(308));
  UNIT(process_memory, peak_footprint_bytes, MIB(309));
  UNIT(process_memory, peak_committed_bytes, MIB(310));
}

static void check_device_units(const hmn_snapshot* s) {
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_metric, metric);
  NEW(hmn_group, group);
  assert_status(hmn_snapshot_find_pool(s, 0, HMN_POOL_VRAM, 0, &pool, NULL), HMN_OK);
  UNIT(pool, total_bytes, MIB(1000));
  UNIT(pool, free_bytes, MIB(672));
  UNIT(pool, used_bytes, MIB(300));
  UNIT(pool, reserved_bytes, MIB(28));
  UNIT(pool, usable_bytes, MIB(500));
  UNIT(pool, budget_bytes, MIB(900));
  UNIT(pool, unattributed_bytes, MIB(300 - 201 - 40));
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, NULL), HMN_OK);
  UNIT(telemetry, gpu_busy_percent, 64.25);
  UNIT(telemetry, memory_busy_percent, 12);
  UNIT(telemetry, encoder_busy_percent, 1.5);
  UNIT(telemetry, decoder_busy_percent, 2.5);
  UNIT(telemetry, temperature_celsius, 45);
  UNIT(telemetry, hotspot_celsius, 57.5);
  UNIT(telemetry, memory_celsius, 60);
  UNIT(telemetry, power_watts, 123.5);
  UNIT(telemetry, power_limit_watts, 300);
  UNIT(telemetry, energy_joules, 5000.25);
  UNIT(telemetry, core_clock_mhz, 2520);
  UNIT(telemetry, memory_clock_mhz, 9001);
  UNIT(telemetry, fan_percent, 105);
  UNIT(telemetry, fan_rpm, 1400);
  UNIT(telemetry, pcie_rx_bytes, UINT64_MAX);
  UNIT(telemetry, pcie_tx_bytes, 7);
  UNIT(telemetry, window_ns, MS(166));
  assert_status(hmn_snapshot_metric_at(s, 0, &metric, NULL), HMN_OK);
  UNIT(metric, value, 45.5);
  UNIT(metric, window_ns, 7000);
  assert_status(hmn_snapshot_group_at(s, 0, &group, NULL), HMN_OK);
  UNIT(group, used_bytes, MIB(101));
  UNIT(group, limit_bytes, MIB(202));
}

static void check_process_units(const hmn_snapshot* s) {
  NEW(hmn_snapshot_info, info);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_read(s, &info, NULL), HMN_OK);
  for (uint32_t i = 0; i < info.usage_count && usage.pid != 4242; ++i) {
    assert_status(hmn_snapshot_usage_at(s, i, &usage, NULL), HMN_OK);
  }
  assert_int_equal(usage.pid, 4242);
  UNIT(usage, start_unix_ns, UINT64_C(1700000001000000007));
  UNIT(usage, used_bytes, MIB(201));
  UNIT(usage, peak_used_bytes, MIB(212));
  UNIT(usage, resident_bytes, MIB(203));
  UNIT(usage, committed_bytes, MIB(204));
  UNIT(usage, allocated_bytes, MIB(205));
  UNIT(usage, shared_bytes, MIB(16));
  UNIT(usage, purgeable_bytes, MIB(7));
  UNIT(usage, evicted_bytes, MIB(8));
  UNIT(usage, host_pool_bytes, MIB(32));
  UNIT(usage, host_resident_bytes, MIB(210));
  UNIT(usage, budget_bytes, MIB(211));
  UNIT(usage, busy_ns, MS(5));
  UNIT(usage, busy_percent, 50.5);
  UNIT(usage, window_ns, MS(1000));
}

static void every_value_has_its_unit(void** state) {
  (void)state;
  machine m;
  machine_make(&m, all_values, NULL);
  hmn_snapshot* snapshot = take(m.context);
  check_memory_units(snapshot);
  check_more_memory_units(m.context);
  check_device_units(snapshot);
  check_process_units(snapshot);
  hmn_snapshot_destroy(snapshot);
  machine_end(&m);
}

/* The pools take 200 ms. */
static void a_snapshot_is_timed_in_nanoseconds(void** state) {
  (void)state;
  machine m;
  machine_make(&m, all_values, NULL);
  const uint64_t start = now_ns();
  const uint64_t unix_start = unix_now_ns();
  hmn_snapshot* before = take(m.context);
  const uint64_t end = now_ns();
  const uint64_t unix_end = unix_now_ns();
  NEW(hmn_snapshot_info, snapshot_info);
  assert_status(hmn_snapshot_read(before, &snapshot_info, NULL), HMN_OK);
  BETWEEN(snapshot_info, duration_ns, MS(195), end - start);
  BETWEEN(snapshot_info, monotonic_ns, start, end);
  BETWEEN(snapshot_info, unix_time_ns, unix_start, unix_end);
  hmn_snapshot* after = take(m.context);
  const uint64_t delta_end = now_ns();
  NEW(hmn_delta, delta);
  assert_status(hmn_delta_read(before, after, 0, &delta, NULL), HMN_OK);
  BETWEEN(delta, elapsed_ns, MS(195), delta_end - start);
  UNIT(delta, memory_bytes, 0);
  UNIT(delta, device_bytes, 0);
  UNIT(delta, energy_joules, 0);
  hmn_snapshot_destroy(before);
  hmn_snapshot_destroy(after);
  machine_end(&m);
}

/* A cached value ages from the driver's answer to the end of each later reading. */
static void an_age_is_in_nanoseconds_and_grows(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = patient_options(0);
  options.max_age_ns = HMN_NS_UNLIMITED;
  machine_make(&m, all_values, &options);
  const uint64_t start = now_ns();
  hmn_snapshot_destroy(take(m.context));
  const uint64_t read_end = now_ns();
  sleep_ms(300);
  const uint64_t reread_start = now_ns();
  hmn_snapshot* s = take(m.context);
  const uint64_t end = now_ns();
  NEW(hmn_pool, pool);
  NEW(hmn_telemetry, telemetry);
  NEW(hmn_metric, metric);
  NEW(hmn_group, group);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_pool_at(s, 0, &pool, NULL), HMN_OK);
  assert_status(hmn_snapshot_find_telemetry(s, 0, &telemetry, NULL), HMN_OK);
  assert_status(hmn_snapshot_metric_at(s, 0, &metric, NULL), HMN_OK);
  assert_status(hmn_snapshot_group_at(s, 0, &group, NULL), HMN_OK);
  assert_status(hmn_snapshot_usage_at(s, 0, &usage, NULL), HMN_OK);
  NEW(hmn_device, device);
  assert_status(hmn_snapshot_device_at(s, 0, &device, NULL), HMN_OK);
  BETWEEN(device, age_ns, 1, end - start);
  BETWEEN(pool, age_ns, reread_start - read_end, end - start);
  BETWEEN(telemetry, age_ns, reread_start - read_end, end - start);
  BETWEEN(metric, age_ns, reread_start - read_end, end - start);
  BETWEEN(group, age_ns, 1, end - reread_start); /* read each time */
  BETWEEN(usage, age_ns, reread_start - read_end, end - start);
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void a_traced_call_is_timed_in_nanoseconds(void** state) {
  (void)state;
  machine m;
  hmn_context_options options = patient_options(HMN_CONTEXT_TRACE);
  machine_make(&m, all_values, &options);
  const uint64_t start = now_ns();
  hmn_snapshot* s = take(m.context);
  const uint64_t end = now_ns();
  NEW(hmn_snapshot_info, info);
  NEW(hmn_diagnostic, diagnostic);
  uint64_t longest = 0;
  assert_status(hmn_snapshot_read(s, &info, NULL), HMN_OK);
  for (uint32_t i = 0; i < info.diagnostic_count; ++i) {
    assert_status(hmn_snapshot_diagnostic_at(s, i, &diagnostic, NULL), HMN_OK);
    if ((diagnostic.notes & HMN_NOTE_TRACE) == 0) continue;
    BETWEEN(diagnostic, duration_ns, 1, end - start);
    if (diagnostic.duration_ns > longest) longest = diagnostic.duration_ns;
  }
  assert_true(longest >= MS(195));
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void a_sampler_is_timed_in_nanoseconds(void** state) {
  (void)state;
  machine m;
  machine_make(&m, all_values, NULL);
  NEW(hmn_snapshot_options, options);
  hmn_sampler* sampler = NULL;
  hmn_snapshot* first = NULL;
  options.collect = EVERYTHING;
  assert_returns(hmn_sampler_create(m.context, NULL, &options, &sampler, &error), HMN_OK);
  const uint64_t start = now_ns();
  assert_returns(hmn_sampler_start(sampler, &error), HMN_OK);
  assert_returns(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &first, &error), HMN_OK);
  assert_returns(hmn_sampler_stop(sampler, &error), HMN_OK);
  const uint64_t end = now_ns();
  hmn_snapshot_destroy(first);
  NEW(hmn_sampler_info, sampler_info);
  NEW(hmn_peak, peak);
  NEW(hmn_pool, pool);
  assert_returns(hmn_sampler_read(sampler, &sampler_info, &error), HMN_OK);
  BETWEEN(sampler_info, last_monotonic_ns, start, end);
  assert_returns(hmn_sampler_peak(sampler, 0, 4242, &peak, &error), HMN_OK);
  UNIT(peak, used_bytes, MIB(201));
  UNIT(peak, host_pool_bytes, MIB(32));
  UNIT(peak, host_resident_bytes, MIB(210));
  BETWEEN(peak, used_monotonic_ns, start, end);
  sleep_ms(50);
  const uint64_t later = now_ns();
  assert_returns(hmn_sampler_latest_pool(sampler, 0, &pool, &error), HMN_OK);
  BETWEEN(pool, age_ns, later - end, now_ns() - start);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

static void a_spill_is_counted_in_bytes_and_nanoseconds(void** state) {
  (void)state;
  hmn_spill* spill = NULL;
  assert_returns(hmn_spill_create(NULL, 0, NULL, &spill, &error), HMN_OK);
  static const uint64_t evicted[] = {0, 1000, 2000, 0};
  for (uint64_t i = 0; i < 4; ++i) {
    NEW(hmn_spill_sample, sample);
    sample.flags = HMN_SPILL_SAMPLE_HAS_LIMIT | HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.monotonic_ns = 5 + i * 1000000000;
    sample.limit_bytes = MIB(10000);
    sample.dedicated_bytes = MIB(100 + i);
    sample.shared_bytes = MIB(10 + i);
    sample.evicted_bytes = MIB(1 + evicted[i]);
    assert_returns(hmn_spill_feed(spill, &sample, "", &error), HMN_OK);
  }
  NEW(hmn_spill_info, spill_info);
  NEW(hmn_episode, episode);
  assert_returns(hmn_spill_read(spill, &spill_info, &error), HMN_OK);
  UNIT(spill_info, limit_bytes, MIB(10000));
  UNIT(spill_info, dedicated_bytes, MIB(103));
  UNIT(spill_info, shared_bytes, MIB(13));
  UNIT(spill_info, evicted_bytes, MIB(1));
  UNIT(spill_info, peak_dedicated_bytes, MIB(103));
  UNIT(spill_info, peak_shared_bytes, MIB(13));
  UNIT(spill_info, peak_evicted_bytes, MIB(2001));
  UNIT(spill_info, baseline_shared_bytes, MIB(10));
  UNIT(spill_info, baseline_evicted_bytes, MIB(1));
  UNIT(spill_info, total_ns, MS(1000));
  UNIT(spill_info, longest_ns, MS(1000));
  assert_returns(hmn_spill_episode(spill, 0, &episode, &error), HMN_OK);
  UNIT(episode, start_monotonic_ns, MS(1000) + 5);
  UNIT(episode, end_monotonic_ns, MS(3000) + 5);
  UNIT(episode, duration_ns, MS(1000));
  UNIT(episode, peak_shared_bytes, MIB(12));
  UNIT(episode, peak_evicted_bytes, MIB(2001));
  hmn_spill_destroy(spill);
}

static void a_tracker_counts_bytes(void** state) {
  (void)state;
  NEW(hmn_tracker_options, options);
  NEW(hmn_tracker_info, tracker_info);
  NEW(hmn_tag, tag);
  hmn_tracker* tracker = NULL;
  uint32_t number = 0;
  options.flags = HMN_TRACKER_LIMITED;
  options.limit_bytes = 1000;
  assert_returns(hmn_tracker_create(NULL, 0, &options, &tracker, &error), HMN_OK);
  assert_returns(hmn_tracker_tag(tracker, "weights", &number, &error), HMN_OK);
  assert_returns(hmn_tracker_allocate_tagged(tracker, number, 700, &error), HMN_OK);
  assert_returns(hmn_tracker_release_tagged(tracker, number, 100, &error), HMN_OK);
  assert_status(hmn_tracker_read(tracker, &tracker_info, NULL), HMN_OK);
  UNIT(tracker_info, limit_bytes, 1000);
  UNIT(tracker_info, allocated_bytes, 600);
  UNIT(tracker_info, peak_bytes, 700);
  assert_status(hmn_tracker_read_tag(tracker, number, &tag, NULL), HMN_OK);
  UNIT(tag, allocated_bytes, 600);
  UNIT(tag, peak_bytes, 700);
  hmn_tracker_destroy(tracker);
}

/* ---- presence ---- */

static int is_written(const struct field* f, const char* record) {
  static const size_t sizes[] = {[U32] = 4, [I32] = 4, [U64] = 8, [I64] = 8, [F64] = 8, [TEXT] = 1};
  return !is_zero(record + f->offset, sizes[f->kind]);
}

/* No value without its bit, in any record of a machine that has all of them, and in a record of
 * each kind with few fields. */
#define BITS(type, record, call)                                                                  \
  do {                                                                                            \
    NEW(hmn_##type, record);                                                                      \
    if ((call) != HMN_OK) break;                                                                  \
    for (const struct field* f = type##_fields; f->name != NULL; ++f) {                           \
      if (f->bit != 0 && (record.present & f->bit) == 0 && is_written(f, (const char*)&record)) { \
        fail_msg("hmn_" #type ".%s has a value and no bit", f->name);                             \
      }                                                                                           \
    }                                                                                             \
    ++checked;                                                                                    \
  } while (0)

static void a_value_without_its_bit_is_zero(void** state) {
  const fixture* all = *state;
  const hmn_snapshot* s = all->after;
  unsigned checked = 0;
  BITS(process_memory, r, hmn_snapshot_memory(s, &r, NULL));
  BITS(system_memory, r, hmn_snapshot_system(s, &r, NULL));
  BITS(delta, r, hmn_delta_read(all->before, s, 0, &r, NULL));
  for (uint32_t i = 0; i < 16; ++i) {
    BITS(device, r, hmn_snapshot_device_at(s, i, &r, NULL));
    BITS(pool, r, hmn_snapshot_pool_at(s, i, &r, NULL));
    BITS(telemetry, r, hmn_snapshot_find_telemetry(s, i, &r, NULL));
    BITS(usage, r, hmn_snapshot_find_self(s, i, &r, NULL));
    BITS(usage, r, hmn_snapshot_usage_at(s, i, &r, NULL));
    BITS(metric, r, hmn_snapshot_metric_at(s, i, &r, NULL));
    BITS(group, r, hmn_snapshot_group_at(s, i, &r, NULL));
    BITS(diagnostic, r, hmn_snapshot_diagnostic_at(s, i, &r, NULL));
    BITS(device, r, hmn_device_read(all->context, i, 0, &r, NULL));
    BITS(telemetry, r, hmn_telemetry_read(all->context, i, HMN_TELEMETRY_HAS_POWER, &r, NULL));
    BITS(pool, r, hmn_pool_read(all->context, i, HMN_POOL_MAIN, 0, HMN_POOL_HAS_TOTAL, &r, NULL));
    BITS(usage, r, hmn_usage_read(all->context, i, 4242, HMN_USAGE_HAS_USED, &r, NULL));
  }
  assert_true(checked > 30);
}

/* ---- documented texts ---- */

#define USING(ram, used)                                                           \
  "\"host\": {\"self\": {\"resident\": \"" ram                                     \
  "\", \"virtual\": \"1GiB\"}}, \"devices\": [{"                                   \
  "\"name\": \"name\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16384MiB\", " \
  "\"used\": \"3100MiB\"}], \"processes\": [{\"pid\": \"self\", \"used\": \"" used "\"}]}]"

static void texts_match_the_examples_in_the_header(void** state) {
  (void)state;
  machine m;
  char text[128];
  uint32_t needed = 0;
  machine_make(&m,
               "{" USING("100MiB", "0MiB") ", \"changes\": [{\"at_reading\": 3, " USING(
                   "200MiB", "500MiB") "}]}",
               NULL);
  hmn_snapshot* before = take(m.context);
  hmn_snapshot* after = take(m.context);
  assert_status(hmn_format_device(before, 0, HMN_FORMAT_FREE, 0, text, sizeof text, &needed, NULL),
                HMN_OK);
  assert_string_equal(text, "  GPU 0: free 13284 MiB / 16384 MiB [name]\n");
  assert_int_equal(needed, strlen(text) + 1);
  NEW(hmn_usage, usage);
  assert_status(hmn_snapshot_find_self(after, 0, &usage, NULL), HMN_OK);
  if (usage.used_bytes == 0) { /* the first call lists the devices, which is one more reading */
    hmn_snapshot_destroy(after);
    after = take(m.context);
  }
  NEW(hmn_process_memory, memory);
  assert_status(hmn_snapshot_memory(after, &memory, NULL), HMN_OK);
  for (int i = 0; i < 3 && memory.resident_bytes == MIB(100); ++i) {
    hmn_snapshot_destroy(after);
    after = take(m.context);
    assert_status(hmn_snapshot_memory(after, &memory, NULL), HMN_OK);
  }
  assert_status(hmn_report_delta(before, after, 0, "label", 0, text, sizeof text, NULL, NULL),
                HMN_OK);
  assert_string_equal(text, "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n");
  hmn_snapshot_destroy(before);
  hmn_snapshot_destroy(after);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_number_has_its_name),
      cmocka_unit_test(each_metric_has_its_name_and_unit),
      cmocka_unit_test(each_instance_has_its_name),
      cmocka_unit_test(every_value_has_its_unit),
      cmocka_unit_test(a_snapshot_is_timed_in_nanoseconds),
      cmocka_unit_test(an_age_is_in_nanoseconds_and_grows),
      cmocka_unit_test(a_traced_call_is_timed_in_nanoseconds),
      cmocka_unit_test(a_sampler_is_timed_in_nanoseconds),
      cmocka_unit_test(a_spill_is_counted_in_bytes_and_nanoseconds),
      cmocka_unit_test(a_tracker_counts_bytes),
      cmocka_unit_test(a_value_without_its_bit_is_zero),
      cmocka_unit_test(texts_match_the_examples_in_the_header),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
