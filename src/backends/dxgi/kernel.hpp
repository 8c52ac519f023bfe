// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Adapter data of the graphics kernel that DXGI lacks (D3DKMT, in gdi32.dll): PCI location, and
// usage of one process. Declared by hand after d3dkmthk.h; identical on x86-64 and arm64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/shared/wddm/counters.hpp"
#include "model/pci_address.hpp"
#include "platform/library.hpp"

namespace hmn::dxgi {

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
  // Resident memory of a process. Returns nothing if the system does not report it, or access is
  // denied.
  [[nodiscard]] std::optional<kernel_usage> usage_of(wddm::luid adapter,
                                                     std::uint32_t pid) const noexcept;

 private:
  [[nodiscard]] std::optional<std::uint64_t> used_of(std::uint32_t adapter, std::uint32_t segment,
                                                     void* process) const noexcept;

  platform::library gdi_;
  platform::library kernel32_;
  kernel_functions fn_;
};

}  // namespace hmn::dxgi
