// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of NVML's binary interface that the fake driver implements, declared by hand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_nvml {

using DeviceHandle = struct OpaqueDevice*;

enum Status : int {
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

struct MemoryV1 {
  unsigned long long total, free, used;
};

struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct Bar1Memory {
  unsigned long long total, free, used;
};

struct ProcessV1 {
  unsigned pid;
  unsigned long long used;
};

struct ProcessV2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

// Early 535 drivers wrote these rows under the _v3 symbols.
struct ProcessDetail {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
  unsigned long long protected_used;
};

struct ProcessDetailList {
  unsigned version, mode, count;
  ProcessDetail* rows;
};

struct Utilization {
  unsigned gpu, memory;
};

struct AccountingStats {
  unsigned gpu, memory;
  unsigned long long most_memory, time_ms, start_us;
  unsigned is_running;
  unsigned reserved[5];
};

struct ProcessSample {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};

struct ProcessSampleV1 {
  unsigned long long time_us;
  unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};

struct ProcessSampleList {
  unsigned version, count;
  unsigned long long last_seen_us;
  ProcessSampleV1* rows;
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

// What the unversioned and the _v2 symbol fill: no wide bus id, four reserved words.
struct PciInfoV2 {
  char bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  unsigned reserved[4];
};

struct Attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
};

struct FieldValue {
  unsigned id, scope;
  long long timestamp, latency_us;
  unsigned value_type;
  Status result;
  union {
    double real;
    int signed_int;
    unsigned unsigned_int;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    long long signed_long_long;
  } value;
};

struct C2cMode {
  unsigned enabled;
};

struct AddressingMode {
  unsigned version, value;
};

struct TemperatureV1 {
  unsigned version, sensor;
  int celsius;
};

using EventSetHandle = struct OpaqueEventSet*;

inline constexpr unsigned long long event_xid = 8;

// nvmlEventSetWait writes no more than the first three.
struct EventData {
  DeviceHandle device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

constexpr unsigned struct_version(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | version << 24;
}

inline constexpr unsigned memory_v2_version = struct_version(sizeof(MemoryV2), 2);
inline constexpr unsigned process_detail_list_version =
    struct_version(sizeof(ProcessDetailList), 1);
inline constexpr unsigned process_sample_list_version =
    struct_version(sizeof(ProcessSampleList), 1);
inline constexpr unsigned addressing_mode_version = struct_version(sizeof(AddressingMode), 1);
inline constexpr unsigned temperature_version = struct_version(sizeof(TemperatureV1), 1);

enum FieldType : unsigned {
  field_double = 0,
  field_unsigned_int = 1,
  field_unsigned_long = 2,
  field_unsigned_long_long = 3,
  field_signed_long_long = 4,
  field_signed_int = 5,
};

// Layouts differ on 32-bit systems: src/backends/nvml/abi.hpp.
#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(MemoryV1) == 24 && sizeof(MemoryV2) == 40 && sizeof(Bar1Memory) == 24);
static_assert(offsetof(MemoryV2, total) == 8 && offsetof(MemoryV2, used) == 32);
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24);
static_assert(offsetof(ProcessV2, used) == 8 && offsetof(ProcessV2, compute_instance) == 20);
static_assert(sizeof(ProcessDetail) == 32 && offsetof(ProcessDetail, protected_used) == 24);
static_assert(sizeof(ProcessDetailList) == 24 && offsetof(ProcessDetailList, rows) == 16);
static_assert(sizeof(ProcessSample) == 32 && offsetof(ProcessSample, decoder) == 28);
static_assert(sizeof(ProcessSampleV1) == 40 && sizeof(ProcessSampleList) == 24);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(PciInfoV2) == 52 && sizeof(Utilization) == 8);
static_assert(sizeof(Attributes) == 40 && offsetof(Attributes, memory_mib) == 32);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(C2cMode) == 4 && sizeof(AddressingMode) == 8);
static_assert(sizeof(TemperatureV1) == 12);
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance) == 24);
static_assert(memory_v2_version == 0x02000028U);
static_assert(process_detail_list_version == 0x01000018U);
#endif

}  // namespace fake_nvml
