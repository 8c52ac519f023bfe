// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/dxgi/abi.hpp"
#include "backends/shared/wddm/counters.hpp"
#include "model/pci_address.hpp"
#include "model/pool.hpp"
#include "model/usage.hpp"
#include "platform/library.hpp"

namespace hmn::dxgi {

struct Adapter {
  wddm::Luid id = 0;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;
  std::uint64_t dedicated = 0;  // bytes of its own memory
  std::uint64_t shared = 0;     // bytes of host memory that it may use
  std::string name;
  std::string driver_version;  // user-mode driver; empty: unknown
  Adapter3 memory;             // null before Windows 10
  Code memory_code = success;  // why it is null
};

// The system's adapters, cached until the system reports a change.
class AdapterList {
 public:
  // `create`: loaded from dxgi.dll in the system folder if null.
  explicit AdapterList(CreateFactory create = nullptr) noexcept : create_(create) {}

  // Whether the set of adapters has changed since it was listed, or there is no list yet.
  [[nodiscard]] bool is_stale() const noexcept;
  // Lists the adapters again. One that cannot be described is left out with a diagnostic.
  Result<void> list(Reading& reading);
  [[nodiscard]] std::vector<Adapter>& all() noexcept { return all_; }
  void clear() noexcept;

 private:
  Result<void> open();

  platform::Library library_;
  CreateFactory create_;
  Factory factory_;
  std::vector<Adapter> all_;
};

inline constexpr FailureFactory fail{Source::dxgi, NativeDomain::hresult};

constexpr std::int32_t native_number(Code c) noexcept {
  return static_cast<std::int32_t>(c);
}

// What DXGI lacks and the graphics kernel reports (D3DKMT, in gdi32.dll): PCI location, and usage
// of one process. Declared by hand after d3dkmthk.h; the same on x86-64 and arm64.

// NTSTATUS
using KernelCode = std::int32_t;

struct OpenAdapter {
  std::uint32_t luid_low, luid_high;
  std::uint32_t adapter;  // out
};
struct CloseAdapter {
  std::uint32_t adapter;
};
struct QueryAdapter {
  std::uint32_t adapter;
  std::uint32_t type;
  void* data;
  std::uint32_t size;
};
struct AdapterAddress {
  std::uint32_t bus, device, function;
};
struct QueryVideoMemory {
  void* process;  // null: the caller
  std::uint32_t adapter;
  std::uint32_t segment;
  std::uint64_t budget, used, reserved, available_for_reservation;
  std::uint32_t physical_adapter;
};
static_assert(sizeof(OpenAdapter) == 12 && sizeof(QueryAdapter) == 24);
static_assert(sizeof(AdapterAddress) == 12 && sizeof(QueryVideoMemory) == 56);
static_assert(offsetof(QueryAdapter, data) == 8 && offsetof(QueryVideoMemory, budget) == 16);

inline constexpr std::uint32_t type_address = 6;   // KMTQAITYPE_ADAPTERADDRESS
inline constexpr std::uint32_t type_adapter = 15;  // KMTQAITYPE_ADAPTERTYPE
inline constexpr std::uint32_t hybrid_discrete = 1U << 4;
inline constexpr std::uint32_t hybrid_integrated = 1U << 5;

inline constexpr std::uint32_t process_query_information = 0x0400;

// Any may be null.
struct KernelFunctions {
  KernelCode (*open)(OpenAdapter*) = nullptr;
  KernelCode (*close)(const CloseAdapter*) = nullptr;
  KernelCode (*query)(const QueryAdapter*) = nullptr;
  KernelCode (*memory)(QueryVideoMemory*) = nullptr;
  void* (*open_process)(std::uint32_t access, std::int32_t inherits, std::uint32_t pid) = nullptr;
  std::int32_t (*close_handle)(void*) = nullptr;
};

struct KernelFacts {
  std::optional<PciAddress> address;  // the domain is not reported: 0
  bool is_hybrid_discrete = false;
  bool is_hybrid_integrated = false;
};

struct KernelUsage {
  std::uint64_t local = 0;
  std::uint64_t non_local = 0;
};

class Kernel {
 public:
  Kernel();
  explicit Kernel(const KernelFunctions& fn) noexcept : fn_(fn) {}

  [[nodiscard]] KernelFacts read_facts(wddm::Luid adapter) const noexcept;
  // Resident memory of a process; nothing if the system does not report it, or denies access.
  [[nodiscard]] std::optional<KernelUsage> read_usage(wddm::Luid adapter,
                                                      std::uint32_t pid) const noexcept;

 private:
  [[nodiscard]] std::optional<std::uint64_t> read_used(std::uint32_t adapter, std::uint32_t segment,
                                                       void* process) const noexcept;

  platform::Library gdi_;
  platform::Library kernel32_;
  KernelFunctions fn_;
};

// Pools of an adapter, from DXGI and the counters. Pure.

// This process's budget and usage in each segment.
struct OwnMemory {
  MemoryInformation local{};
  MemoryInformation non_local{};
};

// Whether the adapter uses host RAM: all memory is in the local segment, and exceeds the dedicated
// memory by no more than is shared.
bool is_unified(const Adapter& adapter, const std::optional<OwnMemory>& own_memory) noexcept;

void add_pools(const Adapter& adapter, const std::optional<OwnMemory>& own_memory,
               const wddm::AdapterMemory* used_memory, PoolList& pools);

// A process's usage of an adapter, as a row. Pure.

// Resident if the system reports it; else committed. For an adapter whose memory is all the host's,
// both segments are its one pool.
Usage make_usage(const wddm::ProcessMemory& memory, bool is_unified);
void add_load(const wddm::LoadReading& loads, Usage& row);

// Fill in values of the caller.
void fill_own(const OwnMemory& own_memory, bool is_unified, Usage& usage);
void fill_from_kernel(const KernelUsage& kernel_usage, bool is_unified, Usage& usage);

}  // namespace hmn::dxgi
