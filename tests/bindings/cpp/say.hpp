// SPDX-License-Identifier: MIT OR Apache-2.0
// Values in the words of ../behaviour.py.
#ifndef HMN_TESTS_BINDINGS_SAY_HPP
#define HMN_TESTS_BINDINGS_SAY_HPP
#include <hypomnesis.hpp>
#include <iostream>

inline void say_value(const std::string& text) {
  std::cout << '"';
  for (const char c : text) {
    if (c == '\t')
      std::cout << "\\t";
    else if (c == '\n')
      std::cout << "\\n";
    else if (c == '\r')
      std::cout << "\\r";
    else if (c == '\\')
      std::cout << "\\\\";
    else
      std::cout << c;
  }
}

template <class T>
void say_value(T value) {
  if constexpr (std::is_enum_v<T>)
    std::cout << hypomnesis::number(value);
  else
    std::cout << value;
}

template <class T>
void say_value(const std::optional<T>& value) {
  if (value)
    say_value(*value);
  else
    std::cout << "null";
}

template <class T>
void say(const char* key, const T& value) {
  std::cout << key << '\t';
  say_value(value);
  std::cout << '\n';
}

#define HMN_SAY(field) say(#field, v.field)

inline void say(const hypomnesis::backend_info& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(state);
  HMN_SAY(status);
  HMN_SAY(native_domain);
  HMN_SAY(native_code);
  HMN_SAY(version);
  HMN_SAY(message);
}

inline void say(const hypomnesis::process_memory& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(pid);
  HMN_SAY(resident_bytes);
  HMN_SAY(peak_resident_bytes);
  HMN_SAY(virtual_bytes);
  HMN_SAY(swap_bytes);
  HMN_SAY(proportional_bytes);
  HMN_SAY(private_bytes);
  HMN_SAY(committed_bytes);
  HMN_SAY(footprint_bytes);
  HMN_SAY(peak_footprint_bytes);
  HMN_SAY(peak_committed_bytes);
}

inline void say(const hypomnesis::system_memory& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(total_bytes);
  HMN_SAY(available_bytes);
  HMN_SAY(swap_total_bytes);
  HMN_SAY(swap_free_bytes);
  HMN_SAY(limit_bytes);
  HMN_SAY(limit_used_bytes);
  HMN_SAY(commit_limit_bytes);
  HMN_SAY(committed_bytes);
  HMN_SAY(pressure);
  HMN_SAY(stall_percent);
}

inline void say(const hypomnesis::device& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(index);
  HMN_SAY(kind);
  HMN_SAY(state);
  HMN_SAY(vendor);
  HMN_SAY(memory_kind);
  HMN_SAY(parent_index);
  HMN_SAY(driver_index);
  HMN_SAY(pci_device);
  HMN_SAY(pci_subsystem);
  HMN_SAY(render_minor);
  HMN_SAY(numa_node);
  HMN_SAY(gpu_instance);
  HMN_SAY(compute_instance);
  HMN_SAY(cuda_version);
  HMN_SAY(os_id);
  HMN_SAY(name);
  HMN_SAY(uuid);
  HMN_SAY(pci_bus_id);
  HMN_SAY(driver_version);
}

inline void say(const hypomnesis::pool& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(kind);
  HMN_SAY(accounting);
  HMN_SAY(is_main);
  HMN_SAY(total_bytes);
  HMN_SAY(free_bytes);
  HMN_SAY(used_bytes);
  HMN_SAY(reserved_bytes);
  HMN_SAY(usable_bytes);
  HMN_SAY(budget_bytes);
  HMN_SAY(unattributed_bytes);
  HMN_SAY(age_ns);
}

inline void say(const hypomnesis::metric& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(pid);
  HMN_SAY(id);
  HMN_SAY(instance);
  HMN_SAY(value);
  HMN_SAY(count);
  HMN_SAY(window_ns);
  HMN_SAY(age_ns);
}

inline void say(const hypomnesis::telemetry& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(core_clock_mhz);
  HMN_SAY(memory_clock_mhz);
  HMN_SAY(fan_percent);
  HMN_SAY(fan_rpm);
  HMN_SAY(pcie_generation);
  HMN_SAY(pcie_width);
  HMN_SAY(p_state);
  HMN_SAY(throttle);
  HMN_SAY(backends);
  HMN_SAY(gpu_busy_percent);
  HMN_SAY(memory_busy_percent);
  HMN_SAY(encoder_busy_percent);
  HMN_SAY(decoder_busy_percent);
  HMN_SAY(temperature_celsius);
  HMN_SAY(hotspot_celsius);
  HMN_SAY(memory_celsius);
  HMN_SAY(power_watts);
  HMN_SAY(power_limit_watts);
  HMN_SAY(energy_joules);
  HMN_SAY(pcie_rx_bytes);
  HMN_SAY(pcie_tx_bytes);
  HMN_SAY(window_ns);
  HMN_SAY(age_ns);
}

inline void say(const hypomnesis::usage& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(pid);
  HMN_SAY(device_index);
  HMN_SAY(kinds);
  HMN_SAY(accounting);
  HMN_SAY(name_state);
  HMN_SAY(uid);
  HMN_SAY(gpu_instance);
  HMN_SAY(compute_instance);
  HMN_SAY(start_unix_ns);
  HMN_SAY(used_bytes);
  HMN_SAY(resident_bytes);
  HMN_SAY(committed_bytes);
  HMN_SAY(allocated_bytes);
  HMN_SAY(shared_bytes);
  HMN_SAY(purgeable_bytes);
  HMN_SAY(evicted_bytes);
  HMN_SAY(host_pool_bytes);
  HMN_SAY(host_resident_bytes);
  HMN_SAY(budget_bytes);
  HMN_SAY(busy_ns);
  HMN_SAY(busy_percent);
  HMN_SAY(window_ns);
  HMN_SAY(age_ns);
  HMN_SAY(peak_used_bytes);
}

inline void say(const hypomnesis::snapshot_info& v) {
  HMN_SAY(notes);
  HMN_SAY(collect);
  HMN_SAY(device_count);
  HMN_SAY(pool_count);
  HMN_SAY(usage_count);
  HMN_SAY(diagnostic_count);
  HMN_SAY(unreadable_process_count);
  HMN_SAY(metric_count);
  HMN_SAY(unix_time_ns);
  HMN_SAY(monotonic_ns);
  HMN_SAY(duration_ns);
}

inline void say(const hypomnesis::diagnostic& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(status);
  HMN_SAY(native_domain);
  HMN_SAY(native_code);
  HMN_SAY(subject);
  HMN_SAY(field);
  HMN_SAY(device_index);
  HMN_SAY(pid);
  HMN_SAY(count);
  HMN_SAY(duration_ns);
  HMN_SAY(message);
}

inline void say(const hypomnesis::delta& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(scope);
  HMN_SAY(accounting);
  HMN_SAY(memory_bytes);
  HMN_SAY(device_bytes);
  HMN_SAY(elapsed_ns);
  HMN_SAY(energy_joules);
}
inline void say(const hypomnesis::sampler_info& v) {
  HMN_SAY(notes);
  HMN_SAY(state);
  HMN_SAY(pending);
  HMN_SAY(last_status);
  HMN_SAY(taken_count);
  HMN_SAY(dropped_count);
  HMN_SAY(late_count);
  HMN_SAY(failed_count);
  HMN_SAY(last_monotonic_ns);
}

inline void say(const hypomnesis::tracker_info& v) {
  HMN_SAY(notes);
  HMN_SAY(device_index);
  HMN_SAY(tag_count);
  HMN_SAY(limit_bytes);
  HMN_SAY(allocated_bytes);
  HMN_SAY(peak_bytes);
  HMN_SAY(refused_count);
}

inline void say(const hypomnesis::tag& v) {
  HMN_SAY(notes);
  HMN_SAY(number);
  HMN_SAY(allocated_bytes);
  HMN_SAY(peak_bytes);
  HMN_SAY(name);
}

inline void say(const hypomnesis::spill_info& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(state);
  HMN_SAY(rules);
  HMN_SAY(status);
  HMN_SAY(observation_count);
  HMN_SAY(skipped_count);
  HMN_SAY(episode_count);
  HMN_SAY(first_episode);
  HMN_SAY(limit_bytes);
  HMN_SAY(dedicated_bytes);
  HMN_SAY(shared_bytes);
  HMN_SAY(evicted_bytes);
  HMN_SAY(peak_dedicated_bytes);
  HMN_SAY(peak_shared_bytes);
  HMN_SAY(peak_evicted_bytes);
  HMN_SAY(baseline_shared_bytes);
  HMN_SAY(baseline_evicted_bytes);
  HMN_SAY(total_ns);
  HMN_SAY(longest_ns);
  HMN_SAY(longest_episode);
  HMN_SAY(first_label);
  HMN_SAY(message);
}

inline void say(const hypomnesis::episode& v) {
  HMN_SAY(notes);
  HMN_SAY(rules);
  HMN_SAY(number);
  HMN_SAY(observation_count);
  HMN_SAY(peak_shared_bytes);
  HMN_SAY(peak_evicted_bytes);
  HMN_SAY(start_monotonic_ns);
  HMN_SAY(end_monotonic_ns);
  HMN_SAY(duration_ns);
  HMN_SAY(start_label);
  HMN_SAY(end_label);
}

inline void say(const hypomnesis::peak& v) {
  HMN_SAY(notes);
  HMN_SAY(backend);
  HMN_SAY(device_index);
  HMN_SAY(pid);
  HMN_SAY(accounting);
  HMN_SAY(used_bytes);
  HMN_SAY(host_pool_bytes);
  HMN_SAY(host_resident_bytes);
  HMN_SAY(used_monotonic_ns);
}

#undef HMN_SAY

template <class T>
void say(const std::optional<T>& value) {
  if (value)
    say(*value);
  else
    std::cout << "value\tnull\n";
}

#endif
