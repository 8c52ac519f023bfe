// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/library.hpp"
#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/pci_address.hpp"

namespace hmn::nvml {

// Helpers for a device's PCI address. Nothing here wakes a device.

// Address in data filled by NVML, for each generation of the struct.
std::optional<pci_address> address_of(const pci_info& from) noexcept;

// Returns N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of);

// Properties that distinguish dedicated memory from host RAM.
struct memory_traits {
  bool address_translation = false;  // ATS
  bool chip_to_chip = false;
  bool off_bus = false;         // neither a PCI address nor a BAR1
  bool system_on_chip = false;  // by backends/shared/pci/nvidia_chip.hpp
  bool virtual_gpu = false;     // the host may also refuse BAR1
  std::optional<std::uint32_t> numa_node;
  const char* unknown_mode_from = nullptr;  // the call that reports a mode which is not known
};

// Faults of a device since it is watched (fault_watch.hpp).
struct known_faults {
  handle h = nullptr;
  std::uint64_t session = 0;  // opening that registered it
  code result = success;
  const named_symbol* from = nullptr;
  std::optional<std::uint64_t> last;
};

// Device from first sight on; its index in the device list is its slot.
struct known_device {
  device identity;
  std::optional<pci_address> address;
  memory_traits traits;
  handle h = nullptr;
  std::uint64_t session = 0;    // opening that `h` belongs to
  std::size_t listed_at = 0;    // position in the last listing of the open library
  std::uint64_t seated_in = 0;  // last listing that gave a handle of it
  bool only_memory_v1 = false;
  bool mig_capable = false;
  bool mig_on = false;
  std::uint64_t mig_asked_ns = 0;  // when it was found to be off; 0: it is not
  code refusal = success;          // why it is unusable: no handle, or its last return code
  const char* refused_by = "";     // the call that returned it
  std::vector<diagnostic> gaps;    // missing identity values, and why
  known_faults faults;

  [[nodiscard]] bool is_lost() const noexcept { return refusal == gpu_is_lost; }
  [[nodiscard]] bool is_partition() const noexcept {
    return identity.kind == device_kind::partition;
  }
};

}  // namespace hmn::nvml
