/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "records.h"

#define ALWAYS(kind, name) \
  { #name, kind, offsetof(RECORD, name), 0 }
#define WITH(bit, kind, name) \
  { #name, kind, offsetof(RECORD, name), HAS(bit) }
#define LAST \
  { NULL, END, 0, 0 }

#define RECORD hmn_backend_info
#define HAS(bit) HMN_BACKEND_INFO_HAS_##bit
const struct field backend_info_fields[] = {
    ALWAYS(U32, notes),           ALWAYS(U32, backend),       ALWAYS(U32, state),
    ALWAYS(I32, status),          ALWAYS(U32, native_domain), ALWAYS(I32, native_code),
    WITH(VERSION, TEXT, version), ALWAYS(TEXT, message),      LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_process_memory
#define HAS(bit) HMN_PROCESS_MEMORY_HAS_##bit
const struct field process_memory_fields[] = {ALWAYS(U32, notes),
                                              ALWAYS(U32, backend),
                                              ALWAYS(U32, pid),
                                              WITH(RESIDENT, U64, resident_bytes),
                                              WITH(PEAK_RESIDENT, U64, peak_resident_bytes),
                                              WITH(VIRTUAL, U64, virtual_bytes),
                                              WITH(SWAP, U64, swap_bytes),
                                              WITH(PROPORTIONAL, U64, proportional_bytes),
                                              WITH(PRIVATE, U64, private_bytes),
                                              WITH(COMMITTED, U64, committed_bytes),
                                              WITH(FOOTPRINT, U64, footprint_bytes),
                                              WITH(PEAK_FOOTPRINT, U64, peak_footprint_bytes),
                                              WITH(PEAK_COMMITTED, U64, peak_committed_bytes),
                                              LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_system_memory
#define HAS(bit) HMN_SYSTEM_MEMORY_HAS_##bit
const struct field system_memory_fields[] = {ALWAYS(U32, notes),
                                             ALWAYS(U32, backend),
                                             WITH(TOTAL, U64, total_bytes),
                                             WITH(AVAILABLE, U64, available_bytes),
                                             WITH(SWAP_TOTAL, U64, swap_total_bytes),
                                             WITH(SWAP_FREE, U64, swap_free_bytes),
                                             WITH(LIMIT, U64, limit_bytes),
                                             WITH(LIMIT_USED, U64, limit_used_bytes),
                                             WITH(COMMIT_LIMIT, U64, commit_limit_bytes),
                                             WITH(COMMITTED, U64, committed_bytes),
                                             WITH(PRESSURE, U32, pressure),
                                             WITH(STALL, F64, stall_percent),
                                             LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_device
#define HAS(bit) HMN_DEVICE_HAS_##bit
const struct field device_fields[] = {ALWAYS(U32, notes),
                                      ALWAYS(U32, backend),
                                      ALWAYS(U32, index),
                                      ALWAYS(U32, kind),
                                      ALWAYS(U32, state),
                                      ALWAYS(U32, vendor),
                                      ALWAYS(U32, memory_kind),
                                      WITH(PARENT, U32, parent_index),
                                      WITH(DRIVER_INDEX, U32, driver_index),
                                      WITH(PCI_DEVICE, U32, pci_device),
                                      WITH(PCI_SUBSYSTEM, U32, pci_subsystem),
                                      WITH(RENDER_MINOR, U32, render_minor),
                                      WITH(NUMA_NODE, U32, numa_node),
                                      WITH(INSTANCE, U32, gpu_instance),
                                      WITH(INSTANCE, U32, compute_instance),
                                      WITH(CUDA_VERSION, U32, cuda_version),
                                      WITH(OS_ID, U64, os_id),
                                      WITH(NAME, TEXT, name),
                                      WITH(UUID, TEXT, uuid),
                                      WITH(PCI, TEXT, pci_bus_id),
                                      WITH(DRIVER, TEXT, driver_version),
                                      LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_pool
#define HAS(bit) HMN_POOL_HAS_##bit
const struct field pool_fields[] = {ALWAYS(U32, notes),
                                    ALWAYS(U32, backend),
                                    ALWAYS(U32, device_index),
                                    ALWAYS(U32, kind),
                                    ALWAYS(U32, accounting),
                                    ALWAYS(U32, is_main),
                                    WITH(TOTAL, U64, total_bytes),
                                    WITH(FREE, U64, free_bytes),
                                    WITH(USED, U64, used_bytes),
                                    WITH(RESERVED, U64, reserved_bytes),
                                    WITH(USABLE, U64, usable_bytes),
                                    WITH(BUDGET, U64, budget_bytes),
                                    WITH(UNATTRIBUTED, U64, unattributed_bytes),
                                    ALWAYS(U64, age_ns),
                                    LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_telemetry
#define HAS(bit) HMN_TELEMETRY_HAS_##bit
const struct field telemetry_fields[] = {ALWAYS(U32, notes),
                                         ALWAYS(U32, backend),
                                         ALWAYS(U32, device_index),
                                         WITH(CORE_CLOCK, U32, core_clock_mhz),
                                         WITH(MEMORY_CLOCK, U32, memory_clock_mhz),
                                         WITH(FAN_PERCENT, U32, fan_percent),
                                         WITH(FAN_RPM, U32, fan_rpm),
                                         WITH(PCIE_GENERATION, U32, pcie_generation),
                                         WITH(PCIE_WIDTH, U32, pcie_width),
                                         WITH(P_STATE, U32, p_state),
                                         WITH(THROTTLE, U32, throttle),
                                         ALWAYS(U64, backends),
                                         WITH(GPU_BUSY, F64, gpu_busy_percent),
                                         WITH(MEMORY_BUSY, F64, memory_busy_percent),
                                         WITH(ENCODER_BUSY, F64, encoder_busy_percent),
                                         WITH(DECODER_BUSY, F64, decoder_busy_percent),
                                         WITH(TEMPERATURE, F64, temperature_celsius),
                                         WITH(HOTSPOT, F64, hotspot_celsius),
                                         WITH(MEMORY_TEMPERATURE, F64, memory_celsius),
                                         WITH(POWER, F64, power_watts),
                                         WITH(POWER_LIMIT, F64, power_limit_watts),
                                         WITH(ENERGY, F64, energy_joules),
                                         WITH(PCIE_RX, U64, pcie_rx_bytes),
                                         WITH(PCIE_TX, U64, pcie_tx_bytes),
                                         WITH(WINDOW, U64, window_ns),
                                         ALWAYS(U64, age_ns),
                                         LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_metric
#define HAS(bit) HMN_METRIC_HAS_##bit
const struct field metric_fields[] = {ALWAYS(U32, notes),
                                      ALWAYS(U32, backend),
                                      ALWAYS(U32, device_index),
                                      WITH(PID, U32, pid),
                                      ALWAYS(U32, id),
                                      ALWAYS(U32, instance),
                                      WITH(VALUE, F64, value),
                                      WITH(COUNT, U64, count),
                                      WITH(WINDOW, U64, window_ns),
                                      ALWAYS(U64, age_ns),
                                      LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_usage
#define HAS(bit) HMN_USAGE_HAS_##bit
const struct field usage_fields[] = {ALWAYS(U32, notes),
                                     ALWAYS(U32, backend),
                                     ALWAYS(U32, pid),
                                     ALWAYS(U32, device_index),
                                     WITH(KINDS, U32, kinds),
                                     ALWAYS(U32, accounting),
                                     ALWAYS(U32, name_state),
                                     WITH(UID, U32, uid),
                                     WITH(INSTANCE, U32, gpu_instance),
                                     WITH(INSTANCE, U32, compute_instance),
                                     WITH(START_TIME, U64, start_unix_ns),
                                     WITH(USED, U64, used_bytes),
                                     WITH(RESIDENT, U64, resident_bytes),
                                     WITH(COMMITTED, U64, committed_bytes),
                                     WITH(ALLOCATED, U64, allocated_bytes),
                                     WITH(SHARED, U64, shared_bytes),
                                     WITH(PURGEABLE, U64, purgeable_bytes),
                                     WITH(EVICTED, U64, evicted_bytes),
                                     WITH(HOST_POOL, U64, host_pool_bytes),
                                     WITH(HOST_RESIDENT, U64, host_resident_bytes),
                                     WITH(BUDGET, U64, budget_bytes),
                                     WITH(BUSY_NS, U64, busy_ns),
                                     WITH(BUSY_PERCENT, F64, busy_percent),
                                     WITH(BUSY_PERCENT, U64, window_ns),
                                     ALWAYS(U64, age_ns),
                                     WITH(PEAK_USED, U64, peak_used_bytes),
                                     LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_snapshot_info
#define HAS(bit) HMN_SNAPSHOT_INFO_HAS_##bit
const struct field snapshot_info_fields[] = {ALWAYS(U32, notes),
                                             ALWAYS(U32, collect),
                                             ALWAYS(U32, device_count),
                                             ALWAYS(U32, pool_count),
                                             ALWAYS(U32, usage_count),
                                             ALWAYS(U32, diagnostic_count),
                                             ALWAYS(U32, unreadable_process_count),
                                             ALWAYS(U32, metric_count),
                                             ALWAYS(U64, unix_time_ns),
                                             ALWAYS(U64, monotonic_ns),
                                             ALWAYS(U64, duration_ns),
                                             LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_diagnostic
#define HAS(bit) HMN_DIAGNOSTIC_HAS_##bit
const struct field diagnostic_fields[] = {ALWAYS(U32, notes),
                                          ALWAYS(U32, backend),
                                          ALWAYS(I32, status),
                                          ALWAYS(U32, native_domain),
                                          ALWAYS(I32, native_code),
                                          ALWAYS(U32, subject),
                                          WITH(FIELD, U32, field),
                                          WITH(DEVICE, U32, device_index),
                                          WITH(PID, U32, pid),
                                          ALWAYS(U32, count),
                                          WITH(DURATION, U64, duration_ns),
                                          ALWAYS(TEXT, message),
                                          LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_delta
#define HAS(bit) HMN_DELTA_HAS_##bit
const struct field delta_fields[] = {ALWAYS(U32, notes),
                                     ALWAYS(U32, backend),
                                     ALWAYS(U32, device_index),
                                     ALWAYS(U32, scope),
                                     ALWAYS(U32, accounting),
                                     WITH(MEMORY, I64, memory_bytes),
                                     WITH(DEVICE, I64, device_bytes),
                                     ALWAYS(U64, elapsed_ns),
                                     WITH(ENERGY, F64, energy_joules),
                                     LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_sampler_info
const struct field sampler_info_fields[] = {
    ALWAYS(U32, notes),
    ALWAYS(U32, state),
    ALWAYS(U32, pending),
    {"last_status", I32, offsetof(RECORD, last_status), HMN_SAMPLER_INFO_HAS_LAST},
    ALWAYS(U64, taken_count),
    ALWAYS(U64, dropped_count),
    ALWAYS(U64, late_count),
    ALWAYS(U64, failed_count),
    {"last_monotonic_ns", U64, offsetof(RECORD, last_monotonic_ns), HMN_SAMPLER_INFO_HAS_LAST},
    LAST};
#undef RECORD

#define RECORD hmn_tracker_info
#define HAS(bit) HMN_TRACKER_INFO_HAS_##bit
const struct field tracker_info_fields[] = {
    ALWAYS(U32, notes),           WITH(DEVICE, U32, device_index),
    ALWAYS(U32, tag_count),       WITH(LIMIT, U64, limit_bytes),
    ALWAYS(U64, allocated_bytes), ALWAYS(U64, peak_bytes),
    ALWAYS(U64, refused_count),   LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_tag
const struct field tag_fields[] = {ALWAYS(U32, notes),           ALWAYS(U32, number),
                                   ALWAYS(U64, allocated_bytes), ALWAYS(U64, peak_bytes),
                                   ALWAYS(TEXT, name),           LAST};
#undef RECORD

#define RECORD hmn_spill_info
#define HAS(bit) HMN_SPILL_INFO_HAS_##bit
const struct field spill_info_fields[] = {ALWAYS(U32, notes),
                                          ALWAYS(U32, backend),
                                          ALWAYS(U32, device_index),
                                          ALWAYS(U32, state),
                                          ALWAYS(U32, rules),
                                          ALWAYS(I32, status),
                                          ALWAYS(U64, observation_count),
                                          ALWAYS(U64, skipped_count),
                                          ALWAYS(U64, episode_count),
                                          ALWAYS(U64, first_episode),
                                          WITH(LIMIT, U64, limit_bytes),
                                          WITH(OBSERVED, U64, dedicated_bytes),
                                          WITH(OBSERVED, U64, shared_bytes),
                                          WITH(EVICTED, U64, evicted_bytes),
                                          WITH(OBSERVED, U64, peak_dedicated_bytes),
                                          WITH(OBSERVED, U64, peak_shared_bytes),
                                          WITH(PEAK_EVICTED, U64, peak_evicted_bytes),
                                          WITH(OBSERVED, U64, baseline_shared_bytes),
                                          WITH(PEAK_EVICTED, U64, baseline_evicted_bytes),
                                          ALWAYS(U64, total_ns),
                                          WITH(EPISODE, U64, longest_ns),
                                          WITH(EPISODE, U64, longest_episode),
                                          WITH(EPISODE, TEXT, first_label),
                                          ALWAYS(TEXT, message),
                                          LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_episode
#define HAS(bit) HMN_EPISODE_HAS_##bit
const struct field episode_fields[] = {ALWAYS(U32, notes),
                                       ALWAYS(U32, rules),
                                       ALWAYS(U64, number),
                                       ALWAYS(U64, observation_count),
                                       ALWAYS(U64, peak_shared_bytes),
                                       WITH(PEAK_EVICTED, U64, peak_evicted_bytes),
                                       ALWAYS(U64, start_monotonic_ns),
                                       WITH(END, U64, end_monotonic_ns),
                                       ALWAYS(U64, duration_ns),
                                       ALWAYS(TEXT, start_label),
                                       WITH(END, TEXT, end_label),
                                       LAST};
#undef RECORD
#undef HAS

#define RECORD hmn_peak
#define HAS(bit) HMN_PEAK_HAS_##bit
const struct field peak_fields[] = {ALWAYS(U32, notes),
                                    ALWAYS(U32, backend),
                                    ALWAYS(U32, device_index),
                                    ALWAYS(U32, pid),
                                    ALWAYS(U32, accounting),
                                    WITH(USED, U64, used_bytes),
                                    WITH(HOST_POOL, U64, host_pool_bytes),
                                    WITH(HOST_RESIDENT, U64, host_resident_bytes),
                                    WITH(USED, U64, used_monotonic_ns),
                                    LAST};
#undef RECORD
#undef HAS
