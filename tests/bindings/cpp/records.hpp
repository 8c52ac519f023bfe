// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.
#ifndef HMN_TESTS_BINDINGS_RECORDS_HPP
#define HMN_TESTS_BINDINGS_RECORDS_HPP
#include <hypomnesis.hpp>

// put(key, value) takes one field.
template <class Put>
void each_field(const hypomnesis::backend_info& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("state", v.state);
  put("status", v.status);
  put("native_domain", v.native_domain);
  put("native_code", v.native_code);
  put("version", v.version);
  put("message", v.message);
}

template <class Put>
void each_field(const hypomnesis::process_memory& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("pid", v.pid);
  put("resident_bytes", v.resident_bytes);
  put("peak_resident_bytes", v.peak_resident_bytes);
  put("virtual_bytes", v.virtual_bytes);
  put("swap_bytes", v.swap_bytes);
  put("proportional_bytes", v.proportional_bytes);
  put("private_bytes", v.private_bytes);
  put("committed_bytes", v.committed_bytes);
  put("footprint_bytes", v.footprint_bytes);
  put("peak_footprint_bytes", v.peak_footprint_bytes);
  put("peak_committed_bytes", v.peak_committed_bytes);
  put("process_key", v.process_key);
}

template <class Put>
void each_field(const hypomnesis::system_memory& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("pressure", v.pressure);
  put("total_bytes", v.total_bytes);
  put("available_bytes", v.available_bytes);
  put("swap_total_bytes", v.swap_total_bytes);
  put("swap_free_bytes", v.swap_free_bytes);
  put("limit_bytes", v.limit_bytes);
  put("limit_used_bytes", v.limit_used_bytes);
  put("commit_limit_bytes", v.commit_limit_bytes);
  put("committed_bytes", v.committed_bytes);
  put("stall_percent", v.stall_percent);
  put("usable_bytes", v.usable_bytes);
}

template <class Put>
void each_field(const hypomnesis::device& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("index", v.index);
  put("device_class", v.device_class);
  put("form", v.form);
  put("state", v.state);
  put("vendor", v.vendor);
  put("memory_kind", v.memory_kind);
  put("parent_index", v.parent_index);
  put("driver_index", v.driver_index);
  put("pci_device", v.pci_device);
  put("pci_subsystem", v.pci_subsystem);
  put("render_minor", v.render_minor);
  put("numa_node", v.numa_node);
  put("gpu_instance", v.gpu_instance);
  put("compute_instance", v.compute_instance);
  put("cuda_version_major", v.cuda_version_major);
  put("cuda_version_minor", v.cuda_version_minor);
  put("compute_capability_major", v.compute_capability_major);
  put("compute_capability_minor", v.compute_capability_minor);
  put("os_id", v.os_id);
  put("age_ns", v.age_ns);
  put("name", v.name);
  put("uuid", v.uuid);
  put("pci_bus_id", v.pci_bus_id);
  put("driver_version", v.driver_version);
  put("architecture", v.architecture);
}

template <class Put>
void each_field(const hypomnesis::pool& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("kind", v.kind);
  put("accounting", v.accounting);
  put("is_main", v.is_main);
  put("instance", v.instance);
  put("total_bytes", v.total_bytes);
  put("free_bytes", v.free_bytes);
  put("used_bytes", v.used_bytes);
  put("reserved_bytes", v.reserved_bytes);
  put("usable_bytes", v.usable_bytes);
  put("budget_bytes", v.budget_bytes);
  put("unattributed_bytes", v.unattributed_bytes);
  put("age_ns", v.age_ns);
}

template <class Put>
void each_field(const hypomnesis::telemetry& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("core_clock_mhz", v.core_clock_mhz);
  put("memory_clock_mhz", v.memory_clock_mhz);
  put("fan_percent", v.fan_percent);
  put("fan_rpm", v.fan_rpm);
  put("pcie_generation", v.pcie_generation);
  put("pcie_width", v.pcie_width);
  put("p_state", v.p_state);
  put("throttle", v.throttle);
  put("backends", v.backends);
  put("gpu_busy_percent", v.gpu_busy_percent);
  put("memory_busy_percent", v.memory_busy_percent);
  put("encoder_busy_percent", v.encoder_busy_percent);
  put("decoder_busy_percent", v.decoder_busy_percent);
  put("temperature_celsius", v.temperature_celsius);
  put("hotspot_celsius", v.hotspot_celsius);
  put("memory_celsius", v.memory_celsius);
  put("power_watts", v.power_watts);
  put("power_limit_watts", v.power_limit_watts);
  put("energy_joules", v.energy_joules);
  put("pcie_rx_bytes", v.pcie_rx_bytes);
  put("pcie_tx_bytes", v.pcie_tx_bytes);
  put("window_ns", v.window_ns);
  put("age_ns", v.age_ns);
}

template <class Put>
void each_field(const hypomnesis::metric& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("id", v.id);
  put("instance", v.instance);
  put("value", v.value);
  put("count", v.count);
  put("window_ns", v.window_ns);
  put("age_ns", v.age_ns);
}

template <class Put>
void each_field(const hypomnesis::usage& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("pid", v.pid);
  put("device_index", v.device_index);
  put("kinds", v.kinds);
  put("accounting", v.accounting);
  put("name_state", v.name_state);
  put("uid", v.uid);
  put("gpu_instance", v.gpu_instance);
  put("compute_instance", v.compute_instance);
  put("start_unix_ns", v.start_unix_ns);
  put("used_bytes", v.used_bytes);
  put("resident_bytes", v.resident_bytes);
  put("committed_bytes", v.committed_bytes);
  put("allocated_bytes", v.allocated_bytes);
  put("shared_bytes", v.shared_bytes);
  put("purgeable_bytes", v.purgeable_bytes);
  put("evicted_bytes", v.evicted_bytes);
  put("host_pool_bytes", v.host_pool_bytes);
  put("host_resident_bytes", v.host_resident_bytes);
  put("budget_bytes", v.budget_bytes);
  put("busy_ns", v.busy_ns);
  put("busy_percent", v.busy_percent);
  put("window_ns", v.window_ns);
  put("age_ns", v.age_ns);
  put("peak_used_bytes", v.peak_used_bytes);
  put("process_key", v.process_key);
}

template <class Put>
void each_field(const hypomnesis::group& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("used_bytes", v.used_bytes);
  put("limit_bytes", v.limit_bytes);
  put("age_ns", v.age_ns);
}

template <class Put>
void each_field(const hypomnesis::snapshot_info& v, Put put) {
  put("notes", v.notes);
  put("collect", v.collect);
  put("device_count", v.device_count);
  put("pool_count", v.pool_count);
  put("usage_count", v.usage_count);
  put("diagnostic_count", v.diagnostic_count);
  put("unreadable_process_count", v.unreadable_process_count);
  put("metric_count", v.metric_count);
  put("group_count", v.group_count);
  put("unix_time_ns", v.unix_time_ns);
  put("monotonic_ns", v.monotonic_ns);
  put("duration_ns", v.duration_ns);
  put("device_generation", v.device_generation);
}

template <class Put>
void each_field(const hypomnesis::diagnostic& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("reason", v.reason);
  put("status", v.status);
  put("native_domain", v.native_domain);
  put("native_code", v.native_code);
  put("subject", v.subject);
  put("device_index", v.device_index);
  put("pid", v.pid);
  put("pool", v.pool);
  put("pool_instance", v.pool_instance);
  put("metric", v.metric);
  put("metric_instance", v.metric_instance);
  put("field", v.field);
  put("duration_ns", v.duration_ns);
  put("count", v.count);
  put("message", v.message);
}

template <class Put>
void each_field(const hypomnesis::delta& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("scope", v.scope);
  put("accounting", v.accounting);
  put("memory_bytes", v.memory_bytes);
  put("device_bytes", v.device_bytes);
  put("elapsed_ns", v.elapsed_ns);
  put("energy_joules", v.energy_joules);
}

template <class Put>
void each_field(const hypomnesis::sampler_info& v, Put put) {
  put("notes", v.notes);
  put("state", v.state);
  put("pending", v.pending);
  put("last_status", v.last_status);
  put("taken_count", v.taken_count);
  put("dropped_count", v.dropped_count);
  put("late_count", v.late_count);
  put("failed_count", v.failed_count);
  put("last_monotonic_ns", v.last_monotonic_ns);
}

template <class Put>
void each_field(const hypomnesis::peak& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("pid", v.pid);
  put("accounting", v.accounting);
  put("used_bytes", v.used_bytes);
  put("host_pool_bytes", v.host_pool_bytes);
  put("host_resident_bytes", v.host_resident_bytes);
  put("used_monotonic_ns", v.used_monotonic_ns);
}

template <class Put>
void each_field(const hypomnesis::tracker_info& v, Put put) {
  put("notes", v.notes);
  put("device_index", v.device_index);
  put("tag_count", v.tag_count);
  put("limit_bytes", v.limit_bytes);
  put("allocated_bytes", v.allocated_bytes);
  put("peak_bytes", v.peak_bytes);
  put("refused_count", v.refused_count);
}

template <class Put>
void each_field(const hypomnesis::tag& v, Put put) {
  put("notes", v.notes);
  put("number", v.number);
  put("allocated_bytes", v.allocated_bytes);
  put("peak_bytes", v.peak_bytes);
  put("name", v.name);
}

template <class Put>
void each_field(const hypomnesis::spill_info& v, Put put) {
  put("notes", v.notes);
  put("backend", v.backend);
  put("device_index", v.device_index);
  put("state", v.state);
  put("rules", v.rules);
  put("status", v.status);
  put("observation_count", v.observation_count);
  put("skipped_count", v.skipped_count);
  put("episode_count", v.episode_count);
  put("first_episode", v.first_episode);
  put("limit_bytes", v.limit_bytes);
  put("dedicated_bytes", v.dedicated_bytes);
  put("shared_bytes", v.shared_bytes);
  put("evicted_bytes", v.evicted_bytes);
  put("peak_dedicated_bytes", v.peak_dedicated_bytes);
  put("peak_shared_bytes", v.peak_shared_bytes);
  put("peak_evicted_bytes", v.peak_evicted_bytes);
  put("baseline_shared_bytes", v.baseline_shared_bytes);
  put("baseline_evicted_bytes", v.baseline_evicted_bytes);
  put("total_ns", v.total_ns);
  put("longest_ns", v.longest_ns);
  put("longest_episode", v.longest_episode);
  put("first_label", v.first_label);
  put("message", v.message);
}

template <class Put>
void each_field(const hypomnesis::episode& v, Put put) {
  put("notes", v.notes);
  put("rules", v.rules);
  put("number", v.number);
  put("observation_count", v.observation_count);
  put("peak_shared_bytes", v.peak_shared_bytes);
  put("peak_evicted_bytes", v.peak_evicted_bytes);
  put("start_monotonic_ns", v.start_monotonic_ns);
  put("end_monotonic_ns", v.end_monotonic_ns);
  put("duration_ns", v.duration_ns);
  put("start_label", v.start_label);
  put("end_label", v.end_label);
}

#endif
