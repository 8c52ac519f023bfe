// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/pci_address.hpp"

namespace hmn::nvml {

// Of a device's PCI address. Nothing here wakes a device.

// The address in what NVML filled in, whichever generation of the struct it was.
std::optional<pci_address> address_of(const pci_info& from) noexcept;

// N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of);

// What tells memory of its own from the host's RAM.
struct memory_traits {
  bool address_translation = false;  // ATS
  bool chip_to_chip = false;
  bool no_bar1 = false;
  bool system_on_chip = false;  // by its name
  bool virtual_gpu = false;     // its host may refuse BAR1 as well
  std::optional<std::uint32_t> numa_node;
};

// A device from first sight to the end; its place in the device list is its slot.
struct known_device {
  device identity;
  std::optional<pci_address> address;
  memory_traits traits;
  std::optional<std::uint64_t> total;  // of its memory, as the driver tells it
  handle h = nullptr;
  std::uint64_t session = 0;  // the opening that `h` belongs to
  bool only_memory_v1 = false;
  bool mig_capable = false;
  bool mig_on = false;
  code refusal = success;  // why it cannot be used: there is no handle, or its last answer was this
  std::vector<diagnostic> gaps;  // what of the identity is missing, and why

  [[nodiscard]] bool is_lost() const noexcept { return refusal == gpu_is_lost; }
  [[nodiscard]] bool is_partition() const noexcept {
    return identity.kind == device_kind::partition;
  }
};

}  // namespace hmn::nvml
