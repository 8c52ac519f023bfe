// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.

HMN_RECORD(hmn_error)
typedef struct {
  hmn_status status;
  hmn_flags notes;
  uint32_t backend;
  uint32_t reason;
  uint32_t native_domain;
  int32_t native_code;
  char message[256];
} hmn_error;

HMN_RECORD(hmn_backend_info)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t state;
  hmn_status status;
  uint32_t native_domain;
  int32_t native_code;
  char message[256];
} hmn_backend_info;
HMN_OPTIONAL(hmn_backend_info, text, version, HMN_BACKEND_INFO_HAS_VERSION)

HMN_RECORD(hmn_process_memory)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t pid;
} hmn_process_memory;
HMN_OPTIONAL(hmn_process_memory, u64, resident_bytes, HMN_PROCESS_MEMORY_HAS_RESIDENT)
HMN_OPTIONAL(hmn_process_memory, u64, peak_resident_bytes, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT)
HMN_OPTIONAL(hmn_process_memory, u64, virtual_bytes, HMN_PROCESS_MEMORY_HAS_VIRTUAL)
HMN_OPTIONAL(hmn_process_memory, u64, swap_bytes, HMN_PROCESS_MEMORY_HAS_SWAP)
HMN_OPTIONAL(hmn_process_memory, u64, proportional_bytes, HMN_PROCESS_MEMORY_HAS_PROPORTIONAL)
HMN_OPTIONAL(hmn_process_memory, u64, private_bytes, HMN_PROCESS_MEMORY_HAS_PRIVATE)
HMN_OPTIONAL(hmn_process_memory, u64, committed_bytes, HMN_PROCESS_MEMORY_HAS_COMMITTED)
HMN_OPTIONAL(hmn_process_memory, u64, footprint_bytes, HMN_PROCESS_MEMORY_HAS_FOOTPRINT)
HMN_OPTIONAL(hmn_process_memory, u64, peak_footprint_bytes, HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT)
HMN_OPTIONAL(hmn_process_memory, u64, peak_committed_bytes, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED)
HMN_OPTIONAL(hmn_process_memory, u64, process_key, HMN_PROCESS_MEMORY_HAS_PROCESS_KEY)

HMN_RECORD(hmn_system_memory)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
} hmn_system_memory;
HMN_OPTIONAL(hmn_system_memory, u32, pressure, HMN_SYSTEM_MEMORY_HAS_PRESSURE)
HMN_OPTIONAL(hmn_system_memory, u64, total_bytes, HMN_SYSTEM_MEMORY_HAS_TOTAL)
HMN_OPTIONAL(hmn_system_memory, u64, available_bytes, HMN_SYSTEM_MEMORY_HAS_AVAILABLE)
HMN_OPTIONAL(hmn_system_memory, u64, swap_total_bytes, HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL)
HMN_OPTIONAL(hmn_system_memory, u64, swap_free_bytes, HMN_SYSTEM_MEMORY_HAS_SWAP_FREE)
HMN_OPTIONAL(hmn_system_memory, u64, limit_bytes, HMN_SYSTEM_MEMORY_HAS_LIMIT)
HMN_OPTIONAL(hmn_system_memory, u64, limit_used_bytes, HMN_SYSTEM_MEMORY_HAS_LIMIT_USED)
HMN_OPTIONAL(hmn_system_memory, u64, commit_limit_bytes, HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT)
HMN_OPTIONAL(hmn_system_memory, u64, committed_bytes, HMN_SYSTEM_MEMORY_HAS_COMMITTED)
HMN_OPTIONAL(hmn_system_memory, f64, stall_percent, HMN_SYSTEM_MEMORY_HAS_STALL)
HMN_OPTIONAL(hmn_system_memory, u64, usable_bytes, HMN_SYSTEM_MEMORY_HAS_USABLE)

HMN_RECORD(hmn_device)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t index;
  uint32_t device_class;
  uint32_t form;
  uint32_t state;
  uint32_t vendor;
  uint32_t memory_kind;
  uint64_t age_ns;
} hmn_device;
HMN_OPTIONAL(hmn_device, u32, parent_index, HMN_DEVICE_HAS_PARENT)
HMN_OPTIONAL(hmn_device, u32, driver_index, HMN_DEVICE_HAS_DRIVER_INDEX)
HMN_OPTIONAL(hmn_device, u32, pci_device, HMN_DEVICE_HAS_PCI_DEVICE)
HMN_OPTIONAL(hmn_device, u32, pci_subsystem, HMN_DEVICE_HAS_PCI_SUBSYSTEM)
HMN_OPTIONAL(hmn_device, u32, render_minor, HMN_DEVICE_HAS_RENDER_MINOR)
HMN_OPTIONAL(hmn_device, u32, numa_node, HMN_DEVICE_HAS_NUMA_NODE)
HMN_OPTIONAL(hmn_device, u32, gpu_instance, HMN_DEVICE_HAS_INSTANCE)
HMN_OPTIONAL(hmn_device, u32, compute_instance, HMN_DEVICE_HAS_INSTANCE)
HMN_OPTIONAL(hmn_device, u32, cuda_version_major, HMN_DEVICE_HAS_CUDA_VERSION)
HMN_OPTIONAL(hmn_device, u32, cuda_version_minor, HMN_DEVICE_HAS_CUDA_VERSION)
HMN_OPTIONAL(hmn_device, u32, compute_capability_major, HMN_DEVICE_HAS_COMPUTE_CAPABILITY)
HMN_OPTIONAL(hmn_device, u32, compute_capability_minor, HMN_DEVICE_HAS_COMPUTE_CAPABILITY)
HMN_OPTIONAL(hmn_device, u64, os_id, HMN_DEVICE_HAS_OS_ID)
HMN_OPTIONAL(hmn_device, text, name, HMN_DEVICE_HAS_NAME)
HMN_OPTIONAL(hmn_device, text, uuid, HMN_DEVICE_HAS_UUID)
HMN_OPTIONAL(hmn_device, text, pci_bus_id, HMN_DEVICE_HAS_PCI)
HMN_OPTIONAL(hmn_device, text, driver_version, HMN_DEVICE_HAS_DRIVER)
HMN_OPTIONAL(hmn_device, text, architecture, HMN_DEVICE_HAS_ARCHITECTURE)

HMN_RECORD(hmn_pool)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint32_t kind;
  uint32_t accounting;
  uint32_t is_main;
  uint32_t instance;
  uint64_t age_ns;
} hmn_pool;
HMN_OPTIONAL(hmn_pool, u64, total_bytes, HMN_POOL_HAS_TOTAL)
HMN_OPTIONAL(hmn_pool, u64, free_bytes, HMN_POOL_HAS_FREE)
HMN_OPTIONAL(hmn_pool, u64, used_bytes, HMN_POOL_HAS_USED)
HMN_OPTIONAL(hmn_pool, u64, reserved_bytes, HMN_POOL_HAS_RESERVED)
HMN_OPTIONAL(hmn_pool, u64, usable_bytes, HMN_POOL_HAS_USABLE)
HMN_OPTIONAL(hmn_pool, u64, budget_bytes, HMN_POOL_HAS_BUDGET)
HMN_OPTIONAL(hmn_pool, u64, unattributed_bytes, HMN_POOL_HAS_UNATTRIBUTED)

HMN_RECORD(hmn_telemetry)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint64_t backends;
  uint64_t age_ns;
} hmn_telemetry;
HMN_OPTIONAL(hmn_telemetry, u32, core_clock_mhz, HMN_TELEMETRY_HAS_CORE_CLOCK)
HMN_OPTIONAL(hmn_telemetry, u32, memory_clock_mhz, HMN_TELEMETRY_HAS_MEMORY_CLOCK)
HMN_OPTIONAL(hmn_telemetry, u32, fan_percent, HMN_TELEMETRY_HAS_FAN_PERCENT)
HMN_OPTIONAL(hmn_telemetry, u32, fan_rpm, HMN_TELEMETRY_HAS_FAN_RPM)
HMN_OPTIONAL(hmn_telemetry, u32, pcie_generation, HMN_TELEMETRY_HAS_PCIE_GENERATION)
HMN_OPTIONAL(hmn_telemetry, u32, pcie_width, HMN_TELEMETRY_HAS_PCIE_WIDTH)
HMN_OPTIONAL(hmn_telemetry, u32, p_state, HMN_TELEMETRY_HAS_P_STATE)
HMN_OPTIONAL(hmn_telemetry, u32, throttle, HMN_TELEMETRY_HAS_THROTTLE)
HMN_OPTIONAL(hmn_telemetry, f64, gpu_busy_percent, HMN_TELEMETRY_HAS_GPU_BUSY)
HMN_OPTIONAL(hmn_telemetry, f64, memory_busy_percent, HMN_TELEMETRY_HAS_MEMORY_BUSY)
HMN_OPTIONAL(hmn_telemetry, f64, encoder_busy_percent, HMN_TELEMETRY_HAS_ENCODER_BUSY)
HMN_OPTIONAL(hmn_telemetry, f64, decoder_busy_percent, HMN_TELEMETRY_HAS_DECODER_BUSY)
HMN_OPTIONAL(hmn_telemetry, f64, temperature_celsius, HMN_TELEMETRY_HAS_TEMPERATURE)
HMN_OPTIONAL(hmn_telemetry, f64, hotspot_celsius, HMN_TELEMETRY_HAS_HOTSPOT)
HMN_OPTIONAL(hmn_telemetry, f64, memory_celsius, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE)
HMN_OPTIONAL(hmn_telemetry, f64, power_watts, HMN_TELEMETRY_HAS_POWER)
HMN_OPTIONAL(hmn_telemetry, f64, power_limit_watts, HMN_TELEMETRY_HAS_POWER_LIMIT)
HMN_OPTIONAL(hmn_telemetry, f64, energy_joules, HMN_TELEMETRY_HAS_ENERGY)
HMN_OPTIONAL(hmn_telemetry, u64, pcie_rx_bytes, HMN_TELEMETRY_HAS_PCIE_RX)
HMN_OPTIONAL(hmn_telemetry, u64, pcie_tx_bytes, HMN_TELEMETRY_HAS_PCIE_TX)
HMN_OPTIONAL(hmn_telemetry, u64, window_ns, HMN_TELEMETRY_HAS_WINDOW)

HMN_RECORD(hmn_metric)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint32_t id;
  uint32_t instance;
  uint64_t age_ns;
} hmn_metric;
HMN_OPTIONAL(hmn_metric, f64, value, HMN_METRIC_HAS_VALUE)
HMN_OPTIONAL(hmn_metric, u64, count, HMN_METRIC_HAS_COUNT)
HMN_OPTIONAL(hmn_metric, u64, window_ns, HMN_METRIC_HAS_WINDOW)

HMN_RECORD(hmn_usage)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t pid;
  uint32_t device_index;
  uint32_t accounting;
  uint32_t name_state;
  uint64_t age_ns;
} hmn_usage;
HMN_OPTIONAL(hmn_usage, u32, kinds, HMN_USAGE_HAS_KINDS)
HMN_OPTIONAL(hmn_usage, u32, uid, HMN_USAGE_HAS_UID)
HMN_OPTIONAL(hmn_usage, u32, gpu_instance, HMN_USAGE_HAS_INSTANCE)
HMN_OPTIONAL(hmn_usage, u32, compute_instance, HMN_USAGE_HAS_INSTANCE)
HMN_OPTIONAL(hmn_usage, u64, start_unix_ns, HMN_USAGE_HAS_START_TIME)
HMN_OPTIONAL(hmn_usage, u64, used_bytes, HMN_USAGE_HAS_USED)
HMN_OPTIONAL(hmn_usage, u64, resident_bytes, HMN_USAGE_HAS_RESIDENT)
HMN_OPTIONAL(hmn_usage, u64, committed_bytes, HMN_USAGE_HAS_COMMITTED)
HMN_OPTIONAL(hmn_usage, u64, allocated_bytes, HMN_USAGE_HAS_ALLOCATED)
HMN_OPTIONAL(hmn_usage, u64, shared_bytes, HMN_USAGE_HAS_SHARED)
HMN_OPTIONAL(hmn_usage, u64, purgeable_bytes, HMN_USAGE_HAS_PURGEABLE)
HMN_OPTIONAL(hmn_usage, u64, evicted_bytes, HMN_USAGE_HAS_EVICTED)
HMN_OPTIONAL(hmn_usage, u64, host_pool_bytes, HMN_USAGE_HAS_HOST_POOL)
HMN_OPTIONAL(hmn_usage, u64, host_resident_bytes, HMN_USAGE_HAS_HOST_RESIDENT)
HMN_OPTIONAL(hmn_usage, u64, budget_bytes, HMN_USAGE_HAS_BUDGET)
HMN_OPTIONAL(hmn_usage, u64, busy_ns, HMN_USAGE_HAS_BUSY_NS)
HMN_OPTIONAL(hmn_usage, f64, busy_percent, HMN_USAGE_HAS_BUSY_PERCENT)
HMN_OPTIONAL(hmn_usage, u64, window_ns, HMN_USAGE_HAS_BUSY_PERCENT)
HMN_OPTIONAL(hmn_usage, u64, peak_used_bytes, HMN_USAGE_HAS_PEAK_USED)
HMN_OPTIONAL(hmn_usage, u64, process_key, HMN_USAGE_HAS_PROCESS_KEY)

HMN_RECORD(hmn_group)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint64_t age_ns;
} hmn_group;
HMN_OPTIONAL(hmn_group, u64, used_bytes, HMN_GROUP_HAS_USED)
HMN_OPTIONAL(hmn_group, u64, limit_bytes, HMN_GROUP_HAS_LIMIT)

HMN_RECORD(hmn_snapshot_info)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  hmn_flags collect;
  uint32_t device_count;
  uint32_t pool_count;
  uint32_t usage_count;
  uint32_t diagnostic_count;
  uint32_t unreadable_process_count;
  uint32_t metric_count;
  uint32_t group_count;
  uint64_t unix_time_ns;
  uint64_t monotonic_ns;
  uint64_t duration_ns;
  uint64_t device_generation;
} hmn_snapshot_info;

HMN_RECORD(hmn_diagnostic)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t reason;
  hmn_status status;
  uint32_t native_domain;
  int32_t native_code;
  hmn_flags subject;
  uint32_t count;
  char message[256];
} hmn_diagnostic;
HMN_OPTIONAL(hmn_diagnostic, u32, device_index, HMN_DIAGNOSTIC_HAS_DEVICE)
HMN_OPTIONAL(hmn_diagnostic, u32, pid, HMN_DIAGNOSTIC_HAS_PID)
HMN_OPTIONAL(hmn_diagnostic, u32, pool, HMN_DIAGNOSTIC_HAS_POOL)
HMN_OPTIONAL(hmn_diagnostic, u32, pool_instance, HMN_DIAGNOSTIC_HAS_POOL)
HMN_OPTIONAL(hmn_diagnostic, u32, metric, HMN_DIAGNOSTIC_HAS_METRIC)
HMN_OPTIONAL(hmn_diagnostic, u32, metric_instance, HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE)
HMN_OPTIONAL(hmn_diagnostic, u64, field, HMN_DIAGNOSTIC_HAS_FIELD)
HMN_OPTIONAL(hmn_diagnostic, u64, duration_ns, HMN_DIAGNOSTIC_HAS_DURATION)

HMN_RECORD(hmn_delta)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint32_t scope;
  uint32_t accounting;
  uint64_t elapsed_ns;
} hmn_delta;
HMN_OPTIONAL(hmn_delta, i64, memory_bytes, HMN_DELTA_HAS_MEMORY)
HMN_OPTIONAL(hmn_delta, i64, device_bytes, HMN_DELTA_HAS_DEVICE)
HMN_OPTIONAL(hmn_delta, f64, energy_joules, HMN_DELTA_HAS_ENERGY)

HMN_RECORD(hmn_sampler_info)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t state;
  uint32_t pending;
  uint64_t taken_count;
  uint64_t dropped_count;
  uint64_t late_count;
  uint64_t failed_count;
} hmn_sampler_info;
HMN_OPTIONAL(hmn_sampler_info, i32, last_status, HMN_SAMPLER_INFO_HAS_LAST)
HMN_OPTIONAL(hmn_sampler_info, u64, last_monotonic_ns, HMN_SAMPLER_INFO_HAS_LAST)

HMN_RECORD(hmn_peak)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  uint32_t pid;
  uint32_t accounting;
} hmn_peak;
HMN_OPTIONAL(hmn_peak, u64, used_bytes, HMN_PEAK_HAS_USED)
HMN_OPTIONAL(hmn_peak, u64, host_pool_bytes, HMN_PEAK_HAS_HOST_POOL)
HMN_OPTIONAL(hmn_peak, u64, host_resident_bytes, HMN_PEAK_HAS_HOST_RESIDENT)
HMN_OPTIONAL(hmn_peak, u64, used_monotonic_ns, HMN_PEAK_HAS_USED)

HMN_RECORD(hmn_tracker_info)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t tag_count;
  uint64_t allocated_bytes;
  uint64_t peak_bytes;
  uint64_t refused_count;
} hmn_tracker_info;
HMN_OPTIONAL(hmn_tracker_info, u32, device_index, HMN_TRACKER_INFO_HAS_DEVICE)
HMN_OPTIONAL(hmn_tracker_info, u64, limit_bytes, HMN_TRACKER_INFO_HAS_LIMIT)

HMN_RECORD(hmn_tag)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t number;
  uint64_t allocated_bytes;
  uint64_t peak_bytes;
  char name[64];
} hmn_tag;

HMN_RECORD(hmn_spill_info)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  uint32_t backend;
  uint32_t device_index;
  hmn_flags state;
  hmn_flags rules;
  hmn_status status;
  uint64_t observation_count;
  uint64_t skipped_count;
  uint64_t episode_count;
  uint64_t first_episode;
  uint64_t total_ns;
  char message[256];
} hmn_spill_info;
HMN_OPTIONAL(hmn_spill_info, u64, limit_bytes, HMN_SPILL_INFO_HAS_LIMIT)
HMN_OPTIONAL(hmn_spill_info, u64, dedicated_bytes, HMN_SPILL_INFO_HAS_OBSERVED)
HMN_OPTIONAL(hmn_spill_info, u64, shared_bytes, HMN_SPILL_INFO_HAS_OBSERVED)
HMN_OPTIONAL(hmn_spill_info, u64, evicted_bytes, HMN_SPILL_INFO_HAS_EVICTED)
HMN_OPTIONAL(hmn_spill_info, u64, peak_dedicated_bytes, HMN_SPILL_INFO_HAS_OBSERVED)
HMN_OPTIONAL(hmn_spill_info, u64, peak_shared_bytes, HMN_SPILL_INFO_HAS_OBSERVED)
HMN_OPTIONAL(hmn_spill_info, u64, peak_evicted_bytes, HMN_SPILL_INFO_HAS_PEAK_EVICTED)
HMN_OPTIONAL(hmn_spill_info, u64, baseline_shared_bytes, HMN_SPILL_INFO_HAS_OBSERVED)
HMN_OPTIONAL(hmn_spill_info, u64, baseline_evicted_bytes, HMN_SPILL_INFO_HAS_PEAK_EVICTED)
HMN_OPTIONAL(hmn_spill_info, u64, longest_ns, HMN_SPILL_INFO_HAS_EPISODE)
HMN_OPTIONAL(hmn_spill_info, u64, longest_episode, HMN_SPILL_INFO_HAS_EPISODE)
HMN_OPTIONAL(hmn_spill_info, text, first_label, HMN_SPILL_INFO_HAS_EPISODE)

HMN_RECORD(hmn_episode)
typedef struct {
  hmn_fields present;
  hmn_flags notes;
  hmn_flags rules;
  uint64_t number;
  uint64_t observation_count;
  uint64_t peak_shared_bytes;
  uint64_t start_monotonic_ns;
  uint64_t duration_ns;
  char start_label[64];
} hmn_episode;
HMN_OPTIONAL(hmn_episode, u64, peak_evicted_bytes, HMN_EPISODE_HAS_PEAK_EVICTED)
HMN_OPTIONAL(hmn_episode, u64, end_monotonic_ns, HMN_EPISODE_HAS_END)
HMN_OPTIONAL(hmn_episode, text, end_label, HMN_EPISODE_HAS_END)
