// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of NVML's binary interface that the fake driver answers to, declared by hand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_nvml {

using device_handle = struct opaque_device*;

enum status : int {
  success = 0,
  error_uninitialized = 1,
  error_invalid_argument = 2,
  error_not_supported = 3,
  error_no_permission = 4,
  error_already_initialized = 5,
  error_not_found = 6,
  error_insufficient_size = 7,
  error_insufficient_power = 8,
  error_driver_not_loaded = 9,
  error_timeout = 10,
  error_irq_issue = 11,
  error_library_not_found = 12,
  error_function_not_found = 13,
  error_corrupted_inforom = 14,
  error_gpu_is_lost = 15,
  error_reset_required = 16,
  error_operating_system = 17,
  error_lib_rm_version_mismatch = 18,
  error_in_use = 19,
  error_memory = 20,
  error_no_data = 21,
  error_vgpu_ecc_not_supported = 22,
  error_insufficient_resources = 23,
  error_freq_not_supported = 24,
  error_argument_version_mismatch = 25,
  error_deprecated = 26,
  error_not_ready = 27,
  error_gpu_not_found = 28,
  error_invalid_state = 29,
  error_unknown = 999,
};

inline constexpr unsigned long long value_not_available = ~0ULL;
inline constexpr unsigned no_instance = 0xFFFFFFFFU;

struct memory_v1 {
  unsigned long long total, free, used;
};

struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct bar1_memory {
  unsigned long long total, free, used;
};

struct process_v1 {
  unsigned pid;
  unsigned long long used;
};

struct process_v2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

// Early 535 drivers wrote these rows under the _v3 symbols.
struct process_detail {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
  unsigned long long protected_used;
};

struct process_detail_list {
  unsigned version, mode, count;
  process_detail* rows;
};

struct utilization {
  unsigned gpu, memory;
};

struct accounting_stats {
  unsigned gpu, memory;
  unsigned long long most_memory, time_ms, start_us;
  unsigned is_running;
  unsigned reserved[5];
};

struct process_sample {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};

struct process_sample_v1 {
  unsigned long long time_us;
  unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct process_sample_list {
  unsigned version, count;
  unsigned long long last_seen_us;
  process_sample_v1* rows;
};

struct pci_info {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

// What the unversioned and the _v2 symbol fill: no wide bus id, four reserved words.
struct pci_info_v2 {
  char bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  unsigned reserved[4];
};

struct attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
};

struct field_value {
  unsigned id, scope;
  long long timestamp, latency_us;
  unsigned value_type;
  status result;
  union {
    double real;
    int signed_int;
    unsigned unsigned_int;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    long long signed_long_long;
  } value;
};

struct c2c_mode {
  unsigned enabled;
};

struct addressing_mode {
  unsigned version, value;
};

struct temperature_v1 {
  unsigned version, sensor;
  int celsius;
};

using event_set_handle = struct opaque_event_set*;

inline constexpr unsigned long long event_xid = 8;

// nvmlEventSetWait writes no more than the first three.
struct event_data {
  device_handle device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

constexpr unsigned struct_version(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | version << 24;
}

inline constexpr unsigned memory_v2_version = struct_version(sizeof(memory_v2), 2);
inline constexpr unsigned process_detail_list_version =
    struct_version(sizeof(process_detail_list), 1);
inline constexpr unsigned process_sample_list_version =
    struct_version(sizeof(process_sample_list), 1);
inline constexpr unsigned addressing_mode_version = struct_version(sizeof(addressing_mode), 1);
inline constexpr unsigned temperature_version = struct_version(sizeof(temperature_v1), 1);

enum field_type : unsigned {
  field_double = 0,
  field_unsigned_int = 1,
  field_unsigned_long = 2,
  field_unsigned_long_long = 3,
  field_signed_long_long = 4,
  field_signed_int = 5,
};

// 32-bit systems lay some out otherwise: src/backends/nvml/abi.hpp.
#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(memory_v1) == 24 && sizeof(memory_v2) == 40 && sizeof(bar1_memory) == 24);
static_assert(offsetof(memory_v2, total) == 8 && offsetof(memory_v2, used) == 32);
static_assert(sizeof(process_v1) == 16 && sizeof(process_v2) == 24);
static_assert(offsetof(process_v2, used) == 8 && offsetof(process_v2, compute_instance) == 20);
static_assert(sizeof(process_detail) == 32 && offsetof(process_detail, protected_used) == 24);
static_assert(sizeof(process_detail_list) == 24 && offsetof(process_detail_list, rows) == 16);
static_assert(sizeof(process_sample) == 32 && offsetof(process_sample, decoder) == 28);
static_assert(sizeof(process_sample_v1) == 40 && sizeof(process_sample_list) == 24);
static_assert(sizeof(pci_info) == 68 && offsetof(pci_info, bus_id) == 36);
static_assert(sizeof(pci_info_v2) == 52 && sizeof(utilization) == 8);
static_assert(sizeof(attributes) == 40 && offsetof(attributes, memory_mib) == 32);
static_assert(sizeof(field_value) == 40 && offsetof(field_value, value) == 32);
static_assert(sizeof(c2c_mode) == 4 && sizeof(addressing_mode) == 8);
static_assert(sizeof(temperature_v1) == 12);
static_assert(sizeof(event_data) == 32 && offsetof(event_data, gpu_instance) == 24);
static_assert(memory_v2_version == 0x02000028U);
static_assert(process_detail_list_version == 0x01000018U);
#endif

}  // namespace fake_nvml
