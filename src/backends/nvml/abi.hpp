// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The part of NVML's binary interface that is used here, declared by hand, so that the build needs
// no header of NVIDIA. Layouts are those of the driver branches 450 to 610.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::nvml {

using Handle = struct OpaqueDevice*;
using EventSet = struct OpaqueEventSet*;

// Outcome of a call: nvmlReturn_t as the driver returned it, with any 32 bits, or a larger number
// for a finding of this library, which no driver can return.
enum Code : std::int64_t {
  late = std::int64_t{1} << 32,  // the deadline had passed, and no call was made
  set_aside,                     // another call for the device has not returned: none was made
  no_symbol,                     // NVML has no such function, and no call was made
  not_offered,                   // not called: NVML has no such value for this kind of device
  whole_gpu_only,  // not called for an instance: NVML has the value for whole GPUs only
  unusable,        // success, but without an answer or with an impossible one
  contradictory,   // success, with sizes that do not add up
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  already_initialized = 5,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timed_out = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  version_mismatch = 18,
  in_use = 19,
  out_of_memory = 20,
  no_data = 21,
  vgpu_ecc_not_supported = 22,
  insufficient_resources = 23,
  freq_not_supported = 24,
  argument_version_mismatch = 25,
  deprecated = 26,
  not_ready = 27,
  gpu_not_found = 28,
  invalid_state = 29,
  reset_type_not_supported = 30,
  unknown = 999,
};

inline constexpr std::uint64_t value_not_available = ~std::uint64_t{0};
inline constexpr std::uint32_t no_instance = 0xFFFFFFFFU;

inline constexpr unsigned init_no_attach = 2;
inline constexpr unsigned mig_enabled = 1;
inline constexpr unsigned feature_enabled = 1;
inline constexpr unsigned virtualization_vgpu = 2;
inline constexpr unsigned virtualization_max = 4;
inline constexpr unsigned addressing_ats = 2;
inline constexpr unsigned temperature_gpu = 0;
inline constexpr unsigned clock_graphics = 0;
inline constexpr unsigned clock_sm = 1;
inline constexpr unsigned clock_memory = 2;
inline constexpr unsigned clock_video = 3;
inline constexpr unsigned threshold_shutdown = 0;
inline constexpr unsigned threshold_slowdown = 1;
inline constexpr unsigned threshold_memory = 2;
inline constexpr unsigned p_state_unknown = 32;

inline constexpr unsigned name_capacity = 96;
inline constexpr unsigned uuid_capacity = 96;
inline constexpr unsigned version_capacity = 80;

// Field ids, equal in the driver branches from 530 to 610.
inline constexpr unsigned field_throttled_by_power = 74;  // ns
inline constexpr unsigned field_throttled_by_heat = 75;   // ns
inline constexpr unsigned field_throttled_by_sync = 76;   // ns
inline constexpr unsigned field_throttled_by_board = 77;  // ns
inline constexpr unsigned field_memory_temperature = 82;
inline constexpr unsigned field_link_count = 91;
inline constexpr unsigned field_link_tx = 138;        // KiB; scope: link
inline constexpr unsigned field_link_rx = 139;        // KiB; scope: link
inline constexpr unsigned field_power_average = 185;  // mW
inline constexpr unsigned field_power_instant = 186;  // mW
inline constexpr unsigned field_pcie_tx = 197;        // bytes
inline constexpr unsigned field_pcie_rx = 198;        // bytes

inline constexpr std::uint64_t event_xid = 8;
inline constexpr std::uint64_t xid_without_number = 999;

// Content of an output before a call, so that an output that the driver leaves alone is recognized.
inline constexpr std::uint64_t untouched_bits = 0xA5A5A5A5A5A5A5A5U;
inline constexpr auto untouched_result = static_cast<std::int32_t>(untouched_bits);

template <std::size_t N>
struct TextBuffer {
  char bytes[N];
};

// A list's capacity before the call, and its length after it.
struct RowCount {
  std::uint32_t value;
};

struct MemoryV1 {
  std::uint64_t total, free, used;
};

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};

using Bar1Memory = MemoryV1;

struct ProcessV1 {
  std::uint32_t pid;
  std::uint64_t used;
};

struct ProcessV2 {
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t gpu_instance, compute_instance;
};

// Layout written by drivers 535.43 to 535.98 under the _v3 symbols.
struct ProcessDetail {
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t gpu_instance, compute_instance;
  std::uint64_t protected_used;
};

struct Utilization {
  std::uint32_t gpu, memory;
};

struct ProcessSample {
  std::uint32_t pid;
  std::uint64_t time_us;  // since 1970
  std::uint32_t sm, memory, encoder, decoder;
};

// nvmlAccountingStats_t
struct AccountingStats {
  std::uint32_t gpu, memory;  // percent
  std::uint64_t max_memory;   // bytes
  std::uint64_t time_ms;
  std::uint64_t start_us;  // since 1970: start of accounting by the driver
  std::uint32_t is_running;
  std::uint32_t reserved[5];
};

struct PciInfo {
  char bus_id_legacy[16];
  std::uint32_t domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct C2cMode {
  std::uint32_t enabled;
};

struct AddressingMode {
  std::uint32_t version, value;
};

struct TemperatureV1 {
  std::uint32_t version, sensor;
  std::int32_t celsius;
};

enum FieldType : std::uint32_t {
  field_double = 0,
  field_unsigned_int = 1,
  field_unsigned_long = 2,
  field_unsigned_long_long = 3,
  field_signed_long_long = 4,
  field_signed_int = 5,
};

struct FieldValue {
  std::uint32_t id, scope;
  std::int64_t timestamp, latency_us;
  std::uint32_t type;
  std::int32_t result = untouched_result;
  std::uint64_t bits;
};

// Without _v2 only the first three members are written.
struct EventData {
  Handle device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};

constexpr std::uint32_t struct_version(std::size_t size, unsigned version) {
  return static_cast<std::uint32_t>(size) | version << 24;
}

inline constexpr std::uint32_t memory_v2_version = struct_version(sizeof(MemoryV2), 2);
inline constexpr std::uint32_t addressing_version = struct_version(sizeof(AddressingMode), 1);
inline constexpr std::uint32_t temperature_version = struct_version(sizeof(TemperatureV1), 1);
static_assert(addressing_version == 0x01000008U && temperature_version == 0x0100000CU);

// i386 aligns 8-byte numbers to 4 bytes: its structs have no gap behind a single 4-byte member, and
// the versions that contain a size differ too. All other systems share one layout.
struct PaddingProbe {
  std::uint32_t word;
  std::uint64_t number;
};
inline constexpr std::size_t padding = offsetof(PaddingProbe, number) - 4;

static_assert(padding == 4 || (padding == 0 && sizeof(void*) == 4));
static_assert(sizeof(MemoryV1) == 24 && offsetof(MemoryV1, used) == 16);
static_assert(sizeof(MemoryV2) == 36 + padding && offsetof(MemoryV2, total) == 4 + padding);
static_assert(offsetof(MemoryV2, reserved) == 12 + padding &&
              offsetof(MemoryV2, free) == 20 + padding);
static_assert(offsetof(MemoryV2, used) == 28 + padding &&
              memory_v2_version == 0x02000024U + padding);
static_assert(sizeof(TextBuffer<name_capacity>) == name_capacity && sizeof(RowCount) == 4);
static_assert(sizeof(ProcessV1) == 12 + padding && offsetof(ProcessV1, used) == 4 + padding);
static_assert(sizeof(ProcessV2) == 20 + padding &&
              offsetof(ProcessV2, gpu_instance) == 12 + padding);
static_assert(offsetof(ProcessV2, compute_instance) == 16 + padding);
static_assert(sizeof(ProcessDetail) == 28 + padding);
static_assert(offsetof(ProcessDetail, protected_used) == 20 + padding);
static_assert(sizeof(Utilization) == 8);
static_assert(sizeof(ProcessSample) == 28 + padding &&
              offsetof(ProcessSample, time_us) == 4 + padding);
static_assert(offsetof(ProcessSample, sm) == 12 + padding);
static_assert(offsetof(ProcessSample, decoder) == 24 + padding);
static_assert(sizeof(AccountingStats) == 56);
static_assert(offsetof(AccountingStats, max_memory) == 8);
static_assert(offsetof(AccountingStats, start_us) == 24);
static_assert(offsetof(AccountingStats, is_running) == 32);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16);
static_assert(offsetof(PciInfo, device_id) == 28 && offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(C2cMode) == 4 && sizeof(AddressingMode) == 8);
static_assert(sizeof(TemperatureV1) == 12);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, type) == 24);
static_assert(offsetof(FieldValue, result) == 28 && offsetof(FieldValue, bits) == 32);
static_assert(sizeof(EventData) == 28 + padding && offsetof(EventData, data) == 12 + padding);

}  // namespace hmn::nvml
