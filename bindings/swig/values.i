// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.

HMN_VALUES(hmn_backend_info)
%{
static const hmn_value hmn_backend_info_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_backend_info, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_backend_info, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_backend_info, state), 0},
  {HMN_VALUE_i32, offsetof(hmn_backend_info, status), 0},
  {HMN_VALUE_u32, offsetof(hmn_backend_info, native_domain), 0},
  {HMN_VALUE_i32, offsetof(hmn_backend_info, native_code), 0},
  {HMN_VALUE_text, offsetof(hmn_backend_info, version), HMN_BACKEND_INFO_HAS_VERSION},
  {HMN_VALUE_text, offsetof(hmn_backend_info, message), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_process_memory)
%{
static const hmn_value hmn_process_memory_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_process_memory, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_process_memory, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_process_memory, pid), 0},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, resident_bytes), HMN_PROCESS_MEMORY_HAS_RESIDENT},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, peak_resident_bytes), HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, virtual_bytes), HMN_PROCESS_MEMORY_HAS_VIRTUAL},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, swap_bytes), HMN_PROCESS_MEMORY_HAS_SWAP},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, proportional_bytes), HMN_PROCESS_MEMORY_HAS_PROPORTIONAL},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, private_bytes), HMN_PROCESS_MEMORY_HAS_PRIVATE},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, committed_bytes), HMN_PROCESS_MEMORY_HAS_COMMITTED},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, footprint_bytes), HMN_PROCESS_MEMORY_HAS_FOOTPRINT},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, peak_footprint_bytes), HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, peak_committed_bytes), HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED},
  {HMN_VALUE_u64, offsetof(hmn_process_memory, process_key), HMN_PROCESS_MEMORY_HAS_PROCESS_KEY},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_system_memory)
%{
static const hmn_value hmn_system_memory_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_system_memory, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_system_memory, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_system_memory, pressure), HMN_SYSTEM_MEMORY_HAS_PRESSURE},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, total_bytes), HMN_SYSTEM_MEMORY_HAS_TOTAL},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, available_bytes), HMN_SYSTEM_MEMORY_HAS_AVAILABLE},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, swap_total_bytes), HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, swap_free_bytes), HMN_SYSTEM_MEMORY_HAS_SWAP_FREE},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, limit_bytes), HMN_SYSTEM_MEMORY_HAS_LIMIT},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, limit_used_bytes), HMN_SYSTEM_MEMORY_HAS_LIMIT_USED},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, commit_limit_bytes), HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, committed_bytes), HMN_SYSTEM_MEMORY_HAS_COMMITTED},
  {HMN_VALUE_f64, offsetof(hmn_system_memory, stall_percent), HMN_SYSTEM_MEMORY_HAS_STALL},
  {HMN_VALUE_u64, offsetof(hmn_system_memory, usable_bytes), HMN_SYSTEM_MEMORY_HAS_USABLE},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_device)
%{
static const hmn_value hmn_device_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_device, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, index), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, device_class), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, form), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, state), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, vendor), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, memory_kind), 0},
  {HMN_VALUE_u32, offsetof(hmn_device, parent_index), HMN_DEVICE_HAS_PARENT},
  {HMN_VALUE_u32, offsetof(hmn_device, driver_index), HMN_DEVICE_HAS_DRIVER_INDEX},
  {HMN_VALUE_u32, offsetof(hmn_device, pci_device), HMN_DEVICE_HAS_PCI_DEVICE},
  {HMN_VALUE_u32, offsetof(hmn_device, pci_subsystem), HMN_DEVICE_HAS_PCI_SUBSYSTEM},
  {HMN_VALUE_u32, offsetof(hmn_device, render_minor), HMN_DEVICE_HAS_RENDER_MINOR},
  {HMN_VALUE_u32, offsetof(hmn_device, numa_node), HMN_DEVICE_HAS_NUMA_NODE},
  {HMN_VALUE_u32, offsetof(hmn_device, gpu_instance), HMN_DEVICE_HAS_INSTANCE},
  {HMN_VALUE_u32, offsetof(hmn_device, compute_instance), HMN_DEVICE_HAS_INSTANCE},
  {HMN_VALUE_u32, offsetof(hmn_device, cuda_version_major), HMN_DEVICE_HAS_CUDA_VERSION},
  {HMN_VALUE_u32, offsetof(hmn_device, cuda_version_minor), HMN_DEVICE_HAS_CUDA_VERSION},
  {HMN_VALUE_u32, offsetof(hmn_device, compute_capability_major), HMN_DEVICE_HAS_COMPUTE_CAPABILITY},
  {HMN_VALUE_u32, offsetof(hmn_device, compute_capability_minor), HMN_DEVICE_HAS_COMPUTE_CAPABILITY},
  {HMN_VALUE_u64, offsetof(hmn_device, os_id), HMN_DEVICE_HAS_OS_ID},
  {HMN_VALUE_seconds, offsetof(hmn_device, age_ns), 0},
  {HMN_VALUE_text, offsetof(hmn_device, name), HMN_DEVICE_HAS_NAME},
  {HMN_VALUE_text, offsetof(hmn_device, uuid), HMN_DEVICE_HAS_UUID},
  {HMN_VALUE_text, offsetof(hmn_device, pci_bus_id), HMN_DEVICE_HAS_PCI},
  {HMN_VALUE_text, offsetof(hmn_device, driver_version), HMN_DEVICE_HAS_DRIVER},
  {HMN_VALUE_text, offsetof(hmn_device, architecture), HMN_DEVICE_HAS_ARCHITECTURE},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_pool)
%{
static const hmn_value hmn_pool_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_pool, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_pool, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_pool, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_pool, kind), 0},
  {HMN_VALUE_u32, offsetof(hmn_pool, accounting), 0},
  {HMN_VALUE_bool, offsetof(hmn_pool, is_main), 0},
  {HMN_VALUE_u32, offsetof(hmn_pool, instance), 0},
  {HMN_VALUE_u64, offsetof(hmn_pool, total_bytes), HMN_POOL_HAS_TOTAL},
  {HMN_VALUE_u64, offsetof(hmn_pool, free_bytes), HMN_POOL_HAS_FREE},
  {HMN_VALUE_u64, offsetof(hmn_pool, used_bytes), HMN_POOL_HAS_USED},
  {HMN_VALUE_u64, offsetof(hmn_pool, reserved_bytes), HMN_POOL_HAS_RESERVED},
  {HMN_VALUE_u64, offsetof(hmn_pool, usable_bytes), HMN_POOL_HAS_USABLE},
  {HMN_VALUE_u64, offsetof(hmn_pool, budget_bytes), HMN_POOL_HAS_BUDGET},
  {HMN_VALUE_u64, offsetof(hmn_pool, unattributed_bytes), HMN_POOL_HAS_UNATTRIBUTED},
  {HMN_VALUE_seconds, offsetof(hmn_pool, age_ns), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_telemetry)
%{
static const hmn_value hmn_telemetry_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_telemetry, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, core_clock_mhz), HMN_TELEMETRY_HAS_CORE_CLOCK},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, memory_clock_mhz), HMN_TELEMETRY_HAS_MEMORY_CLOCK},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, fan_percent), HMN_TELEMETRY_HAS_FAN_PERCENT},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, fan_rpm), HMN_TELEMETRY_HAS_FAN_RPM},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, pcie_generation), HMN_TELEMETRY_HAS_PCIE_GENERATION},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, pcie_width), HMN_TELEMETRY_HAS_PCIE_WIDTH},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, p_state), HMN_TELEMETRY_HAS_P_STATE},
  {HMN_VALUE_u32, offsetof(hmn_telemetry, throttle), HMN_TELEMETRY_HAS_THROTTLE},
  {HMN_VALUE_u64, offsetof(hmn_telemetry, backends), 0},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, gpu_busy_percent), HMN_TELEMETRY_HAS_GPU_BUSY},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, memory_busy_percent), HMN_TELEMETRY_HAS_MEMORY_BUSY},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, encoder_busy_percent), HMN_TELEMETRY_HAS_ENCODER_BUSY},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, decoder_busy_percent), HMN_TELEMETRY_HAS_DECODER_BUSY},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, temperature_celsius), HMN_TELEMETRY_HAS_TEMPERATURE},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, hotspot_celsius), HMN_TELEMETRY_HAS_HOTSPOT},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, memory_celsius), HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, power_watts), HMN_TELEMETRY_HAS_POWER},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, power_limit_watts), HMN_TELEMETRY_HAS_POWER_LIMIT},
  {HMN_VALUE_f64, offsetof(hmn_telemetry, energy_joules), HMN_TELEMETRY_HAS_ENERGY},
  {HMN_VALUE_u64, offsetof(hmn_telemetry, pcie_rx_bytes), HMN_TELEMETRY_HAS_PCIE_RX},
  {HMN_VALUE_u64, offsetof(hmn_telemetry, pcie_tx_bytes), HMN_TELEMETRY_HAS_PCIE_TX},
  {HMN_VALUE_seconds, offsetof(hmn_telemetry, window_ns), HMN_TELEMETRY_HAS_WINDOW},
  {HMN_VALUE_seconds, offsetof(hmn_telemetry, age_ns), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_metric)
%{
static const hmn_value hmn_metric_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_metric, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_metric, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_metric, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_metric, id), 0},
  {HMN_VALUE_u32, offsetof(hmn_metric, instance), 0},
  {HMN_VALUE_f64, offsetof(hmn_metric, value), HMN_METRIC_HAS_VALUE},
  {HMN_VALUE_u64, offsetof(hmn_metric, count), HMN_METRIC_HAS_COUNT},
  {HMN_VALUE_seconds, offsetof(hmn_metric, window_ns), HMN_METRIC_HAS_WINDOW},
  {HMN_VALUE_seconds, offsetof(hmn_metric, age_ns), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_usage)
%{
static const hmn_value hmn_usage_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_usage, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, pid), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, kinds), HMN_USAGE_HAS_KINDS},
  {HMN_VALUE_u32, offsetof(hmn_usage, accounting), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, name_state), 0},
  {HMN_VALUE_u32, offsetof(hmn_usage, uid), HMN_USAGE_HAS_UID},
  {HMN_VALUE_u32, offsetof(hmn_usage, gpu_instance), HMN_USAGE_HAS_INSTANCE},
  {HMN_VALUE_u32, offsetof(hmn_usage, compute_instance), HMN_USAGE_HAS_INSTANCE},
  {HMN_VALUE_seconds, offsetof(hmn_usage, start_unix_ns), HMN_USAGE_HAS_START_TIME},
  {HMN_VALUE_u64, offsetof(hmn_usage, used_bytes), HMN_USAGE_HAS_USED},
  {HMN_VALUE_u64, offsetof(hmn_usage, resident_bytes), HMN_USAGE_HAS_RESIDENT},
  {HMN_VALUE_u64, offsetof(hmn_usage, committed_bytes), HMN_USAGE_HAS_COMMITTED},
  {HMN_VALUE_u64, offsetof(hmn_usage, allocated_bytes), HMN_USAGE_HAS_ALLOCATED},
  {HMN_VALUE_u64, offsetof(hmn_usage, shared_bytes), HMN_USAGE_HAS_SHARED},
  {HMN_VALUE_u64, offsetof(hmn_usage, purgeable_bytes), HMN_USAGE_HAS_PURGEABLE},
  {HMN_VALUE_u64, offsetof(hmn_usage, evicted_bytes), HMN_USAGE_HAS_EVICTED},
  {HMN_VALUE_u64, offsetof(hmn_usage, host_pool_bytes), HMN_USAGE_HAS_HOST_POOL},
  {HMN_VALUE_u64, offsetof(hmn_usage, host_resident_bytes), HMN_USAGE_HAS_HOST_RESIDENT},
  {HMN_VALUE_u64, offsetof(hmn_usage, budget_bytes), HMN_USAGE_HAS_BUDGET},
  {HMN_VALUE_seconds, offsetof(hmn_usage, busy_ns), HMN_USAGE_HAS_BUSY_NS},
  {HMN_VALUE_f64, offsetof(hmn_usage, busy_percent), HMN_USAGE_HAS_BUSY_PERCENT},
  {HMN_VALUE_seconds, offsetof(hmn_usage, window_ns), HMN_USAGE_HAS_BUSY_PERCENT},
  {HMN_VALUE_seconds, offsetof(hmn_usage, age_ns), 0},
  {HMN_VALUE_u64, offsetof(hmn_usage, peak_used_bytes), HMN_USAGE_HAS_PEAK_USED},
  {HMN_VALUE_u64, offsetof(hmn_usage, process_key), HMN_USAGE_HAS_PROCESS_KEY},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_group)
%{
static const hmn_value hmn_group_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_group, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_group, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_group, device_index), 0},
  {HMN_VALUE_u64, offsetof(hmn_group, used_bytes), HMN_GROUP_HAS_USED},
  {HMN_VALUE_u64, offsetof(hmn_group, limit_bytes), HMN_GROUP_HAS_LIMIT},
  {HMN_VALUE_seconds, offsetof(hmn_group, age_ns), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_snapshot_info)
%{
static const hmn_value hmn_snapshot_info_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, collect), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, device_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, pool_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, usage_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, diagnostic_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, unreadable_process_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, metric_count), 0},
  {HMN_VALUE_u32, offsetof(hmn_snapshot_info, group_count), 0},
  {HMN_VALUE_seconds, offsetof(hmn_snapshot_info, unix_time_ns), 0},
  {HMN_VALUE_seconds, offsetof(hmn_snapshot_info, monotonic_ns), 0},
  {HMN_VALUE_seconds, offsetof(hmn_snapshot_info, duration_ns), 0},
  {HMN_VALUE_u64, offsetof(hmn_snapshot_info, device_generation), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_diagnostic)
%{
static const hmn_value hmn_diagnostic_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, reason), 0},
  {HMN_VALUE_i32, offsetof(hmn_diagnostic, status), 0},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, native_domain), 0},
  {HMN_VALUE_i32, offsetof(hmn_diagnostic, native_code), 0},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, subject), 0},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, device_index), HMN_DIAGNOSTIC_HAS_DEVICE},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, pid), HMN_DIAGNOSTIC_HAS_PID},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, pool), HMN_DIAGNOSTIC_HAS_POOL},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, pool_instance), HMN_DIAGNOSTIC_HAS_POOL},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, metric), HMN_DIAGNOSTIC_HAS_METRIC},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, metric_instance), HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE},
  {HMN_VALUE_u64, offsetof(hmn_diagnostic, field), HMN_DIAGNOSTIC_HAS_FIELD},
  {HMN_VALUE_seconds, offsetof(hmn_diagnostic, duration_ns), HMN_DIAGNOSTIC_HAS_DURATION},
  {HMN_VALUE_u32, offsetof(hmn_diagnostic, count), 0},
  {HMN_VALUE_text, offsetof(hmn_diagnostic, message), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_delta)
%{
static const hmn_value hmn_delta_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_delta, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_delta, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_delta, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_delta, scope), 0},
  {HMN_VALUE_u32, offsetof(hmn_delta, accounting), 0},
  {HMN_VALUE_i64, offsetof(hmn_delta, memory_bytes), HMN_DELTA_HAS_MEMORY},
  {HMN_VALUE_i64, offsetof(hmn_delta, device_bytes), HMN_DELTA_HAS_DEVICE},
  {HMN_VALUE_seconds, offsetof(hmn_delta, elapsed_ns), 0},
  {HMN_VALUE_f64, offsetof(hmn_delta, energy_joules), HMN_DELTA_HAS_ENERGY},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_sampler_info)
%{
static const hmn_value hmn_sampler_info_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_sampler_info, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_sampler_info, state), 0},
  {HMN_VALUE_u32, offsetof(hmn_sampler_info, pending), 0},
  {HMN_VALUE_i32, offsetof(hmn_sampler_info, last_status), HMN_SAMPLER_INFO_HAS_LAST},
  {HMN_VALUE_u64, offsetof(hmn_sampler_info, taken_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_sampler_info, dropped_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_sampler_info, late_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_sampler_info, failed_count), 0},
  {HMN_VALUE_seconds, offsetof(hmn_sampler_info, last_monotonic_ns), HMN_SAMPLER_INFO_HAS_LAST},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_peak)
%{
static const hmn_value hmn_peak_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_peak, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_peak, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_peak, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_peak, pid), 0},
  {HMN_VALUE_u32, offsetof(hmn_peak, accounting), 0},
  {HMN_VALUE_u64, offsetof(hmn_peak, used_bytes), HMN_PEAK_HAS_USED},
  {HMN_VALUE_u64, offsetof(hmn_peak, host_pool_bytes), HMN_PEAK_HAS_HOST_POOL},
  {HMN_VALUE_u64, offsetof(hmn_peak, host_resident_bytes), HMN_PEAK_HAS_HOST_RESIDENT},
  {HMN_VALUE_seconds, offsetof(hmn_peak, used_monotonic_ns), HMN_PEAK_HAS_USED},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_tracker_info)
%{
static const hmn_value hmn_tracker_info_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_tracker_info, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_tracker_info, device_index), HMN_TRACKER_INFO_HAS_DEVICE},
  {HMN_VALUE_u32, offsetof(hmn_tracker_info, tag_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_tracker_info, limit_bytes), HMN_TRACKER_INFO_HAS_LIMIT},
  {HMN_VALUE_u64, offsetof(hmn_tracker_info, allocated_bytes), 0},
  {HMN_VALUE_u64, offsetof(hmn_tracker_info, peak_bytes), 0},
  {HMN_VALUE_u64, offsetof(hmn_tracker_info, refused_count), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_tag)
%{
static const hmn_value hmn_tag_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_tag, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_tag, number), 0},
  {HMN_VALUE_u64, offsetof(hmn_tag, allocated_bytes), 0},
  {HMN_VALUE_u64, offsetof(hmn_tag, peak_bytes), 0},
  {HMN_VALUE_text, offsetof(hmn_tag, name), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_spill_info)
%{
static const hmn_value hmn_spill_info_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_spill_info, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_spill_info, backend), 0},
  {HMN_VALUE_u32, offsetof(hmn_spill_info, device_index), 0},
  {HMN_VALUE_u32, offsetof(hmn_spill_info, state), 0},
  {HMN_VALUE_u32, offsetof(hmn_spill_info, rules), 0},
  {HMN_VALUE_i32, offsetof(hmn_spill_info, status), 0},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, observation_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, skipped_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, episode_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, first_episode), 0},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, limit_bytes), HMN_SPILL_INFO_HAS_LIMIT},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, dedicated_bytes), HMN_SPILL_INFO_HAS_OBSERVED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, shared_bytes), HMN_SPILL_INFO_HAS_OBSERVED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, evicted_bytes), HMN_SPILL_INFO_HAS_EVICTED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, peak_dedicated_bytes), HMN_SPILL_INFO_HAS_OBSERVED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, peak_shared_bytes), HMN_SPILL_INFO_HAS_OBSERVED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, peak_evicted_bytes), HMN_SPILL_INFO_HAS_PEAK_EVICTED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, baseline_shared_bytes), HMN_SPILL_INFO_HAS_OBSERVED},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, baseline_evicted_bytes), HMN_SPILL_INFO_HAS_PEAK_EVICTED},
  {HMN_VALUE_seconds, offsetof(hmn_spill_info, total_ns), 0},
  {HMN_VALUE_seconds, offsetof(hmn_spill_info, longest_ns), HMN_SPILL_INFO_HAS_EPISODE},
  {HMN_VALUE_u64, offsetof(hmn_spill_info, longest_episode), HMN_SPILL_INFO_HAS_EPISODE},
  {HMN_VALUE_text, offsetof(hmn_spill_info, first_label), HMN_SPILL_INFO_HAS_EPISODE},
  {HMN_VALUE_text, offsetof(hmn_spill_info, message), 0},
  {HMN_VALUE_end, 0, 0},
};
%}

HMN_VALUES(hmn_episode)
%{
static const hmn_value hmn_episode_values[] = {
  {HMN_VALUE_u32, offsetof(hmn_episode, notes), 0},
  {HMN_VALUE_u32, offsetof(hmn_episode, rules), 0},
  {HMN_VALUE_u64, offsetof(hmn_episode, number), 0},
  {HMN_VALUE_u64, offsetof(hmn_episode, observation_count), 0},
  {HMN_VALUE_u64, offsetof(hmn_episode, peak_shared_bytes), 0},
  {HMN_VALUE_u64, offsetof(hmn_episode, peak_evicted_bytes), HMN_EPISODE_HAS_PEAK_EVICTED},
  {HMN_VALUE_seconds, offsetof(hmn_episode, start_monotonic_ns), 0},
  {HMN_VALUE_seconds, offsetof(hmn_episode, end_monotonic_ns), HMN_EPISODE_HAS_END},
  {HMN_VALUE_seconds, offsetof(hmn_episode, duration_ns), 0},
  {HMN_VALUE_text, offsetof(hmn_episode, start_label), 0},
  {HMN_VALUE_text, offsetof(hmn_episode, end_label), HMN_EPISODE_HAS_END},
  {HMN_VALUE_end, 0, 0},
};
%}
