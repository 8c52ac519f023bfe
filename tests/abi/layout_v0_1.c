/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What clients of 0.1 compiled in: sizes, offsets, types, numbers, signatures. Frozen: never edited
 * once 1.0 is released; what a later version adds has a file of its own.
 */
#include <stddef.h>

#include "hypomnesis.h"

#define SAME(condition, what) _Static_assert(condition, what ": that breaks clients of 0.1")
#define SIZE(type, size) \
  SAME(sizeof(type) >= (size) && sizeof(type) % 8 == 0, #type " is smaller than it was")
#define FIELD(type, field, offset, field_type)                        \
  SAME(offsetof(type, field) == (offset), #type "." #field " moved"); \
  SAME(_Generic(((type*)0)->field, field_type : 1, default : 0),      \
       #type "." #field " changed its type")
#define TEXT(type, field, offset, capacity)                                                \
  SAME(offsetof(type, field) == (offset), #type "." #field " moved");                      \
  SAME(sizeof(((type*)0)->field) == (capacity), #type "." #field " changed its capacity"); \
  SAME(_Generic(&((type*)0)->field[0], char* : 1, default : 0), #type "." #field " is no text")
#define NUMBER(constant, value) SAME((constant) == (value), #constant " was renumbered")
#define FUNCTION(name, result, ...)                                      \
  SAME(_Generic(&name, result(HMN_CALL*)(__VA_ARGS__) : 1, default : 0), \
       #name " changed its signature")

SAME(_Generic((hmn_status)0, int32_t : 1, default : 0), "hmn_status changed its type");
SAME(_Generic((hmn_flags)0, uint32_t : 1, default : 0), "hmn_flags changed its type");

SIZE(hmn_error, 280);
FIELD(hmn_error, struct_size, 0, uint32_t);
FIELD(hmn_error, status, 4, hmn_status);
FIELD(hmn_error, notes, 8, hmn_flags);
FIELD(hmn_error, backend, 12, uint32_t);
FIELD(hmn_error, native_domain, 16, uint32_t);
FIELD(hmn_error, native_code, 20, int32_t);
TEXT(hmn_error, message, 24, 256);

SIZE(hmn_context_options, 40);
FIELD(hmn_context_options, struct_size, 0, uint32_t);
FIELD(hmn_context_options, flags, 4, hmn_flags);
FIELD(hmn_context_options, deadline_ms, 8, uint32_t);
FIELD(hmn_context_options, stale_ms, 12, uint32_t);
FIELD(hmn_context_options, open_deadline_ms, 16, uint32_t);
FIELD(hmn_context_options, max_age_ms, 20, uint32_t);
FIELD(hmn_context_options, idle_close_ms, 24, uint32_t);
FIELD(hmn_context_options, rescan_ms, 28, uint32_t);
FIELD(hmn_context_options, backends_off, 32, uint64_t);

SIZE(hmn_backend_info, 384);
FIELD(hmn_backend_info, struct_size, 0, uint32_t);
FIELD(hmn_backend_info, present, 4, hmn_flags);
FIELD(hmn_backend_info, notes, 8, hmn_flags);
FIELD(hmn_backend_info, backend, 12, uint32_t);
FIELD(hmn_backend_info, state, 16, uint32_t);
FIELD(hmn_backend_info, status, 20, hmn_status);
FIELD(hmn_backend_info, native_domain, 24, uint32_t);
FIELD(hmn_backend_info, native_code, 28, int32_t);
TEXT(hmn_backend_info, version, 32, 96);
TEXT(hmn_backend_info, message, 128, 256);

SIZE(hmn_process_memory, 104);
FIELD(hmn_process_memory, struct_size, 0, uint32_t);
FIELD(hmn_process_memory, present, 4, hmn_flags);
FIELD(hmn_process_memory, notes, 8, hmn_flags);
FIELD(hmn_process_memory, backend, 12, uint32_t);
FIELD(hmn_process_memory, pid, 16, uint32_t);
FIELD(hmn_process_memory, reserved0, 20, uint32_t);
FIELD(hmn_process_memory, resident_bytes, 24, uint64_t);
FIELD(hmn_process_memory, peak_resident_bytes, 32, uint64_t);
FIELD(hmn_process_memory, virtual_bytes, 40, uint64_t);
FIELD(hmn_process_memory, swap_bytes, 48, uint64_t);
FIELD(hmn_process_memory, proportional_bytes, 56, uint64_t);
FIELD(hmn_process_memory, private_bytes, 64, uint64_t);
FIELD(hmn_process_memory, committed_bytes, 72, uint64_t);
FIELD(hmn_process_memory, footprint_bytes, 80, uint64_t);
FIELD(hmn_process_memory, peak_footprint_bytes, 88, uint64_t);
FIELD(hmn_process_memory, peak_committed_bytes, 96, uint64_t);

SIZE(hmn_system_memory, 104);
FIELD(hmn_system_memory, struct_size, 0, uint32_t);
FIELD(hmn_system_memory, present, 4, hmn_flags);
FIELD(hmn_system_memory, notes, 8, hmn_flags);
FIELD(hmn_system_memory, backend, 12, uint32_t);
FIELD(hmn_system_memory, total_bytes, 16, uint64_t);
FIELD(hmn_system_memory, available_bytes, 24, uint64_t);
FIELD(hmn_system_memory, swap_total_bytes, 32, uint64_t);
FIELD(hmn_system_memory, swap_free_bytes, 40, uint64_t);
FIELD(hmn_system_memory, limit_bytes, 48, uint64_t);
FIELD(hmn_system_memory, limit_used_bytes, 56, uint64_t);
FIELD(hmn_system_memory, commit_limit_bytes, 64, uint64_t);
FIELD(hmn_system_memory, committed_bytes, 72, uint64_t);
FIELD(hmn_system_memory, pressure, 80, uint32_t);
FIELD(hmn_system_memory, reserved0, 84, uint32_t);
FIELD(hmn_system_memory, stall_percent, 88, double);
FIELD(hmn_system_memory, usable_bytes, 96, uint64_t);

SIZE(hmn_device, 560);
FIELD(hmn_device, struct_size, 0, uint32_t);
FIELD(hmn_device, present, 4, hmn_flags);
FIELD(hmn_device, notes, 8, hmn_flags);
FIELD(hmn_device, backend, 12, uint32_t);
FIELD(hmn_device, index, 16, uint32_t);
FIELD(hmn_device, kind, 20, uint32_t);
FIELD(hmn_device, state, 24, uint32_t);
FIELD(hmn_device, vendor, 28, uint32_t);
FIELD(hmn_device, memory_kind, 32, uint32_t);
FIELD(hmn_device, parent_index, 36, uint32_t);
FIELD(hmn_device, driver_index, 40, uint32_t);
FIELD(hmn_device, pci_device, 44, uint32_t);
FIELD(hmn_device, pci_subsystem, 48, uint32_t);
FIELD(hmn_device, render_minor, 52, uint32_t);
FIELD(hmn_device, numa_node, 56, uint32_t);
FIELD(hmn_device, gpu_instance, 60, uint32_t);
FIELD(hmn_device, compute_instance, 64, uint32_t);
FIELD(hmn_device, cuda_version, 68, uint32_t);
FIELD(hmn_device, os_id, 72, uint64_t);
TEXT(hmn_device, name, 80, 256);
TEXT(hmn_device, uuid, 336, 96);
TEXT(hmn_device, pci_bus_id, 432, 32);
TEXT(hmn_device, driver_version, 464, 96);

SIZE(hmn_pool, 96);
FIELD(hmn_pool, struct_size, 0, uint32_t);
FIELD(hmn_pool, present, 4, hmn_flags);
FIELD(hmn_pool, notes, 8, hmn_flags);
FIELD(hmn_pool, backend, 12, uint32_t);
FIELD(hmn_pool, device_index, 16, uint32_t);
FIELD(hmn_pool, kind, 20, uint32_t);
FIELD(hmn_pool, accounting, 24, uint32_t);
FIELD(hmn_pool, is_main, 28, uint32_t);
FIELD(hmn_pool, total_bytes, 32, uint64_t);
FIELD(hmn_pool, free_bytes, 40, uint64_t);
FIELD(hmn_pool, used_bytes, 48, uint64_t);
FIELD(hmn_pool, reserved_bytes, 56, uint64_t);
FIELD(hmn_pool, usable_bytes, 64, uint64_t);
FIELD(hmn_pool, budget_bytes, 72, uint64_t);
FIELD(hmn_pool, unattributed_bytes, 80, uint64_t);
FIELD(hmn_pool, age_ns, 88, uint64_t);

SIZE(hmn_telemetry, 176);
FIELD(hmn_telemetry, struct_size, 0, uint32_t);
FIELD(hmn_telemetry, present, 4, hmn_flags);
FIELD(hmn_telemetry, notes, 8, hmn_flags);
FIELD(hmn_telemetry, backend, 12, uint32_t);
FIELD(hmn_telemetry, device_index, 16, uint32_t);
FIELD(hmn_telemetry, core_clock_mhz, 20, uint32_t);
FIELD(hmn_telemetry, memory_clock_mhz, 24, uint32_t);
FIELD(hmn_telemetry, fan_percent, 28, uint32_t);
FIELD(hmn_telemetry, fan_rpm, 32, uint32_t);
FIELD(hmn_telemetry, pcie_generation, 36, uint32_t);
FIELD(hmn_telemetry, pcie_width, 40, uint32_t);
FIELD(hmn_telemetry, p_state, 44, uint32_t);
FIELD(hmn_telemetry, throttle, 48, hmn_flags);
FIELD(hmn_telemetry, reserved0, 52, uint32_t);
FIELD(hmn_telemetry, backends, 56, uint64_t);
FIELD(hmn_telemetry, gpu_busy_percent, 64, double);
FIELD(hmn_telemetry, memory_busy_percent, 72, double);
FIELD(hmn_telemetry, encoder_busy_percent, 80, double);
FIELD(hmn_telemetry, decoder_busy_percent, 88, double);
FIELD(hmn_telemetry, temperature_celsius, 96, double);
FIELD(hmn_telemetry, hotspot_celsius, 104, double);
FIELD(hmn_telemetry, memory_celsius, 112, double);
FIELD(hmn_telemetry, power_watts, 120, double);
FIELD(hmn_telemetry, power_limit_watts, 128, double);
FIELD(hmn_telemetry, energy_joules, 136, double);
FIELD(hmn_telemetry, pcie_rx_bytes, 144, uint64_t);
FIELD(hmn_telemetry, pcie_tx_bytes, 152, uint64_t);
FIELD(hmn_telemetry, window_ns, 160, uint64_t);
FIELD(hmn_telemetry, age_ns, 168, uint64_t);

SIZE(hmn_metric, 64);
FIELD(hmn_metric, struct_size, 0, uint32_t);
FIELD(hmn_metric, present, 4, hmn_flags);
FIELD(hmn_metric, notes, 8, hmn_flags);
FIELD(hmn_metric, backend, 12, uint32_t);
FIELD(hmn_metric, device_index, 16, uint32_t);
FIELD(hmn_metric, pid, 20, uint32_t);
FIELD(hmn_metric, id, 24, uint32_t);
FIELD(hmn_metric, instance, 28, uint32_t);
FIELD(hmn_metric, value, 32, double);
FIELD(hmn_metric, count, 40, uint64_t);
FIELD(hmn_metric, window_ns, 48, uint64_t);
FIELD(hmn_metric, age_ns, 56, uint64_t);

SIZE(hmn_usage, 176);
FIELD(hmn_usage, struct_size, 0, uint32_t);
FIELD(hmn_usage, present, 4, hmn_flags);
FIELD(hmn_usage, notes, 8, hmn_flags);
FIELD(hmn_usage, backend, 12, uint32_t);
FIELD(hmn_usage, pid, 16, uint32_t);
FIELD(hmn_usage, device_index, 20, uint32_t);
FIELD(hmn_usage, kinds, 24, hmn_flags);
FIELD(hmn_usage, accounting, 28, uint32_t);
FIELD(hmn_usage, name_state, 32, uint32_t);
FIELD(hmn_usage, uid, 36, uint32_t);
FIELD(hmn_usage, gpu_instance, 40, uint32_t);
FIELD(hmn_usage, compute_instance, 44, uint32_t);
FIELD(hmn_usage, start_unix_ns, 48, uint64_t);
FIELD(hmn_usage, used_bytes, 56, uint64_t);
FIELD(hmn_usage, resident_bytes, 64, uint64_t);
FIELD(hmn_usage, committed_bytes, 72, uint64_t);
FIELD(hmn_usage, allocated_bytes, 80, uint64_t);
FIELD(hmn_usage, shared_bytes, 88, uint64_t);
FIELD(hmn_usage, purgeable_bytes, 96, uint64_t);
FIELD(hmn_usage, evicted_bytes, 104, uint64_t);
FIELD(hmn_usage, host_pool_bytes, 112, uint64_t);
FIELD(hmn_usage, host_resident_bytes, 120, uint64_t);
FIELD(hmn_usage, budget_bytes, 128, uint64_t);
FIELD(hmn_usage, busy_ns, 136, uint64_t);
FIELD(hmn_usage, busy_percent, 144, double);
FIELD(hmn_usage, window_ns, 152, uint64_t);
FIELD(hmn_usage, age_ns, 160, uint64_t);
FIELD(hmn_usage, peak_used_bytes, 168, uint64_t);

SIZE(hmn_snapshot_options, 24);
FIELD(hmn_snapshot_options, struct_size, 0, uint32_t);
FIELD(hmn_snapshot_options, flags, 4, hmn_flags);
FIELD(hmn_snapshot_options, collect, 8, hmn_flags);
FIELD(hmn_snapshot_options, device_index, 12, uint32_t);
FIELD(hmn_snapshot_options, pid, 16, uint32_t);
FIELD(hmn_snapshot_options, deadline_ms, 20, uint32_t);

SIZE(hmn_snapshot_info, 64);
FIELD(hmn_snapshot_info, struct_size, 0, uint32_t);
FIELD(hmn_snapshot_info, present, 4, hmn_flags);
FIELD(hmn_snapshot_info, notes, 8, hmn_flags);
FIELD(hmn_snapshot_info, collect, 12, hmn_flags);
FIELD(hmn_snapshot_info, device_count, 16, uint32_t);
FIELD(hmn_snapshot_info, pool_count, 20, uint32_t);
FIELD(hmn_snapshot_info, usage_count, 24, uint32_t);
FIELD(hmn_snapshot_info, diagnostic_count, 28, uint32_t);
FIELD(hmn_snapshot_info, unreadable_process_count, 32, uint32_t);
FIELD(hmn_snapshot_info, metric_count, 36, uint32_t);
FIELD(hmn_snapshot_info, unix_time_ns, 40, uint64_t);
FIELD(hmn_snapshot_info, monotonic_ns, 48, uint64_t);
FIELD(hmn_snapshot_info, duration_ns, 56, uint64_t);

SIZE(hmn_diagnostic, 312);
FIELD(hmn_diagnostic, struct_size, 0, uint32_t);
FIELD(hmn_diagnostic, present, 4, hmn_flags);
FIELD(hmn_diagnostic, notes, 8, hmn_flags);
FIELD(hmn_diagnostic, backend, 12, uint32_t);
FIELD(hmn_diagnostic, status, 16, hmn_status);
FIELD(hmn_diagnostic, native_domain, 20, uint32_t);
FIELD(hmn_diagnostic, native_code, 24, int32_t);
FIELD(hmn_diagnostic, subject, 28, hmn_flags);
FIELD(hmn_diagnostic, field, 32, hmn_flags);
FIELD(hmn_diagnostic, device_index, 36, uint32_t);
FIELD(hmn_diagnostic, pid, 40, uint32_t);
FIELD(hmn_diagnostic, count, 44, uint32_t);
FIELD(hmn_diagnostic, duration_ns, 48, uint64_t);
TEXT(hmn_diagnostic, message, 56, 256);

SIZE(hmn_delta, 64);
FIELD(hmn_delta, struct_size, 0, uint32_t);
FIELD(hmn_delta, present, 4, hmn_flags);
FIELD(hmn_delta, notes, 8, hmn_flags);
FIELD(hmn_delta, backend, 12, uint32_t);
FIELD(hmn_delta, device_index, 16, uint32_t);
FIELD(hmn_delta, scope, 20, uint32_t);
FIELD(hmn_delta, accounting, 24, uint32_t);
FIELD(hmn_delta, reserved0, 28, uint32_t);
FIELD(hmn_delta, memory_bytes, 32, int64_t);
FIELD(hmn_delta, device_bytes, 40, int64_t);
FIELD(hmn_delta, elapsed_ns, 48, uint64_t);
FIELD(hmn_delta, energy_joules, 56, double);

SIZE(hmn_sampler_options, 24);
FIELD(hmn_sampler_options, struct_size, 0, uint32_t);
FIELD(hmn_sampler_options, flags, 4, hmn_flags);
FIELD(hmn_sampler_options, interval_ms, 8, uint32_t);
FIELD(hmn_sampler_options, process_interval_ms, 12, uint32_t);
FIELD(hmn_sampler_options, capacity, 16, uint32_t);
FIELD(hmn_sampler_options, reserved0, 20, uint32_t);

SIZE(hmn_sampler_info, 64);
FIELD(hmn_sampler_info, struct_size, 0, uint32_t);
FIELD(hmn_sampler_info, present, 4, hmn_flags);
FIELD(hmn_sampler_info, notes, 8, hmn_flags);
FIELD(hmn_sampler_info, state, 12, uint32_t);
FIELD(hmn_sampler_info, pending, 16, uint32_t);
FIELD(hmn_sampler_info, last_status, 20, hmn_status);
FIELD(hmn_sampler_info, taken_count, 24, uint64_t);
FIELD(hmn_sampler_info, dropped_count, 32, uint64_t);
FIELD(hmn_sampler_info, late_count, 40, uint64_t);
FIELD(hmn_sampler_info, failed_count, 48, uint64_t);
FIELD(hmn_sampler_info, last_monotonic_ns, 56, uint64_t);

SIZE(hmn_peak, 64);
FIELD(hmn_peak, struct_size, 0, uint32_t);
FIELD(hmn_peak, present, 4, hmn_flags);
FIELD(hmn_peak, notes, 8, hmn_flags);
FIELD(hmn_peak, backend, 12, uint32_t);
FIELD(hmn_peak, device_index, 16, uint32_t);
FIELD(hmn_peak, pid, 20, uint32_t);
FIELD(hmn_peak, accounting, 24, uint32_t);
FIELD(hmn_peak, reserved0, 28, uint32_t);
FIELD(hmn_peak, used_bytes, 32, uint64_t);
FIELD(hmn_peak, host_pool_bytes, 40, uint64_t);
FIELD(hmn_peak, host_resident_bytes, 48, uint64_t);
FIELD(hmn_peak, used_monotonic_ns, 56, uint64_t);

SIZE(hmn_spill_options, 32);
FIELD(hmn_spill_options, struct_size, 0, uint32_t);
FIELD(hmn_spill_options, flags, 4, hmn_flags);
FIELD(hmn_spill_options, episode_capacity, 8, uint32_t);
FIELD(hmn_spill_options, reserved0, 12, uint32_t);
FIELD(hmn_spill_options, dedicated_threshold_bytes, 16, uint64_t);
FIELD(hmn_spill_options, growth_bytes, 24, uint64_t);

SIZE(hmn_spill_sample, 48);
FIELD(hmn_spill_sample, struct_size, 0, uint32_t);
FIELD(hmn_spill_sample, flags, 4, hmn_flags);
FIELD(hmn_spill_sample, monotonic_ns, 8, uint64_t);
FIELD(hmn_spill_sample, dedicated_bytes, 16, uint64_t);
FIELD(hmn_spill_sample, shared_bytes, 24, uint64_t);
FIELD(hmn_spill_sample, limit_bytes, 32, uint64_t);
FIELD(hmn_spill_sample, evicted_bytes, 40, uint64_t);

SIZE(hmn_spill_info, 480);
FIELD(hmn_spill_info, struct_size, 0, uint32_t);
FIELD(hmn_spill_info, present, 4, hmn_flags);
FIELD(hmn_spill_info, notes, 8, hmn_flags);
FIELD(hmn_spill_info, backend, 12, uint32_t);
FIELD(hmn_spill_info, device_index, 16, uint32_t);
FIELD(hmn_spill_info, state, 20, hmn_flags);
FIELD(hmn_spill_info, rules, 24, hmn_flags);
FIELD(hmn_spill_info, status, 28, hmn_status);
FIELD(hmn_spill_info, observation_count, 32, uint64_t);
FIELD(hmn_spill_info, skipped_count, 40, uint64_t);
FIELD(hmn_spill_info, episode_count, 48, uint64_t);
FIELD(hmn_spill_info, first_episode, 56, uint64_t);
FIELD(hmn_spill_info, limit_bytes, 64, uint64_t);
FIELD(hmn_spill_info, dedicated_bytes, 72, uint64_t);
FIELD(hmn_spill_info, shared_bytes, 80, uint64_t);
FIELD(hmn_spill_info, evicted_bytes, 88, uint64_t);
FIELD(hmn_spill_info, peak_dedicated_bytes, 96, uint64_t);
FIELD(hmn_spill_info, peak_shared_bytes, 104, uint64_t);
FIELD(hmn_spill_info, peak_evicted_bytes, 112, uint64_t);
FIELD(hmn_spill_info, baseline_shared_bytes, 120, uint64_t);
FIELD(hmn_spill_info, baseline_evicted_bytes, 128, uint64_t);
FIELD(hmn_spill_info, total_ns, 136, uint64_t);
FIELD(hmn_spill_info, longest_ns, 144, uint64_t);
FIELD(hmn_spill_info, longest_episode, 152, uint64_t);
TEXT(hmn_spill_info, first_label, 160, 64);
TEXT(hmn_spill_info, message, 224, 256);

SIZE(hmn_episode, 200);
FIELD(hmn_episode, struct_size, 0, uint32_t);
FIELD(hmn_episode, present, 4, hmn_flags);
FIELD(hmn_episode, notes, 8, hmn_flags);
FIELD(hmn_episode, rules, 12, hmn_flags);
FIELD(hmn_episode, number, 16, uint64_t);
FIELD(hmn_episode, observation_count, 24, uint64_t);
FIELD(hmn_episode, peak_shared_bytes, 32, uint64_t);
FIELD(hmn_episode, peak_evicted_bytes, 40, uint64_t);
FIELD(hmn_episode, start_monotonic_ns, 48, uint64_t);
FIELD(hmn_episode, end_monotonic_ns, 56, uint64_t);
FIELD(hmn_episode, duration_ns, 64, uint64_t);
TEXT(hmn_episode, start_label, 72, 64);
TEXT(hmn_episode, end_label, 136, 64);

SIZE(hmn_packing, 24);
FIELD(hmn_packing, struct_size, 0, uint32_t);
FIELD(hmn_packing, flags, 4, hmn_flags);
FIELD(hmn_packing, dtype, 8, uint32_t);
FIELD(hmn_packing, element_bits, 12, uint32_t);
FIELD(hmn_packing, group_size, 16, uint32_t);
FIELD(hmn_packing, group_bits, 20, uint32_t);

SIZE(hmn_attention, 56);
FIELD(hmn_attention, struct_size, 0, uint32_t);
FIELD(hmn_attention, flags, 4, hmn_flags);
FIELD(hmn_attention, dtype, 8, uint32_t);
FIELD(hmn_attention, reserved0, 12, uint32_t);
FIELD(hmn_attention, batch, 16, uint64_t);
FIELD(hmn_attention, heads, 24, uint64_t);
FIELD(hmn_attention, kv_heads, 32, uint64_t);
FIELD(hmn_attention, sequence, 40, uint64_t);
FIELD(hmn_attention, head_dim, 48, uint64_t);

SIZE(hmn_cache, 96);
FIELD(hmn_cache, struct_size, 0, uint32_t);
FIELD(hmn_cache, flags, 4, hmn_flags);
FIELD(hmn_cache, kind, 8, uint32_t);
FIELD(hmn_cache, dtype, 12, uint32_t);
FIELD(hmn_cache, element_bits, 16, uint32_t);
FIELD(hmn_cache, group_size, 20, uint32_t);
FIELD(hmn_cache, group_bits, 24, uint32_t);
FIELD(hmn_cache, reserved0, 28, uint32_t);
FIELD(hmn_cache, layers, 32, uint64_t);
FIELD(hmn_cache, kv_heads, 40, uint64_t);
FIELD(hmn_cache, key_dim, 48, uint64_t);
FIELD(hmn_cache, value_dim, 56, uint64_t);
FIELD(hmn_cache, window, 64, uint64_t);
FIELD(hmn_cache, sinks, 72, uint64_t);
FIELD(hmn_cache, latent_dim, 80, uint64_t);
FIELD(hmn_cache, state_elements, 88, uint64_t);

SIZE(hmn_tracker_options, 24);
FIELD(hmn_tracker_options, struct_size, 0, uint32_t);
FIELD(hmn_tracker_options, flags, 4, hmn_flags);
FIELD(hmn_tracker_options, limit_bytes, 8, uint64_t);
FIELD(hmn_tracker_options, tag_capacity, 16, uint32_t);
FIELD(hmn_tracker_options, reserved0, 20, uint32_t);

SIZE(hmn_tracker_info, 56);
FIELD(hmn_tracker_info, struct_size, 0, uint32_t);
FIELD(hmn_tracker_info, present, 4, hmn_flags);
FIELD(hmn_tracker_info, notes, 8, hmn_flags);
FIELD(hmn_tracker_info, device_index, 12, uint32_t);
FIELD(hmn_tracker_info, tag_count, 16, uint32_t);
FIELD(hmn_tracker_info, reserved0, 20, uint32_t);
FIELD(hmn_tracker_info, limit_bytes, 24, uint64_t);
FIELD(hmn_tracker_info, allocated_bytes, 32, uint64_t);
FIELD(hmn_tracker_info, peak_bytes, 40, uint64_t);
FIELD(hmn_tracker_info, refused_count, 48, uint64_t);

SIZE(hmn_tag, 96);
FIELD(hmn_tag, struct_size, 0, uint32_t);
FIELD(hmn_tag, present, 4, hmn_flags);
FIELD(hmn_tag, notes, 8, hmn_flags);
FIELD(hmn_tag, number, 12, uint32_t);
FIELD(hmn_tag, allocated_bytes, 16, uint64_t);
FIELD(hmn_tag, peak_bytes, 24, uint64_t);
TEXT(hmn_tag, name, 32, 64);

NUMBER(HMN_OK, 0);
NUMBER(HMN_E_ARGUMENT, -1);
NUMBER(HMN_E_STRUCT_SIZE, -2);
NUMBER(HMN_E_UNKNOWN_FLAG, -3);
NUMBER(HMN_E_RANGE, -4);
NUMBER(HMN_E_NO_MEMORY, -5);
NUMBER(HMN_E_UNSUPPORTED, -6);
NUMBER(HMN_E_NO_SOURCE, -7);
NUMBER(HMN_E_NO_DEVICE, -8);
NUMBER(HMN_E_NO_PROCESS, -9);
NUMBER(HMN_E_PERMISSION, -10);
NUMBER(HMN_E_TIMEOUT, -11);
NUMBER(HMN_E_DEVICE_LOST, -12);
NUMBER(HMN_E_BACKEND, -13);
NUMBER(HMN_E_LIMIT, -14);
NUMBER(HMN_E_OVERFLOW, -15);
NUMBER(HMN_E_FORKED, -16);
NUMBER(HMN_E_BUFFER, -17);
NUMBER(HMN_E_EMPTY, -18);
NUMBER(HMN_E_INTERNAL, -19);
NUMBER(HMN_E_ASLEEP, -20);
NUMBER(HMN_E_STATE, -21);

NUMBER(HMN_BACKEND_NONE, 0);
NUMBER(HMN_BACKEND_OS, 1);
NUMBER(HMN_BACKEND_NVML, 2);
NUMBER(HMN_BACKEND_NVIDIA_SMI, 3);
NUMBER(HMN_BACKEND_AMDGPU, 4);
NUMBER(HMN_BACKEND_KFD, 5);
NUMBER(HMN_BACKEND_ROCM_SMI, 6);
NUMBER(HMN_BACKEND_I915, 7);
NUMBER(HMN_BACKEND_XE, 8);
NUMBER(HMN_BACKEND_DRM, 9);
NUMBER(HMN_BACKEND_DXGI, 10);
NUMBER(HMN_BACKEND_PDH, 11);
NUMBER(HMN_BACKEND_METAL, 12);
NUMBER(HMN_BACKEND_MACMON, 13);
NUMBER(HMN_BACKEND_TEGRA, 14);
NUMBER(HMN_BACKEND_DMEM, 15);
NUMBER(HMN_BACKEND_SIMULATED, 16);
NUMBER(HMN_BACKEND_AMD_SMI, 17);

NUMBER(HMN_NOTE_STALE, 1 << 0);
NUMBER(HMN_NOTE_LOWER_BOUND, 1 << 1);
NUMBER(HMN_NOTE_ESTIMATED, 1 << 2);
NUMBER(HMN_NOTE_TRUNCATED, 1 << 3);
NUMBER(HMN_NOTE_MIXED, 1 << 4);
NUMBER(HMN_NOTE_FOREIGN_PID, 1 << 5);
NUMBER(HMN_NOTE_PARTIAL, 1 << 6);
NUMBER(HMN_NOTE_TRACE, 1 << 7);
NUMBER(HMN_NOTE_DIVIDED, 1 << 8);

NUMBER(HMN_SCOPE_NONE, 0);
NUMBER(HMN_SCOPE_PROCESS, 1);
NUMBER(HMN_SCOPE_DEVICE, 2);

NUMBER(HMN_ACCOUNT_NONE, 0);
NUMBER(HMN_ACCOUNT_RESIDENT, 1);
NUMBER(HMN_ACCOUNT_COMMITTED, 2);
NUMBER(HMN_ACCOUNT_ALLOCATED, 3);

NUMBER(HMN_NATIVE_NONE, 0);
NUMBER(HMN_NATIVE_ERRNO, 1);
NUMBER(HMN_NATIVE_WIN32, 2);
NUMBER(HMN_NATIVE_HRESULT, 3);
NUMBER(HMN_NATIVE_NTSTATUS, 4);
NUMBER(HMN_NATIVE_PDH, 5);
NUMBER(HMN_NATIVE_KERN, 6);
NUMBER(HMN_NATIVE_NVML, 7);
NUMBER(HMN_NATIVE_EXIT, 9);

NUMBER(HMN_VENDOR_UNKNOWN, 0);
NUMBER(HMN_VENDOR_AMD, 0x1002);
NUMBER(HMN_VENDOR_APPLE, 0x106b);
NUMBER(HMN_VENDOR_NVIDIA, 0x10de);
NUMBER(HMN_VENDOR_QUALCOMM, 0x5143);
NUMBER(HMN_VENDOR_INTEL, 0x8086);

NUMBER(HMN_ERROR_SIZE_V1, 280);

NUMBER(HMN_FEATURE_SUBPROCESS, 1);
NUMBER(HMN_FEATURE_SIMULATION, 2);
NUMBER(HMN_FEATURE_BACKEND, 1000);

NUMBER(HMN_CONTEXT_NO_SUBPROCESS, 1 << 0);
NUMBER(HMN_CONTEXT_WAKE_DEVICES, 1 << 1);
NUMBER(HMN_CONTEXT_NO_THREADS, 1 << 2);
NUMBER(HMN_CONTEXT_ENVIRONMENT, 1 << 3);
NUMBER(HMN_CONTEXT_TRACE, 1 << 4);
NUMBER(HMN_CONTEXT_RECORD, 1 << 5);
NUMBER(HMN_CONTEXT_OPTIONS_SIZE_V1, 40);

NUMBER(HMN_PATH_PROC, 1);
NUMBER(HMN_PATH_SYS, 2);
NUMBER(HMN_PATH_NVML, 3);
NUMBER(HMN_PATH_NVIDIA_SMI, 4);
NUMBER(HMN_PATH_ROCM_SMI, 5);
NUMBER(HMN_PATH_MACMON, 6);
NUMBER(HMN_PATH_SIMULATION, 7);
NUMBER(HMN_PATH_CGROUP, 8);
NUMBER(HMN_PATH_AMD_SMI, 9);
NUMBER(HMN_PATH_DEV, 10);

NUMBER(HMN_STATE_UNKNOWN, 0);
NUMBER(HMN_STATE_READY, 1);
NUMBER(HMN_STATE_ASLEEP, 2);
NUMBER(HMN_STATE_LOST, 3);
NUMBER(HMN_STATE_UNREADABLE, 4);
NUMBER(HMN_STATE_HUNG, 5);
NUMBER(HMN_STATE_ABSENT, 6);
NUMBER(HMN_STATE_OFF, 7);

NUMBER(HMN_BACKEND_INFO_HAS_VERSION, 1 << 0);
NUMBER(HMN_BACKEND_INFO_SIZE_V1, 384);

NUMBER(HMN_PROCESS_MEMORY_HAS_RESIDENT, 1 << 0);
NUMBER(HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT, 1 << 1);
NUMBER(HMN_PROCESS_MEMORY_HAS_VIRTUAL, 1 << 2);
NUMBER(HMN_PROCESS_MEMORY_HAS_SWAP, 1 << 3);
NUMBER(HMN_PROCESS_MEMORY_HAS_PROPORTIONAL, 1 << 4);
NUMBER(HMN_PROCESS_MEMORY_HAS_PRIVATE, 1 << 5);
NUMBER(HMN_PROCESS_MEMORY_HAS_COMMITTED, 1 << 6);
NUMBER(HMN_PROCESS_MEMORY_HAS_FOOTPRINT, 1 << 7);
NUMBER(HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT, 1 << 8);
NUMBER(HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED, 1 << 9);
NUMBER(HMN_PROCESS_MEMORY_SIZE_V1, 88);
NUMBER(HMN_PROCESS_MEMORY_SIZE_V2, 104);

NUMBER(HMN_SYSTEM_MEMORY_HAS_TOTAL, 1 << 0);
NUMBER(HMN_SYSTEM_MEMORY_HAS_AVAILABLE, 1 << 1);
NUMBER(HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL, 1 << 2);
NUMBER(HMN_SYSTEM_MEMORY_HAS_SWAP_FREE, 1 << 3);
NUMBER(HMN_SYSTEM_MEMORY_HAS_LIMIT, 1 << 4);
NUMBER(HMN_SYSTEM_MEMORY_HAS_LIMIT_USED, 1 << 5);
NUMBER(HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT, 1 << 6);
NUMBER(HMN_SYSTEM_MEMORY_HAS_COMMITTED, 1 << 7);
NUMBER(HMN_SYSTEM_MEMORY_HAS_PRESSURE, 1 << 8);
NUMBER(HMN_SYSTEM_MEMORY_HAS_STALL, 1 << 9);
NUMBER(HMN_SYSTEM_MEMORY_HAS_USABLE, 1 << 10);
NUMBER(HMN_SYSTEM_MEMORY_SIZE_V1, 80);
NUMBER(HMN_SYSTEM_MEMORY_SIZE_V2, 104);

NUMBER(HMN_PRESSURE_UNKNOWN, 0);
NUMBER(HMN_PRESSURE_NORMAL, 1);
NUMBER(HMN_PRESSURE_WARNING, 2);
NUMBER(HMN_PRESSURE_CRITICAL, 3);

NUMBER(HMN_KIND_UNKNOWN, 0);
NUMBER(HMN_KIND_DISCRETE, 1);
NUMBER(HMN_KIND_INTEGRATED, 2);
NUMBER(HMN_KIND_PARTITION, 3);
NUMBER(HMN_KIND_VIRTUAL, 4);

NUMBER(HMN_MEMORY_KIND_UNKNOWN, 0);
NUMBER(HMN_MEMORY_KIND_DEDICATED, 1);
NUMBER(HMN_MEMORY_KIND_UNIFIED, 2);
NUMBER(HMN_MEMORY_KIND_COHERENT, 3);

NUMBER(HMN_DEVICE_HAS_NAME, 1 << 0);
NUMBER(HMN_DEVICE_HAS_UUID, 1 << 1);
NUMBER(HMN_DEVICE_HAS_PCI, 1 << 2);
NUMBER(HMN_DEVICE_HAS_DRIVER, 1 << 3);
NUMBER(HMN_DEVICE_HAS_PARENT, 1 << 4);
NUMBER(HMN_DEVICE_HAS_PCI_DEVICE, 1 << 5);
NUMBER(HMN_DEVICE_HAS_PCI_SUBSYSTEM, 1 << 6);
NUMBER(HMN_DEVICE_HAS_RENDER_MINOR, 1 << 7);
NUMBER(HMN_DEVICE_HAS_NUMA_NODE, 1 << 8);
NUMBER(HMN_DEVICE_HAS_INSTANCE, 1 << 9);
NUMBER(HMN_DEVICE_HAS_DRIVER_INDEX, 1 << 10);
NUMBER(HMN_DEVICE_HAS_OS_ID, 1 << 11);
NUMBER(HMN_DEVICE_HAS_CUDA_VERSION, 1 << 12);
NUMBER(HMN_DEVICE_SIZE_V1, 560);

NUMBER(HMN_POOL_MAIN, 0);
NUMBER(HMN_POOL_VRAM, 1);
NUMBER(HMN_POOL_VRAM_VISIBLE, 2);
NUMBER(HMN_POOL_HOST, 3);
NUMBER(HMN_POOL_UNIFIED, 4);
NUMBER(HMN_POOL_STOLEN, 5);
NUMBER(HMN_POOL_HAS_TOTAL, 1 << 0);
NUMBER(HMN_POOL_HAS_FREE, 1 << 1);
NUMBER(HMN_POOL_HAS_USED, 1 << 2);
NUMBER(HMN_POOL_HAS_RESERVED, 1 << 3);
NUMBER(HMN_POOL_HAS_USABLE, 1 << 4);
NUMBER(HMN_POOL_HAS_BUDGET, 1 << 5);
NUMBER(HMN_POOL_HAS_UNATTRIBUTED, 1 << 6);
NUMBER(HMN_POOL_SIZE_V1, 96);

NUMBER(HMN_TELEMETRY_HAS_GPU_BUSY, 1 << 0);
NUMBER(HMN_TELEMETRY_HAS_MEMORY_BUSY, 1 << 1);
NUMBER(HMN_TELEMETRY_HAS_ENCODER_BUSY, 1 << 2);
NUMBER(HMN_TELEMETRY_HAS_DECODER_BUSY, 1 << 3);
NUMBER(HMN_TELEMETRY_HAS_TEMPERATURE, 1 << 4);
NUMBER(HMN_TELEMETRY_HAS_HOTSPOT, 1 << 5);
NUMBER(HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, 1 << 6);
NUMBER(HMN_TELEMETRY_HAS_POWER, 1 << 7);
NUMBER(HMN_TELEMETRY_HAS_POWER_LIMIT, 1 << 8);
NUMBER(HMN_TELEMETRY_HAS_ENERGY, 1 << 9);
NUMBER(HMN_TELEMETRY_HAS_CORE_CLOCK, 1 << 10);
NUMBER(HMN_TELEMETRY_HAS_MEMORY_CLOCK, 1 << 11);
NUMBER(HMN_TELEMETRY_HAS_FAN_PERCENT, 1 << 12);
NUMBER(HMN_TELEMETRY_HAS_FAN_RPM, 1 << 13);
NUMBER(HMN_TELEMETRY_HAS_PCIE_GENERATION, 1 << 14);
NUMBER(HMN_TELEMETRY_HAS_PCIE_WIDTH, 1 << 15);
NUMBER(HMN_TELEMETRY_HAS_PCIE_RX, 1 << 16);
NUMBER(HMN_TELEMETRY_HAS_PCIE_TX, 1 << 17);
NUMBER(HMN_TELEMETRY_HAS_THROTTLE, 1 << 18);
NUMBER(HMN_TELEMETRY_HAS_P_STATE, 1 << 19);
NUMBER(HMN_TELEMETRY_HAS_WINDOW, 1 << 20);

NUMBER(HMN_THROTTLE_IDLE, 1 << 0);
NUMBER(HMN_THROTTLE_POWER, 1 << 1);
NUMBER(HMN_THROTTLE_THERMAL, 1 << 2);
NUMBER(HMN_THROTTLE_HARDWARE, 1 << 3);
NUMBER(HMN_THROTTLE_SETTING, 1 << 4);
NUMBER(HMN_THROTTLE_OTHER, 1 << 5);

NUMBER(HMN_TELEMETRY_SIZE_V1, 176);

NUMBER(HMN_METRIC_UNKNOWN, 0);
NUMBER(HMN_METRIC_ENGINE_BUSY_NS, 1);
NUMBER(HMN_METRIC_ENGINE_PERCENT, 2);
NUMBER(HMN_METRIC_ENGINE_CAPACITY, 3);
NUMBER(HMN_METRIC_TEMPERATURE, 20);
NUMBER(HMN_METRIC_TEMPERATURE_LIMIT, 21);
NUMBER(HMN_METRIC_FAN_RPM, 22);
NUMBER(HMN_METRIC_FAN_PERCENT, 23);
NUMBER(HMN_METRIC_POWER_WATTS, 24);
NUMBER(HMN_METRIC_ENERGY_JOULES, 25);
NUMBER(HMN_METRIC_CLOCK_MHZ, 26);
NUMBER(HMN_METRIC_CLOCK_LIMIT_MHZ, 27);
NUMBER(HMN_METRIC_VOLTAGE, 28);
NUMBER(HMN_METRIC_TEMPERATURE_SHUTDOWN, 29);
NUMBER(HMN_METRIC_POWER_LIMIT_WATTS, 30);
NUMBER(HMN_METRIC_ECC_CORRECTED, 40);
NUMBER(HMN_METRIC_ECC_UNCORRECTED, 41);
NUMBER(HMN_METRIC_ROWS_REMAPPED, 42);
NUMBER(HMN_METRIC_LAST_FAULT, 43);
NUMBER(HMN_METRIC_THROTTLE_NS, 44);
NUMBER(HMN_METRIC_PCIE_RX_BYTES, 60);
NUMBER(HMN_METRIC_PCIE_TX_BYTES, 61);
NUMBER(HMN_METRIC_PCIE_REPLAYS, 62);
NUMBER(HMN_METRIC_LINK_RX_BYTES, 63);
NUMBER(HMN_METRIC_LINK_TX_BYTES, 64);
NUMBER(HMN_METRIC_GROUP_VRAM_BYTES, 80);
NUMBER(HMN_METRIC_GROUP_VRAM_LIMIT_BYTES, 81);

NUMBER(HMN_ENGINE_UNKNOWN, 0);
NUMBER(HMN_ENGINE_GRAPHICS, 1);
NUMBER(HMN_ENGINE_COMPUTE, 2);
NUMBER(HMN_ENGINE_COPY, 3);
NUMBER(HMN_ENGINE_DECODE, 4);
NUMBER(HMN_ENGINE_ENCODE, 5);
NUMBER(HMN_ENGINE_VIDEO, 6);
NUMBER(HMN_ENGINE_OTHER, 7);
NUMBER(HMN_ENGINE_MEMORY, 8);

NUMBER(HMN_SENSOR_UNKNOWN, 0);
NUMBER(HMN_SENSOR_CORE, 1);
NUMBER(HMN_SENSOR_HOTSPOT, 2);
NUMBER(HMN_SENSOR_MEMORY, 3);
NUMBER(HMN_SENSOR_PACKAGE, 4);
NUMBER(HMN_SENSOR_BOARD, 5);
NUMBER(HMN_SENSOR_REGULATOR, 6);

NUMBER(HMN_POWER_UNKNOWN, 0);
NUMBER(HMN_POWER_AVERAGE, 1);
NUMBER(HMN_POWER_INSTANT, 2);
NUMBER(HMN_POWER_PACKAGE, 3);
NUMBER(HMN_POWER_MEMORY, 4);
NUMBER(HMN_POWER_BOARD, 5);
NUMBER(HMN_POWER_LIMIT_UNKNOWN, 0);
NUMBER(HMN_POWER_LIMIT_CURRENT, 1);
NUMBER(HMN_POWER_LIMIT_DEFAULT, 2);
NUMBER(HMN_POWER_LIMIT_MIN, 3);
NUMBER(HMN_POWER_LIMIT_MAX, 4);

NUMBER(HMN_CLOCK_UNKNOWN, 0);
NUMBER(HMN_CLOCK_CORE, 1);
NUMBER(HMN_CLOCK_MEMORY, 2);
NUMBER(HMN_CLOCK_SM, 3);
NUMBER(HMN_CLOCK_VIDEO, 4);
NUMBER(HMN_CLOCK_MEDIA, 5);
NUMBER(HMN_CLOCK_SOC, 6);
NUMBER(HMN_CLOCK_FABRIC, 7);
NUMBER(HMN_CLOCK_REQUESTED, 8);

NUMBER(HMN_RAIL_UNKNOWN, 0);
NUMBER(HMN_RAIL_CORE, 1);
NUMBER(HMN_RAIL_SOC, 2);
NUMBER(HMN_RAIL_MEMORY, 3);
NUMBER(HMN_RAIL_BOARD, 4);

NUMBER(HMN_ERA_UNKNOWN, 0);
NUMBER(HMN_ERA_SINCE_LOAD, 1);
NUMBER(HMN_ERA_LIFETIME, 2);

NUMBER(HMN_REMAPPED_UNKNOWN, 0);
NUMBER(HMN_REMAPPED_CORRECTED, 1);
NUMBER(HMN_REMAPPED_UNCORRECTED, 2);
NUMBER(HMN_REMAPPED_PENDING, 3);
NUMBER(HMN_REMAPPED_FAILED, 4);

NUMBER(HMN_METRIC_HAS_PID, 1 << 0);
NUMBER(HMN_METRIC_HAS_VALUE, 1 << 1);
NUMBER(HMN_METRIC_HAS_COUNT, 1 << 2);
NUMBER(HMN_METRIC_HAS_WINDOW, 1 << 3);

NUMBER(HMN_METRIC_SIZE_V1, 64);

NUMBER(HMN_USAGE_COMPUTE, 1 << 0);
NUMBER(HMN_USAGE_GRAPHICS, 1 << 1);
NUMBER(HMN_USAGE_MEDIA, 1 << 2);

NUMBER(HMN_NAME_UNKNOWN, 0);
NUMBER(HMN_NAME_RESOLVED, 1);
NUMBER(HMN_NAME_EXITED, 2);
NUMBER(HMN_NAME_PROTECTED, 3);
NUMBER(HMN_NAME_KERNEL, 4);

NUMBER(HMN_USAGE_HAS_USED, 1 << 0);
NUMBER(HMN_USAGE_HAS_RESIDENT, 1 << 1);
NUMBER(HMN_USAGE_HAS_COMMITTED, 1 << 2);
NUMBER(HMN_USAGE_HAS_ALLOCATED, 1 << 3);
NUMBER(HMN_USAGE_HAS_SHARED, 1 << 4);
NUMBER(HMN_USAGE_HAS_PURGEABLE, 1 << 5);
NUMBER(HMN_USAGE_HAS_EVICTED, 1 << 6);
NUMBER(HMN_USAGE_HAS_HOST_POOL, 1 << 7);
NUMBER(HMN_USAGE_HAS_HOST_RESIDENT, 1 << 8);
NUMBER(HMN_USAGE_HAS_BUDGET, 1 << 9);
NUMBER(HMN_USAGE_HAS_BUSY_NS, 1 << 10);
NUMBER(HMN_USAGE_HAS_BUSY_PERCENT, 1 << 11);
NUMBER(HMN_USAGE_HAS_START_TIME, 1 << 12);
NUMBER(HMN_USAGE_HAS_UID, 1 << 13);
NUMBER(HMN_USAGE_HAS_INSTANCE, 1 << 14);
NUMBER(HMN_USAGE_HAS_KINDS, 1 << 15);
NUMBER(HMN_USAGE_HAS_PEAK_USED, 1 << 16);
NUMBER(HMN_USAGE_SIZE_V1, 168);
NUMBER(HMN_USAGE_SIZE_V2, 176);

NUMBER(HMN_COLLECT_MEMORY, 1 << 0);
NUMBER(HMN_COLLECT_SYSTEM, 1 << 1);
NUMBER(HMN_COLLECT_DEVICES, 1 << 2);
NUMBER(HMN_COLLECT_POOLS, 1 << 3);
NUMBER(HMN_COLLECT_SELF, 1 << 4);
NUMBER(HMN_COLLECT_PROCESSES, 1 << 5);
NUMBER(HMN_COLLECT_TELEMETRY, 1 << 6);
NUMBER(HMN_COLLECT_METRICS, 1 << 7);

NUMBER(HMN_SNAPSHOT_ONE_DEVICE, 1 << 0);
NUMBER(HMN_SNAPSHOT_ONE_PROCESS, 1 << 1);
NUMBER(HMN_SNAPSHOT_SLOW, 1 << 2);
NUMBER(HMN_SNAPSHOT_OPTIONS_SIZE_V1, 24);
NUMBER(HMN_SNAPSHOT_INFO_SIZE_V1, 64);

NUMBER(HMN_DIAGNOSTIC_HAS_DEVICE, 1 << 0);
NUMBER(HMN_DIAGNOSTIC_HAS_PID, 1 << 1);
NUMBER(HMN_DIAGNOSTIC_HAS_FIELD, 1 << 2);
NUMBER(HMN_DIAGNOSTIC_HAS_DURATION, 1 << 3);
NUMBER(HMN_DIAGNOSTIC_SIZE_V1, 312);

NUMBER(HMN_TEXT_PROCESS_NAME, 1);
NUMBER(HMN_TEXT_PROCESS_COMMAND, 3);
NUMBER(HMN_TEXT_PROCESS_CONTAINER, 5);
NUMBER(HMN_TEXT_METRIC_GROUP, 64);

NUMBER(HMN_DELTA_HAS_MEMORY, 1 << 0);
NUMBER(HMN_DELTA_HAS_DEVICE, 1 << 1);
NUMBER(HMN_DELTA_HAS_ENERGY, 1 << 2);
NUMBER(HMN_DELTA_SIZE_V1, 64);

NUMBER(HMN_FORMAT_FREE, 1);
NUMBER(HMN_FORMAT_TOTAL, 2);
NUMBER(HMN_FORMAT_USED, 3);

NUMBER(HMN_SAMPLER_PEAKS_ONLY, 1);
NUMBER(HMN_SAMPLER_OPTIONS_SIZE_V1, 24);
NUMBER(HMN_SAMPLER_IDLE, 1);
NUMBER(HMN_SAMPLER_RUNNING, 2);
NUMBER(HMN_SAMPLER_STOPPED, 3);
NUMBER(HMN_SAMPLER_INFO_HAS_LAST, 1);
NUMBER(HMN_SAMPLER_INFO_SIZE_V1, 64);
NUMBER(HMN_PEAK_HAS_USED, 1);
NUMBER(HMN_PEAK_HAS_HOST_POOL, 2);
NUMBER(HMN_PEAK_HAS_HOST_RESIDENT, 4);
NUMBER(HMN_PEAK_SIZE_V1, 64);

NUMBER(HMN_SPILL_OPTIONS_SIZE_V1, 32);
NUMBER(HMN_SPILL_SAMPLE_HAS_LIMIT, 1);
NUMBER(HMN_SPILL_SAMPLE_HAS_EVICTED, 2);
NUMBER(HMN_SPILL_SAMPLE_SIZE_V1, 48);
NUMBER(HMN_SPILL_MEASURABLE, 1);
NUMBER(HMN_SPILL_NOW, 2);
NUMBER(HMN_SPILL_EVER, 4);
NUMBER(HMN_SPILL_BY_SHARED, 1);
NUMBER(HMN_SPILL_BY_EVICTED, 2);
NUMBER(HMN_SPILL_INFO_HAS_LIMIT, 1);
NUMBER(HMN_SPILL_INFO_HAS_OBSERVED, 2);
NUMBER(HMN_SPILL_INFO_HAS_EVICTED, 4);
NUMBER(HMN_SPILL_INFO_HAS_PEAK_EVICTED, 8);
NUMBER(HMN_SPILL_INFO_HAS_EPISODE, 16);
NUMBER(HMN_SPILL_INFO_SIZE_V1, 480);
NUMBER(HMN_EPISODE_HAS_END, 1);
NUMBER(HMN_EPISODE_HAS_PEAK_EVICTED, 2);
NUMBER(HMN_EPISODE_SIZE_V1, 200);
NUMBER(HMN_DTYPE_UNKNOWN, 0);
NUMBER(HMN_DTYPE_U8, 1);
NUMBER(HMN_DTYPE_I8, 2);
NUMBER(HMN_DTYPE_U16, 3);
NUMBER(HMN_DTYPE_I16, 4);
NUMBER(HMN_DTYPE_U32, 5);
NUMBER(HMN_DTYPE_I32, 6);
NUMBER(HMN_DTYPE_U64, 7);
NUMBER(HMN_DTYPE_I64, 8);
NUMBER(HMN_DTYPE_F16, 9);
NUMBER(HMN_DTYPE_BF16, 10);
NUMBER(HMN_DTYPE_F32, 11);
NUMBER(HMN_DTYPE_F64, 12);
NUMBER(HMN_DTYPE_F8E4M3, 13);
NUMBER(HMN_DTYPE_F8E5M2, 14);
NUMBER(HMN_DTYPE_F8E8M0, 15);
NUMBER(HMN_DTYPE_F6E2M3, 16);
NUMBER(HMN_DTYPE_F6E3M2, 17);
NUMBER(HMN_DTYPE_F4, 18);
NUMBER(HMN_DTYPE_I4, 19);
NUMBER(HMN_DTYPE_U4, 20);
NUMBER(HMN_DTYPE_BOOL, 21);
NUMBER(HMN_PACKING_SIZE_V1, 24);
NUMBER(HMN_ATTENTION_FUSED, 1);
NUMBER(HMN_ATTENTION_SIZE_V1, 56);
NUMBER(HMN_CACHE_FULL, 0);
NUMBER(HMN_CACHE_WINDOW, 1);
NUMBER(HMN_CACHE_LATENT, 2);
NUMBER(HMN_CACHE_STATE, 3);
NUMBER(HMN_CACHE_SIZE_V1, 96);
NUMBER(HMN_TRACKER_OPTIONS_SIZE_V1, 24);
NUMBER(HMN_TRACKER_INFO_HAS_LIMIT, 1);
NUMBER(HMN_TRACKER_INFO_HAS_DEVICE, 2);
NUMBER(HMN_TRACKER_INFO_SIZE_V1, 56);
NUMBER(HMN_TAG_SIZE_V1, 96);

FUNCTION(hmn_version_number, uint32_t, void);
FUNCTION(hmn_version_string, const char*, void);
FUNCTION(hmn_feature, uint32_t, uint32_t);
FUNCTION(hmn_status_name, const char*, hmn_status);
FUNCTION(hmn_backend_name, const char*, uint32_t);
FUNCTION(hmn_context_create, hmn_status, const hmn_context_options*, hmn_context**, hmn_error*);
FUNCTION(hmn_context_recording, hmn_status, hmn_context*, char*, uint32_t, uint32_t*);
FUNCTION(hmn_context_set_path, hmn_status, hmn_context*, uint32_t, const char*, hmn_error*);
FUNCTION(hmn_context_backend, hmn_status, hmn_context*, uint32_t, hmn_backend_info*, hmn_error*);
FUNCTION(hmn_context_destroy, void, hmn_context*);
FUNCTION(hmn_process_memory_read, hmn_status, hmn_context*, uint32_t, hmn_flags,
         hmn_process_memory*, hmn_error*);
FUNCTION(hmn_process_memory_read_self, hmn_status, hmn_context*, hmn_flags, hmn_process_memory*,
         hmn_error*);
FUNCTION(hmn_system_memory_read, hmn_status, hmn_context*, hmn_system_memory*, hmn_error*);
FUNCTION(hmn_device_count, hmn_status, hmn_context*, uint32_t*, hmn_error*);
FUNCTION(hmn_device_find, hmn_status, hmn_context*, const char*, uint32_t*, hmn_error*);
FUNCTION(hmn_device_read, hmn_status, hmn_context*, uint32_t, hmn_device*, hmn_error*);
FUNCTION(hmn_pool_read, hmn_status, hmn_context*, uint32_t, uint32_t, hmn_flags, hmn_pool*,
         hmn_error*);
FUNCTION(hmn_telemetry_read, hmn_status, hmn_context*, uint32_t, hmn_flags, hmn_telemetry*,
         hmn_error*);
FUNCTION(hmn_metric_read, hmn_status, hmn_context*, uint32_t, uint32_t, uint32_t, hmn_metric*,
         hmn_error*);
FUNCTION(hmn_metric_name, const char*, uint32_t);
FUNCTION(hmn_metric_unit, const char*, uint32_t);
FUNCTION(hmn_metric_instance_name, const char*, uint32_t, uint32_t);
FUNCTION(hmn_usage_read, hmn_status, hmn_context*, uint32_t, uint32_t, hmn_usage*, hmn_error*);
FUNCTION(hmn_usage_read_self, hmn_status, hmn_context*, uint32_t, hmn_usage*, hmn_error*);
FUNCTION(hmn_snapshot_take, hmn_status, hmn_context*, const hmn_snapshot_options*, hmn_snapshot**,
         hmn_error*);
FUNCTION(hmn_snapshot_destroy, void, hmn_snapshot*);
FUNCTION(hmn_snapshot_read, hmn_status, const hmn_snapshot*, hmn_snapshot_info*);
FUNCTION(hmn_snapshot_memory, hmn_status, const hmn_snapshot*, hmn_process_memory*);
FUNCTION(hmn_snapshot_system, hmn_status, const hmn_snapshot*, hmn_system_memory*);
FUNCTION(hmn_snapshot_device, hmn_status, const hmn_snapshot*, uint32_t, hmn_device*);
FUNCTION(hmn_snapshot_telemetry, hmn_status, const hmn_snapshot*, uint32_t, hmn_telemetry*);
FUNCTION(hmn_snapshot_self, hmn_status, const hmn_snapshot*, uint32_t, hmn_usage*);
FUNCTION(hmn_snapshot_pool, hmn_status, const hmn_snapshot*, uint32_t, hmn_pool*);
FUNCTION(hmn_snapshot_usage, hmn_status, const hmn_snapshot*, uint32_t, hmn_usage*);
FUNCTION(hmn_snapshot_metric, hmn_status, const hmn_snapshot*, uint32_t, hmn_metric*);
FUNCTION(hmn_snapshot_diagnostic, hmn_status, const hmn_snapshot*, uint32_t, hmn_diagnostic*);
FUNCTION(hmn_snapshot_reason, hmn_status, const hmn_snapshot*, uint32_t, hmn_flags, hmn_flags,
         hmn_diagnostic*);
FUNCTION(hmn_snapshot_text, hmn_status, const hmn_snapshot*, uint32_t, uint32_t, char*, uint32_t,
         uint32_t*);
FUNCTION(hmn_report_read, hmn_status, const hmn_snapshot*, const hmn_snapshot*, uint32_t,
         hmn_delta*);
FUNCTION(hmn_report_delta, hmn_status, const hmn_snapshot*, const hmn_snapshot*, uint32_t,
         const char*, char*, uint32_t, uint32_t*);
FUNCTION(hmn_report_before_after, hmn_status, const hmn_snapshot*, const hmn_snapshot*, uint32_t,
         const char*, char*, uint32_t, uint32_t*);
FUNCTION(hmn_format_device, hmn_status, const hmn_snapshot*, uint32_t, uint32_t, char*, uint32_t,
         uint32_t*);
FUNCTION(hmn_format_json, hmn_status, const hmn_snapshot*, char*, uint32_t, uint32_t*);
FUNCTION(hmn_format_bytes, hmn_status, uint64_t, char*, uint32_t, uint32_t*);
FUNCTION(hmn_sampler_create, hmn_status, hmn_context*, const hmn_sampler_options*,
         const hmn_snapshot_options*, hmn_sampler**, hmn_error*);
FUNCTION(hmn_sampler_destroy, void, hmn_sampler*);
FUNCTION(hmn_sampler_start, hmn_status, hmn_sampler*, hmn_error*);
FUNCTION(hmn_sampler_stop, hmn_status, hmn_sampler*, hmn_error*);
FUNCTION(hmn_sampler_next, hmn_status, hmn_sampler*, uint32_t, hmn_snapshot**, hmn_error*);
FUNCTION(hmn_sampler_read, hmn_status, const hmn_sampler*, hmn_sampler_info*);
FUNCTION(hmn_sampler_latest_pool, hmn_status, const hmn_sampler*, uint32_t, hmn_pool*);
FUNCTION(hmn_sampler_latest_telemetry, hmn_status, const hmn_sampler*, uint32_t, hmn_telemetry*);
FUNCTION(hmn_sampler_peak, hmn_status, const hmn_sampler*, uint32_t, uint32_t, hmn_peak*);
FUNCTION(hmn_sampler_peak_device, hmn_status, const hmn_sampler*, uint32_t, hmn_peak*);
FUNCTION(hmn_spill_create, hmn_status, hmn_context*, uint32_t, const hmn_spill_options*,
         hmn_spill**, hmn_error*);
FUNCTION(hmn_spill_destroy, void, hmn_spill*);
FUNCTION(hmn_spill_observe, hmn_status, hmn_spill*, const char*, hmn_error*);
FUNCTION(hmn_spill_observe_snapshot, hmn_status, hmn_spill*, const hmn_snapshot*, const char*,
         hmn_error*);
FUNCTION(hmn_spill_feed, hmn_status, hmn_spill*, const hmn_spill_sample*, const char*, hmn_error*);
FUNCTION(hmn_spill_read, hmn_status, const hmn_spill*, hmn_spill_info*);
FUNCTION(hmn_spill_episode, hmn_status, const hmn_spill*, uint64_t, hmn_episode*);
FUNCTION(hmn_dtype_bits, uint32_t, uint32_t);
FUNCTION(hmn_dtype_name, const char*, uint32_t);
FUNCTION(hmn_dtype_from_name, hmn_status, const char*, uint32_t*, hmn_error*);
FUNCTION(hmn_estimate_tensor, hmn_status, const uint64_t*, uint32_t, uint32_t, uint64_t*,
         hmn_error*);
FUNCTION(hmn_estimate_packed, hmn_status, const uint64_t*, uint32_t, const hmn_packing*, uint64_t*,
         hmn_error*);
FUNCTION(hmn_estimate_attention, hmn_status, const hmn_attention*, uint64_t*, hmn_error*);
FUNCTION(hmn_estimate_cache, hmn_status, const hmn_cache*, uint64_t, uint64_t, uint64_t*,
         hmn_error*);
FUNCTION(hmn_estimate_overhead, hmn_status, uint64_t, uint32_t, uint64_t*, hmn_error*);
FUNCTION(hmn_estimate_sum, hmn_status, const uint64_t*, uint32_t, uint64_t*, hmn_error*);
FUNCTION(hmn_tracker_create, hmn_status, hmn_context*, uint32_t, const hmn_tracker_options*,
         hmn_tracker**, hmn_error*);
FUNCTION(hmn_tracker_destroy, void, hmn_tracker*);
FUNCTION(hmn_tracker_allocate, hmn_status, hmn_tracker*, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_release, hmn_status, hmn_tracker*, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_tag, hmn_status, hmn_tracker*, const char*, uint32_t*, hmn_error*);
FUNCTION(hmn_tracker_allocate_tagged, hmn_status, hmn_tracker*, uint32_t, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_release_tagged, hmn_status, hmn_tracker*, uint32_t, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_would_fit, hmn_status, const hmn_tracker*, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_set_limit, hmn_status, hmn_tracker*, uint64_t, hmn_error*);
FUNCTION(hmn_tracker_read, hmn_status, const hmn_tracker*, hmn_tracker_info*);
FUNCTION(hmn_tracker_read_tag, hmn_status, const hmn_tracker*, uint32_t, hmn_tag*);
FUNCTION(hmn_tracker_reset, hmn_status, hmn_tracker*, hmn_error*);
