// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.

%{
static void hmn_lua_push_hmn_error(lua_State *L, const hmn_error *record) {
  lua_createtable(L, 0, 7);
  HMN_LUA_FIELD(i32, status);
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, reason);
  HMN_LUA_FIELD(u32, native_domain);
  HMN_LUA_FIELD(i32, native_code);
  HMN_LUA_FIELD(text, message);
}
%}
HMN_LUA_RECORD(hmn_error)

%{
static void hmn_lua_push_hmn_backend_info(lua_State *L, const hmn_backend_info *record) {
  lua_createtable(L, 0, 7 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, state);
  HMN_LUA_FIELD(i32, status);
  HMN_LUA_FIELD(u32, native_domain);
  HMN_LUA_FIELD(i32, native_code);
  if (record->present & HMN_BACKEND_INFO_HAS_VERSION)
    HMN_LUA_FIELD(text, version);
  HMN_LUA_FIELD(text, message);
}
%}
HMN_LUA_RECORD(hmn_backend_info)

%{
static void hmn_lua_push_hmn_process_memory(lua_State *L, const hmn_process_memory *record) {
  lua_createtable(L, 0, 3 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, pid);
  if (record->present & HMN_PROCESS_MEMORY_HAS_RESIDENT)
    HMN_LUA_FIELD(u64, resident_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT)
    HMN_LUA_FIELD(u64, peak_resident_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_VIRTUAL)
    HMN_LUA_FIELD(u64, virtual_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_SWAP)
    HMN_LUA_FIELD(u64, swap_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PROPORTIONAL)
    HMN_LUA_FIELD(u64, proportional_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PRIVATE)
    HMN_LUA_FIELD(u64, private_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_COMMITTED)
    HMN_LUA_FIELD(u64, committed_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_FOOTPRINT)
    HMN_LUA_FIELD(u64, footprint_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT)
    HMN_LUA_FIELD(u64, peak_footprint_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED)
    HMN_LUA_FIELD(u64, peak_committed_bytes);
  if (record->present & HMN_PROCESS_MEMORY_HAS_PROCESS_KEY)
    HMN_LUA_FIELD(u64, process_key);
}
%}
HMN_LUA_RECORD(hmn_process_memory)

%{
static void hmn_lua_push_hmn_system_memory(lua_State *L, const hmn_system_memory *record) {
  lua_createtable(L, 0, 2 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_PRESSURE)
    HMN_LUA_FIELD(u32, pressure);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_TOTAL)
    HMN_LUA_FIELD(u64, total_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_AVAILABLE)
    HMN_LUA_FIELD(u64, available_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL)
    HMN_LUA_FIELD(u64, swap_total_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_SWAP_FREE)
    HMN_LUA_FIELD(u64, swap_free_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_LIMIT)
    HMN_LUA_FIELD(u64, limit_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_LIMIT_USED)
    HMN_LUA_FIELD(u64, limit_used_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT)
    HMN_LUA_FIELD(u64, commit_limit_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_COMMITTED)
    HMN_LUA_FIELD(u64, committed_bytes);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_STALL)
    HMN_LUA_FIELD(f64, stall_percent);
  if (record->present & HMN_SYSTEM_MEMORY_HAS_USABLE)
    HMN_LUA_FIELD(u64, usable_bytes);
}
%}
HMN_LUA_RECORD(hmn_system_memory)

%{
static void hmn_lua_push_hmn_device(lua_State *L, const hmn_device *record) {
  lua_createtable(L, 0, 13 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, index);
  HMN_LUA_FIELD(u32, device_class);
  HMN_LUA_FIELD(u32, form);
  HMN_LUA_FIELD(u32, state);
  HMN_LUA_FIELD(u32, vendor);
  HMN_LUA_FIELD(u32, memory_kind);
  if (record->present & HMN_DEVICE_HAS_PARENT)
    HMN_LUA_FIELD(u32, parent_index);
  if (record->present & HMN_DEVICE_HAS_DRIVER_INDEX)
    HMN_LUA_FIELD(u32, driver_index);
  if (record->present & HMN_DEVICE_HAS_PCI_DEVICE)
    HMN_LUA_FIELD(u32, pci_device);
  if (record->present & HMN_DEVICE_HAS_PCI_SUBSYSTEM)
    HMN_LUA_FIELD(u32, pci_subsystem);
  if (record->present & HMN_DEVICE_HAS_RENDER_MINOR)
    HMN_LUA_FIELD(u32, render_minor);
  if (record->present & HMN_DEVICE_HAS_NUMA_NODE)
    HMN_LUA_FIELD(u32, numa_node);
  if (record->present & HMN_DEVICE_HAS_INSTANCE)
    HMN_LUA_FIELD(u32, gpu_instance);
  if (record->present & HMN_DEVICE_HAS_INSTANCE)
    HMN_LUA_FIELD(u32, compute_instance);
  if (record->present & HMN_DEVICE_HAS_CUDA_VERSION)
    HMN_LUA_FIELD(u32, cuda_version_major);
  if (record->present & HMN_DEVICE_HAS_CUDA_VERSION)
    HMN_LUA_FIELD(u32, cuda_version_minor);
  if (record->present & HMN_DEVICE_HAS_COMPUTE_CAPABILITY)
    HMN_LUA_FIELD(u32, compute_capability_major);
  if (record->present & HMN_DEVICE_HAS_COMPUTE_CAPABILITY)
    HMN_LUA_FIELD(u32, compute_capability_minor);
  if (record->present & HMN_DEVICE_HAS_OS_ID)
    HMN_LUA_FIELD(u64, os_id);
  HMN_LUA_SECONDS(age, age_ns);
  if (record->present & HMN_DEVICE_HAS_NAME)
    HMN_LUA_FIELD(text, name);
  if (record->present & HMN_DEVICE_HAS_UUID)
    HMN_LUA_FIELD(text, uuid);
  if (record->present & HMN_DEVICE_HAS_PCI)
    HMN_LUA_FIELD(text, pci_bus_id);
  if (record->present & HMN_DEVICE_HAS_DRIVER)
    HMN_LUA_FIELD(text, driver_version);
  if (record->present & HMN_DEVICE_HAS_ARCHITECTURE)
    HMN_LUA_FIELD(text, architecture);
}
%}
HMN_LUA_RECORD(hmn_device)

%{
static void hmn_lua_push_hmn_pool(lua_State *L, const hmn_pool *record) {
  lua_createtable(L, 0, 8 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, kind);
  HMN_LUA_FIELD(u32, accounting);
  HMN_LUA_FIELD(u32, is_main);
  HMN_LUA_FIELD(u32, instance);
  if (record->present & HMN_POOL_HAS_TOTAL)
    HMN_LUA_FIELD(u64, total_bytes);
  if (record->present & HMN_POOL_HAS_FREE)
    HMN_LUA_FIELD(u64, free_bytes);
  if (record->present & HMN_POOL_HAS_USED)
    HMN_LUA_FIELD(u64, used_bytes);
  if (record->present & HMN_POOL_HAS_RESERVED)
    HMN_LUA_FIELD(u64, reserved_bytes);
  if (record->present & HMN_POOL_HAS_USABLE)
    HMN_LUA_FIELD(u64, usable_bytes);
  if (record->present & HMN_POOL_HAS_BUDGET)
    HMN_LUA_FIELD(u64, budget_bytes);
  if (record->present & HMN_POOL_HAS_UNATTRIBUTED)
    HMN_LUA_FIELD(u64, unattributed_bytes);
  HMN_LUA_SECONDS(age, age_ns);
}
%}
HMN_LUA_RECORD(hmn_pool)

%{
static void hmn_lua_push_hmn_telemetry(lua_State *L, const hmn_telemetry *record) {
  lua_createtable(L, 0, 5 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  if (record->present & HMN_TELEMETRY_HAS_CORE_CLOCK)
    HMN_LUA_FIELD(u32, core_clock_mhz);
  if (record->present & HMN_TELEMETRY_HAS_MEMORY_CLOCK)
    HMN_LUA_FIELD(u32, memory_clock_mhz);
  if (record->present & HMN_TELEMETRY_HAS_FAN_PERCENT)
    HMN_LUA_FIELD(u32, fan_percent);
  if (record->present & HMN_TELEMETRY_HAS_FAN_RPM)
    HMN_LUA_FIELD(u32, fan_rpm);
  if (record->present & HMN_TELEMETRY_HAS_PCIE_GENERATION)
    HMN_LUA_FIELD(u32, pcie_generation);
  if (record->present & HMN_TELEMETRY_HAS_PCIE_WIDTH)
    HMN_LUA_FIELD(u32, pcie_width);
  if (record->present & HMN_TELEMETRY_HAS_P_STATE)
    HMN_LUA_FIELD(u32, p_state);
  if (record->present & HMN_TELEMETRY_HAS_THROTTLE)
    HMN_LUA_FIELD(u32, throttle);
  HMN_LUA_FIELD(u64, backends);
  if (record->present & HMN_TELEMETRY_HAS_GPU_BUSY)
    HMN_LUA_FIELD(f64, gpu_busy_percent);
  if (record->present & HMN_TELEMETRY_HAS_MEMORY_BUSY)
    HMN_LUA_FIELD(f64, memory_busy_percent);
  if (record->present & HMN_TELEMETRY_HAS_ENCODER_BUSY)
    HMN_LUA_FIELD(f64, encoder_busy_percent);
  if (record->present & HMN_TELEMETRY_HAS_DECODER_BUSY)
    HMN_LUA_FIELD(f64, decoder_busy_percent);
  if (record->present & HMN_TELEMETRY_HAS_TEMPERATURE)
    HMN_LUA_FIELD(f64, temperature_celsius);
  if (record->present & HMN_TELEMETRY_HAS_HOTSPOT)
    HMN_LUA_FIELD(f64, hotspot_celsius);
  if (record->present & HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE)
    HMN_LUA_FIELD(f64, memory_celsius);
  if (record->present & HMN_TELEMETRY_HAS_POWER)
    HMN_LUA_FIELD(f64, power_watts);
  if (record->present & HMN_TELEMETRY_HAS_POWER_LIMIT)
    HMN_LUA_FIELD(f64, power_limit_watts);
  if (record->present & HMN_TELEMETRY_HAS_ENERGY)
    HMN_LUA_FIELD(f64, energy_joules);
  if (record->present & HMN_TELEMETRY_HAS_PCIE_RX)
    HMN_LUA_FIELD(u64, pcie_rx_bytes);
  if (record->present & HMN_TELEMETRY_HAS_PCIE_TX)
    HMN_LUA_FIELD(u64, pcie_tx_bytes);
  if (record->present & HMN_TELEMETRY_HAS_WINDOW)
    HMN_LUA_SECONDS(window, window_ns);
  HMN_LUA_SECONDS(age, age_ns);
}
%}
HMN_LUA_RECORD(hmn_telemetry)

%{
static void hmn_lua_push_hmn_metric(lua_State *L, const hmn_metric *record) {
  lua_createtable(L, 0, 6 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, id);
  HMN_LUA_FIELD(u32, instance);
  if (record->present & HMN_METRIC_HAS_VALUE)
    HMN_LUA_FIELD(f64, value);
  if (record->present & HMN_METRIC_HAS_COUNT)
    HMN_LUA_FIELD(u64, count);
  if (record->present & HMN_METRIC_HAS_WINDOW)
    HMN_LUA_SECONDS(window, window_ns);
  HMN_LUA_SECONDS(age, age_ns);
}
%}
HMN_LUA_RECORD(hmn_metric)

%{
static void hmn_lua_push_hmn_usage(lua_State *L, const hmn_usage *record) {
  lua_createtable(L, 0, 10 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, pid);
  HMN_LUA_FIELD(u32, device_index);
  if (record->present & HMN_USAGE_HAS_KINDS)
    HMN_LUA_FIELD(u32, kinds);
  HMN_LUA_FIELD(u32, accounting);
  HMN_LUA_FIELD(u32, name_state);
  if (record->present & HMN_USAGE_HAS_UID)
    HMN_LUA_FIELD(u32, uid);
  if (record->present & HMN_USAGE_HAS_INSTANCE)
    HMN_LUA_FIELD(u32, gpu_instance);
  if (record->present & HMN_USAGE_HAS_INSTANCE)
    HMN_LUA_FIELD(u32, compute_instance);
  if (record->present & HMN_USAGE_HAS_START_TIME)
    HMN_LUA_SECONDS(start_time, start_unix_ns);
  if (record->present & HMN_USAGE_HAS_USED)
    HMN_LUA_FIELD(u64, used_bytes);
  if (record->present & HMN_USAGE_HAS_RESIDENT)
    HMN_LUA_FIELD(u64, resident_bytes);
  if (record->present & HMN_USAGE_HAS_COMMITTED)
    HMN_LUA_FIELD(u64, committed_bytes);
  if (record->present & HMN_USAGE_HAS_ALLOCATED)
    HMN_LUA_FIELD(u64, allocated_bytes);
  if (record->present & HMN_USAGE_HAS_SHARED)
    HMN_LUA_FIELD(u64, shared_bytes);
  if (record->present & HMN_USAGE_HAS_PURGEABLE)
    HMN_LUA_FIELD(u64, purgeable_bytes);
  if (record->present & HMN_USAGE_HAS_EVICTED)
    HMN_LUA_FIELD(u64, evicted_bytes);
  if (record->present & HMN_USAGE_HAS_HOST_POOL)
    HMN_LUA_FIELD(u64, host_pool_bytes);
  if (record->present & HMN_USAGE_HAS_HOST_RESIDENT)
    HMN_LUA_FIELD(u64, host_resident_bytes);
  if (record->present & HMN_USAGE_HAS_BUDGET)
    HMN_LUA_FIELD(u64, budget_bytes);
  if (record->present & HMN_USAGE_HAS_BUSY_NS)
    HMN_LUA_SECONDS(busy, busy_ns);
  if (record->present & HMN_USAGE_HAS_BUSY_PERCENT)
    HMN_LUA_FIELD(f64, busy_percent);
  if (record->present & HMN_USAGE_HAS_BUSY_PERCENT)
    HMN_LUA_SECONDS(window, window_ns);
  HMN_LUA_SECONDS(age, age_ns);
  if (record->present & HMN_USAGE_HAS_PEAK_USED)
    HMN_LUA_FIELD(u64, peak_used_bytes);
  if (record->present & HMN_USAGE_HAS_PROCESS_KEY)
    HMN_LUA_FIELD(u64, process_key);
}
static const hmn_lua_text hmn_usage_texts[] = {
  {HMN_TEXT_PROCESS_NAME, "name"},
  {HMN_TEXT_PROCESS_COMMAND, "command"},
  {HMN_TEXT_PROCESS_CONTAINER, "container"},
  {0, NULL},
};
%}
HMN_LUA_RECORD(hmn_usage)

%{
static void hmn_lua_push_hmn_group(lua_State *L, const hmn_group *record) {
  lua_createtable(L, 0, 5 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  if (record->present & HMN_GROUP_HAS_USED)
    HMN_LUA_FIELD(u64, used_bytes);
  if (record->present & HMN_GROUP_HAS_LIMIT)
    HMN_LUA_FIELD(u64, limit_bytes);
  HMN_LUA_SECONDS(age, age_ns);
}
static const hmn_lua_text hmn_group_texts[] = {
  {HMN_TEXT_GROUP_NAME, "name"},
  {0, NULL},
};
%}
HMN_LUA_RECORD(hmn_group)

%{
static void hmn_lua_push_hmn_snapshot_info(lua_State *L, const hmn_snapshot_info *record) {
  lua_createtable(L, 0, 13);
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, collect);
  HMN_LUA_FIELD(u32, device_count);
  HMN_LUA_FIELD(u32, pool_count);
  HMN_LUA_FIELD(u32, usage_count);
  HMN_LUA_FIELD(u32, diagnostic_count);
  HMN_LUA_FIELD(u32, unreadable_process_count);
  HMN_LUA_FIELD(u32, metric_count);
  HMN_LUA_FIELD(u32, group_count);
  HMN_LUA_SECONDS(time, unix_time_ns);
  HMN_LUA_SECONDS(monotonic, monotonic_ns);
  HMN_LUA_SECONDS(duration, duration_ns);
  HMN_LUA_FIELD(u64, device_generation);
}
%}
HMN_LUA_RECORD(hmn_snapshot_info)

%{
static void hmn_lua_push_hmn_diagnostic(lua_State *L, const hmn_diagnostic *record) {
  lua_createtable(L, 0, 9 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, reason);
  HMN_LUA_FIELD(i32, status);
  HMN_LUA_FIELD(u32, native_domain);
  HMN_LUA_FIELD(i32, native_code);
  HMN_LUA_FIELD(u32, subject);
  if (record->present & HMN_DIAGNOSTIC_HAS_DEVICE)
    HMN_LUA_FIELD(u32, device_index);
  if (record->present & HMN_DIAGNOSTIC_HAS_PID)
    HMN_LUA_FIELD(u32, pid);
  if (record->present & HMN_DIAGNOSTIC_HAS_POOL)
    HMN_LUA_FIELD(u32, pool);
  if (record->present & HMN_DIAGNOSTIC_HAS_POOL)
    HMN_LUA_FIELD(u32, pool_instance);
  if (record->present & HMN_DIAGNOSTIC_HAS_METRIC)
    HMN_LUA_FIELD(u32, metric);
  if (record->present & HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE)
    HMN_LUA_FIELD(u32, metric_instance);
  if (record->present & HMN_DIAGNOSTIC_HAS_FIELD)
    HMN_LUA_FIELD(fields, field);
  if (record->present & HMN_DIAGNOSTIC_HAS_DURATION)
    HMN_LUA_SECONDS(duration, duration_ns);
  HMN_LUA_FIELD(u32, count);
  HMN_LUA_FIELD(text, message);
}
%}
HMN_LUA_RECORD(hmn_diagnostic)

%{
static void hmn_lua_push_hmn_delta(lua_State *L, const hmn_delta *record) {
  lua_createtable(L, 0, 6 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, scope);
  HMN_LUA_FIELD(u32, accounting);
  if (record->present & HMN_DELTA_HAS_MEMORY)
    HMN_LUA_FIELD(i64, memory_bytes);
  if (record->present & HMN_DELTA_HAS_DEVICE)
    HMN_LUA_FIELD(i64, device_bytes);
  HMN_LUA_SECONDS(elapsed, elapsed_ns);
  if (record->present & HMN_DELTA_HAS_ENERGY)
    HMN_LUA_FIELD(f64, energy_joules);
}
%}
HMN_LUA_RECORD(hmn_delta)

%{
static void hmn_lua_push_hmn_sampler_info(lua_State *L, const hmn_sampler_info *record) {
  lua_createtable(L, 0, 7 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, state);
  HMN_LUA_FIELD(u32, pending);
  if (record->present & HMN_SAMPLER_INFO_HAS_LAST)
    HMN_LUA_FIELD(i32, last_status);
  HMN_LUA_FIELD(u64, taken_count);
  HMN_LUA_FIELD(u64, dropped_count);
  HMN_LUA_FIELD(u64, late_count);
  HMN_LUA_FIELD(u64, failed_count);
  if (record->present & HMN_SAMPLER_INFO_HAS_LAST)
    HMN_LUA_SECONDS(last_monotonic, last_monotonic_ns);
}
%}
HMN_LUA_RECORD(hmn_sampler_info)

%{
static void hmn_lua_push_hmn_peak(lua_State *L, const hmn_peak *record) {
  lua_createtable(L, 0, 5 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, pid);
  HMN_LUA_FIELD(u32, accounting);
  if (record->present & HMN_PEAK_HAS_USED)
    HMN_LUA_FIELD(u64, used_bytes);
  if (record->present & HMN_PEAK_HAS_HOST_POOL)
    HMN_LUA_FIELD(u64, host_pool_bytes);
  if (record->present & HMN_PEAK_HAS_HOST_RESIDENT)
    HMN_LUA_FIELD(u64, host_resident_bytes);
  if (record->present & HMN_PEAK_HAS_USED)
    HMN_LUA_SECONDS(used_monotonic, used_monotonic_ns);
}
%}
HMN_LUA_RECORD(hmn_peak)

%{
static void hmn_lua_push_hmn_tracker_info(lua_State *L, const hmn_tracker_info *record) {
  lua_createtable(L, 0, 5 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  if (record->present & HMN_TRACKER_INFO_HAS_DEVICE)
    HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, tag_count);
  if (record->present & HMN_TRACKER_INFO_HAS_LIMIT)
    HMN_LUA_FIELD(u64, limit_bytes);
  HMN_LUA_FIELD(u64, allocated_bytes);
  HMN_LUA_FIELD(u64, peak_bytes);
  HMN_LUA_FIELD(u64, refused_count);
}
%}
HMN_LUA_RECORD(hmn_tracker_info)

%{
static void hmn_lua_push_hmn_tag(lua_State *L, const hmn_tag *record) {
  lua_createtable(L, 0, 5);
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, number);
  HMN_LUA_FIELD(u64, allocated_bytes);
  HMN_LUA_FIELD(u64, peak_bytes);
  HMN_LUA_FIELD(text, name);
}
%}
HMN_LUA_RECORD(hmn_tag)

%{
static void hmn_lua_push_hmn_spill_info(lua_State *L, const hmn_spill_info *record) {
  lua_createtable(L, 0, 12 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, backend);
  HMN_LUA_FIELD(u32, device_index);
  HMN_LUA_FIELD(u32, state);
  HMN_LUA_FIELD(u32, rules);
  HMN_LUA_FIELD(i32, status);
  HMN_LUA_FIELD(u64, observation_count);
  HMN_LUA_FIELD(u64, skipped_count);
  HMN_LUA_FIELD(u64, episode_count);
  HMN_LUA_FIELD(u64, first_episode);
  if (record->present & HMN_SPILL_INFO_HAS_LIMIT)
    HMN_LUA_FIELD(u64, limit_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_OBSERVED)
    HMN_LUA_FIELD(u64, dedicated_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_OBSERVED)
    HMN_LUA_FIELD(u64, shared_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_EVICTED)
    HMN_LUA_FIELD(u64, evicted_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_OBSERVED)
    HMN_LUA_FIELD(u64, peak_dedicated_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_OBSERVED)
    HMN_LUA_FIELD(u64, peak_shared_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_PEAK_EVICTED)
    HMN_LUA_FIELD(u64, peak_evicted_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_OBSERVED)
    HMN_LUA_FIELD(u64, baseline_shared_bytes);
  if (record->present & HMN_SPILL_INFO_HAS_PEAK_EVICTED)
    HMN_LUA_FIELD(u64, baseline_evicted_bytes);
  HMN_LUA_SECONDS(total, total_ns);
  if (record->present & HMN_SPILL_INFO_HAS_EPISODE)
    HMN_LUA_SECONDS(longest, longest_ns);
  if (record->present & HMN_SPILL_INFO_HAS_EPISODE)
    HMN_LUA_FIELD(u64, longest_episode);
  if (record->present & HMN_SPILL_INFO_HAS_EPISODE)
    HMN_LUA_FIELD(text, first_label);
  HMN_LUA_FIELD(text, message);
}
%}
HMN_LUA_RECORD(hmn_spill_info)

%{
static void hmn_lua_push_hmn_episode(lua_State *L, const hmn_episode *record) {
  lua_createtable(L, 0, 8 + hmn_lua_count(record->present));
  HMN_LUA_FIELD(u32, notes);
  HMN_LUA_FIELD(u32, rules);
  HMN_LUA_FIELD(u64, number);
  HMN_LUA_FIELD(u64, observation_count);
  HMN_LUA_FIELD(u64, peak_shared_bytes);
  if (record->present & HMN_EPISODE_HAS_PEAK_EVICTED)
    HMN_LUA_FIELD(u64, peak_evicted_bytes);
  HMN_LUA_SECONDS(start_monotonic, start_monotonic_ns);
  if (record->present & HMN_EPISODE_HAS_END)
    HMN_LUA_SECONDS(end_monotonic, end_monotonic_ns);
  HMN_LUA_SECONDS(duration, duration_ns);
  HMN_LUA_FIELD(text, start_label);
  if (record->present & HMN_EPISODE_HAS_END)
    HMN_LUA_FIELD(text, end_label);
}
%}
HMN_LUA_RECORD(hmn_episode)
