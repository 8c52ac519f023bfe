// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.
#ifndef HMN_TESTS_BINDINGS_RECORDS_HPP
#define HMN_TESTS_BINDINGS_RECORDS_HPP
#include <hypomnesis.hpp>

// say(key, value) prints one field.
template <class Say>
void each_field(const hypomnesis::backend_info& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("state", v.state);
  say("status", v.status);
  say("native_domain", v.native_domain);
  say("native_code", v.native_code);
  say("version", v.version);
  say("message", v.message);
}

template <class Say>
void each_field(const hypomnesis::process_memory& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("pid", v.pid);
  say("resident_bytes", v.resident_bytes);
  say("peak_resident_bytes", v.peak_resident_bytes);
  say("virtual_bytes", v.virtual_bytes);
  say("swap_bytes", v.swap_bytes);
  say("proportional_bytes", v.proportional_bytes);
  say("private_bytes", v.private_bytes);
  say("committed_bytes", v.committed_bytes);
  say("footprint_bytes", v.footprint_bytes);
  say("peak_footprint_bytes", v.peak_footprint_bytes);
  say("peak_committed_bytes", v.peak_committed_bytes);
}

template <class Say>
void each_field(const hypomnesis::system_memory& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("total_bytes", v.total_bytes);
  say("available_bytes", v.available_bytes);
  say("swap_total_bytes", v.swap_total_bytes);
  say("swap_free_bytes", v.swap_free_bytes);
  say("limit_bytes", v.limit_bytes);
  say("limit_used_bytes", v.limit_used_bytes);
  say("commit_limit_bytes", v.commit_limit_bytes);
  say("committed_bytes", v.committed_bytes);
  say("pressure", v.pressure);
  say("stall_percent", v.stall_percent);
}

template <class Say>
void each_field(const hypomnesis::device& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("index", v.index);
  say("kind", v.kind);
  say("state", v.state);
  say("vendor", v.vendor);
  say("memory_kind", v.memory_kind);
  say("parent_index", v.parent_index);
  say("driver_index", v.driver_index);
  say("pci_device", v.pci_device);
  say("pci_subsystem", v.pci_subsystem);
  say("render_minor", v.render_minor);
  say("numa_node", v.numa_node);
  say("gpu_instance", v.gpu_instance);
  say("compute_instance", v.compute_instance);
  say("cuda_version", v.cuda_version);
  say("os_id", v.os_id);
  say("name", v.name);
  say("uuid", v.uuid);
  say("pci_bus_id", v.pci_bus_id);
  say("driver_version", v.driver_version);
}

template <class Say>
void each_field(const hypomnesis::pool& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("kind", v.kind);
  say("accounting", v.accounting);
  say("is_main", v.is_main);
  say("total_bytes", v.total_bytes);
  say("free_bytes", v.free_bytes);
  say("used_bytes", v.used_bytes);
  say("reserved_bytes", v.reserved_bytes);
  say("usable_bytes", v.usable_bytes);
  say("budget_bytes", v.budget_bytes);
  say("unattributed_bytes", v.unattributed_bytes);
  say("age_ns", v.age_ns);
}

template <class Say>
void each_field(const hypomnesis::telemetry& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("core_clock_mhz", v.core_clock_mhz);
  say("memory_clock_mhz", v.memory_clock_mhz);
  say("fan_percent", v.fan_percent);
  say("fan_rpm", v.fan_rpm);
  say("pcie_generation", v.pcie_generation);
  say("pcie_width", v.pcie_width);
  say("p_state", v.p_state);
  say("throttle", v.throttle);
  say("backends", v.backends);
  say("gpu_busy_percent", v.gpu_busy_percent);
  say("memory_busy_percent", v.memory_busy_percent);
  say("encoder_busy_percent", v.encoder_busy_percent);
  say("decoder_busy_percent", v.decoder_busy_percent);
  say("temperature_celsius", v.temperature_celsius);
  say("hotspot_celsius", v.hotspot_celsius);
  say("memory_celsius", v.memory_celsius);
  say("power_watts", v.power_watts);
  say("power_limit_watts", v.power_limit_watts);
  say("energy_joules", v.energy_joules);
  say("pcie_rx_bytes", v.pcie_rx_bytes);
  say("pcie_tx_bytes", v.pcie_tx_bytes);
  say("window_ns", v.window_ns);
  say("age_ns", v.age_ns);
}

template <class Say>
void each_field(const hypomnesis::metric& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("pid", v.pid);
  say("id", v.id);
  say("instance", v.instance);
  say("value", v.value);
  say("count", v.count);
  say("window_ns", v.window_ns);
  say("age_ns", v.age_ns);
}

template <class Say>
void each_field(const hypomnesis::usage& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("pid", v.pid);
  say("device_index", v.device_index);
  say("kinds", v.kinds);
  say("accounting", v.accounting);
  say("name_state", v.name_state);
  say("uid", v.uid);
  say("gpu_instance", v.gpu_instance);
  say("compute_instance", v.compute_instance);
  say("start_unix_ns", v.start_unix_ns);
  say("used_bytes", v.used_bytes);
  say("resident_bytes", v.resident_bytes);
  say("committed_bytes", v.committed_bytes);
  say("allocated_bytes", v.allocated_bytes);
  say("shared_bytes", v.shared_bytes);
  say("purgeable_bytes", v.purgeable_bytes);
  say("evicted_bytes", v.evicted_bytes);
  say("host_pool_bytes", v.host_pool_bytes);
  say("host_resident_bytes", v.host_resident_bytes);
  say("budget_bytes", v.budget_bytes);
  say("busy_ns", v.busy_ns);
  say("busy_percent", v.busy_percent);
  say("window_ns", v.window_ns);
  say("age_ns", v.age_ns);
  say("peak_used_bytes", v.peak_used_bytes);
}

template <class Say>
void each_field(const hypomnesis::snapshot_info& v, Say say) {
  say("notes", v.notes);
  say("collect", v.collect);
  say("device_count", v.device_count);
  say("pool_count", v.pool_count);
  say("usage_count", v.usage_count);
  say("diagnostic_count", v.diagnostic_count);
  say("unreadable_process_count", v.unreadable_process_count);
  say("metric_count", v.metric_count);
  say("unix_time_ns", v.unix_time_ns);
  say("monotonic_ns", v.monotonic_ns);
  say("duration_ns", v.duration_ns);
}

template <class Say>
void each_field(const hypomnesis::diagnostic& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("status", v.status);
  say("native_domain", v.native_domain);
  say("native_code", v.native_code);
  say("subject", v.subject);
  say("field", v.field);
  say("device_index", v.device_index);
  say("pid", v.pid);
  say("count", v.count);
  say("duration_ns", v.duration_ns);
  say("message", v.message);
}

template <class Say>
void each_field(const hypomnesis::delta& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("scope", v.scope);
  say("accounting", v.accounting);
  say("memory_bytes", v.memory_bytes);
  say("device_bytes", v.device_bytes);
  say("elapsed_ns", v.elapsed_ns);
  say("energy_joules", v.energy_joules);
}

template <class Say>
void each_field(const hypomnesis::sampler_info& v, Say say) {
  say("notes", v.notes);
  say("state", v.state);
  say("pending", v.pending);
  say("last_status", v.last_status);
  say("taken_count", v.taken_count);
  say("dropped_count", v.dropped_count);
  say("late_count", v.late_count);
  say("failed_count", v.failed_count);
  say("last_monotonic_ns", v.last_monotonic_ns);
}

template <class Say>
void each_field(const hypomnesis::peak& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("pid", v.pid);
  say("accounting", v.accounting);
  say("used_bytes", v.used_bytes);
  say("host_pool_bytes", v.host_pool_bytes);
  say("host_resident_bytes", v.host_resident_bytes);
  say("used_monotonic_ns", v.used_monotonic_ns);
}

template <class Say>
void each_field(const hypomnesis::tracker_info& v, Say say) {
  say("notes", v.notes);
  say("device_index", v.device_index);
  say("tag_count", v.tag_count);
  say("limit_bytes", v.limit_bytes);
  say("allocated_bytes", v.allocated_bytes);
  say("peak_bytes", v.peak_bytes);
  say("refused_count", v.refused_count);
}

template <class Say>
void each_field(const hypomnesis::tag& v, Say say) {
  say("notes", v.notes);
  say("number", v.number);
  say("allocated_bytes", v.allocated_bytes);
  say("peak_bytes", v.peak_bytes);
  say("name", v.name);
}

template <class Say>
void each_field(const hypomnesis::spill_info& v, Say say) {
  say("notes", v.notes);
  say("backend", v.backend);
  say("device_index", v.device_index);
  say("state", v.state);
  say("rules", v.rules);
  say("status", v.status);
  say("observation_count", v.observation_count);
  say("skipped_count", v.skipped_count);
  say("episode_count", v.episode_count);
  say("first_episode", v.first_episode);
  say("limit_bytes", v.limit_bytes);
  say("dedicated_bytes", v.dedicated_bytes);
  say("shared_bytes", v.shared_bytes);
  say("evicted_bytes", v.evicted_bytes);
  say("peak_dedicated_bytes", v.peak_dedicated_bytes);
  say("peak_shared_bytes", v.peak_shared_bytes);
  say("peak_evicted_bytes", v.peak_evicted_bytes);
  say("baseline_shared_bytes", v.baseline_shared_bytes);
  say("baseline_evicted_bytes", v.baseline_evicted_bytes);
  say("total_ns", v.total_ns);
  say("longest_ns", v.longest_ns);
  say("longest_episode", v.longest_episode);
  say("first_label", v.first_label);
  say("message", v.message);
}

template <class Say>
void each_field(const hypomnesis::episode& v, Say say) {
  say("notes", v.notes);
  say("rules", v.rules);
  say("number", v.number);
  say("observation_count", v.observation_count);
  say("peak_shared_bytes", v.peak_shared_bytes);
  say("peak_evicted_bytes", v.peak_evicted_bytes);
  say("start_monotonic_ns", v.start_monotonic_ns);
  say("end_monotonic_ns", v.end_monotonic_ns);
  say("duration_ns", v.duration_ns);
  say("start_label", v.start_label);
  say("end_label", v.end_label);
}

#endif
