// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.hpp"
#include "model/pci_address.hpp"

namespace hmn::pci {

// Which vendors have GPUs on the bus, by the kernel's list of all functions: the time of the list
// in nanoseconds, with a bit for each vendor in place of its lowest bits; 0: never read. Each line
// takes the kernel a microsecond, so sources that search at the same time read the list once.
using VendorCache = std::atomic<std::uint64_t>;

inline constexpr std::uint64_t max_list_age_ns = 100'000'000;

// Pure. Returns the bits of the vendors in the kernel's list, whose lines look like
// "0100\t10de2684\t…"; all bits if it is not such a list.
std::uint64_t parse_vendors(std::string_view list);

// Returns false if the list is of the machine of sys_root and has no GPU of the vendor.
bool may_have_gpu(std::uint32_t vendor, std::string_view proc_root, std::string_view sys_root,
                  VendorCache& cache);

// A GPU that the kernel lists on the PCI bus, for sources whose driver should not be queried:
// nothing here wakes one.
struct Gpu {
  PciAddress address;
  std::uint32_t device = 0;     // 0: unknown
  std::uint32_t subsystem = 0;  // device and vendor; 0: unknown
  Text<32> driver;              // bound driver; empty: none, or unknown
  bool is_asleep = false;       // "suspending" counts: a reading would resume it
};

// Lists a vendor's display controllers, and AMD's accelerators, by address. One that has appeared
// within the last max_list_age_ns may be missing.
std::vector<Gpu> list_gpus(const std::string& proc_root, const std::string& sys_root,
                           std::uint32_t vendor, VendorCache& cache);

// Which of NVIDIA's GPUs are part of a processor and allocate from the host's RAM. Their driver
// reports no memory, the host's RAM, or the part of it that firmware sets aside for the GPU.

// Decides by name, compute capability and PCI device id; false if none of them shows it.
bool is_integrated_nvidia(const Device& device) noexcept;

// Returns whether the device tree is a Tegra's, whose own GPU is not on the PCI bus.
bool is_tegra(const std::string& sys_root);

// Recognizes GPUs of an SoC: "NVIDIA GB10", "NVIDIA N1X", "Orin (nvgpu)".
bool is_system_on_chip_name(std::string_view name) noexcept;

}  // namespace hmn::pci
