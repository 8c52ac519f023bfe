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

struct adapter {
  wddm::luid id = 0;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;
  std::uint64_t dedicated = 0;  // bytes of its own memory
  std::uint64_t shared = 0;     // bytes of host memory that it may use
  std::string name;
  std::string driver_version;  // user-mode driver; empty: unknown
  adapter3 memory;             // null before Windows 10
  code no_memory = success;    // why it is null
};

// The system's adapters, cached until the system reports a change.
class adapters {
 public:
  // `create`: loaded from dxgi.dll in the system folder if null.
  explicit adapters(create_factory create = nullptr) noexcept : create_(create) {}

  // Whether the set of adapters has changed since it was listed, or there is no list yet.
  [[nodiscard]] bool are_old() const noexcept;
  // Lists the adapters again. One that cannot be described is left out with a diagnostic.
  result<void> list(reading& r);
  [[nodiscard]] std::vector<adapter>& all() noexcept { return all_; }
  void clear() noexcept;

 private:
  result<void> open();

  platform::library library_;
  create_factory create_;
  factory factory_;
  std::vector<adapter> all_;
};

inline constexpr failure_of fail{source::dxgi, native_domain::hresult};

constexpr std::int32_t native_number(code c) noexcept {
  return static_cast<std::int32_t>(c);
}

// What DXGI lacks and the graphics kernel reports (D3DKMT, in gdi32.dll): PCI location, and usage
// of one process. Declared by hand after d3dkmthk.h; the same on x86-64 and arm64.

// NTSTATUS
using kernel_code = std::int32_t;

struct open_adapter {
  std::uint32_t luid_low, luid_high;
  std::uint32_t adapter;  // out
};
struct close_adapter {
  std::uint32_t adapter;
};
struct query_adapter {
  std::uint32_t adapter;
  std::uint32_t type;
  void* data;
  std::uint32_t size;
};
struct adapter_address {
  std::uint32_t bus, device, function;
};
struct query_video_memory {
  void* process;  // null: the caller
  std::uint32_t adapter;
  std::uint32_t segment;
  std::uint64_t budget, used, reserved, available_for_reservation;
  std::uint32_t physical_adapter;
};
static_assert(sizeof(open_adapter) == 12 && sizeof(query_adapter) == 24);
static_assert(sizeof(adapter_address) == 12 && sizeof(query_video_memory) == 56);
static_assert(offsetof(query_adapter, data) == 8 && offsetof(query_video_memory, budget) == 16);

inline constexpr std::uint32_t type_address = 6;   // KMTQAITYPE_ADAPTERADDRESS
inline constexpr std::uint32_t type_adapter = 15;  // KMTQAITYPE_ADAPTERTYPE
inline constexpr std::uint32_t hybrid_discrete = 1U << 4;
inline constexpr std::uint32_t hybrid_integrated = 1U << 5;

inline constexpr std::uint32_t process_query_information = 0x0400;

// Any may be null.
struct kernel_functions {
  kernel_code (*open)(open_adapter*) = nullptr;
  kernel_code (*close)(const close_adapter*) = nullptr;
  kernel_code (*query)(const query_adapter*) = nullptr;
  kernel_code (*memory)(query_video_memory*) = nullptr;
  void* (*open_process)(std::uint32_t access, std::int32_t inherits, std::uint32_t pid) = nullptr;
  std::int32_t (*close_handle)(void*) = nullptr;
};

struct kernel_facts {
  std::optional<pci_address> address;  // the domain is not reported: 0
  bool is_hybrid_discrete = false;
  bool is_hybrid_integrated = false;
};

struct kernel_usage {
  std::uint64_t local = 0;
  std::uint64_t non_local = 0;
};

class kernel {
 public:
  kernel();
  explicit kernel(const kernel_functions& fn) noexcept : fn_(fn) {}

  [[nodiscard]] kernel_facts facts_of(wddm::luid adapter) const noexcept;
  // Resident memory of a process; nothing if the system does not report it, or denies access.
  [[nodiscard]] std::optional<kernel_usage> usage_of(wddm::luid adapter,
                                                     std::uint32_t pid) const noexcept;

 private:
  [[nodiscard]] std::optional<std::uint64_t> used_of(std::uint32_t adapter, std::uint32_t segment,
                                                     void* process) const noexcept;

  platform::library gdi_;
  platform::library kernel32_;
  kernel_functions fn_;
};

// Pools of an adapter, from DXGI and the counters. Pure.

// This process's budget and usage in each segment.
struct own_memory {
  memory_information local{};
  memory_information non_local{};
};

// Whether the adapter uses host RAM: all memory is in the local segment, and exceeds the dedicated
// memory by no more than is shared.
bool is_unified(const adapter& a, const std::optional<own_memory>& own) noexcept;

void add_pools(const adapter& a, const std::optional<own_memory>& own,
               const wddm::adapter_memory* in_use, pools& out);

// A process's usage of an adapter, as a row. Pure.

// Resident if the system reports it; else committed. Of an adapter whose memory is all the host's,
// both segments are its one pool.
usage to_usage(const wddm::process_memory& p, bool is_unified);
void add_load(const wddm::loads& loads, usage& row);

// Fill in values of the caller.
void fill_own(const own_memory& own, bool is_unified, usage& out);
void fill_from_kernel(const kernel_usage& reported, bool is_unified, usage& out);

}  // namespace hmn::dxgi
