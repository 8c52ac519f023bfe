// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn {

// A source's own number of a device: given at first sight, the same for as long as the source
// lives, also over a reload of its driver.
using slot = std::uint32_t;

enum class device_kind : std::uint32_t {
  unknown = 0,
  discrete = 1,
  integrated = 2,
  partition = 3,
  virtual_device = 4,
};

enum class memory_kind : std::uint32_t { unknown = 0, dedicated = 1, unified = 2, coherent = 3 };

enum class state : std::uint32_t {
  unknown = 0,
  ready = 1,
  asleep = 2,
  lost = 3,
  unreadable = 4,
  hung = 5,
  absent = 6,
  off = 7,
};

namespace vendor {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t amd = 0x1002;
inline constexpr std::uint32_t nvidia = 0x10de;
inline constexpr std::uint32_t apple = 0x106b;
inline constexpr std::uint32_t intel = 0x8086;
}  // namespace vendor

// Presence bits of the C interface; src/api asserts it.
namespace device_field {
inline constexpr std::uint32_t name = 1U << 0;
inline constexpr std::uint32_t uuid = 1U << 1;
inline constexpr std::uint32_t pci = 1U << 2;
inline constexpr std::uint32_t driver = 1U << 3;
inline constexpr std::uint32_t instance = 1U << 9;
inline constexpr std::uint32_t cuda_version = 1U << 12;
}  // namespace device_field

struct mig_instance {
  std::uint32_t gpu = 0;
  std::uint32_t compute = 0;
};

// Who a device is. Empty texts are unknown.
struct device {
  slot number = 0;
  source from = source::none;
  std::uint32_t notes = 0;
  device_kind kind = device_kind::unknown;
  hmn::state state = hmn::state::unknown;
  std::uint32_t vendor = vendor::unknown;
  hmn::memory_kind memory_kind = hmn::memory_kind::unknown;
  std::optional<slot> parent;
  std::optional<std::uint32_t> driver_index;
  std::optional<std::uint32_t> pci_device;
  std::optional<std::uint32_t> pci_subsystem;
  std::optional<std::uint32_t> render_minor;
  std::optional<std::uint32_t> numa_node;
  std::optional<std::uint32_t> cuda_version;
  std::optional<mig_instance> instance;
  std::optional<std::uint64_t> os_id;
  text<256> name;
  text<96> uuid;
  text<32> pci_bus_id;
  text<96> driver_version;
};

}  // namespace hmn
