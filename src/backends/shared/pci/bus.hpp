// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPUs listed by the kernel on the PCI bus, for sources whose driver should not be queried: nothing
// here wakes one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/shared/pci/known_vendors.hpp"
#include "model/pci_address.hpp"

namespace hmn::pci {

struct gpu {
  pci_address address;
  std::uint32_t device = 0;     // 0: unknown
  std::uint32_t subsystem = 0;  // device and vendor; 0: unknown
  text<32> driver;              // bound driver; empty: none, or unknown
  bool is_asleep = false;       // "suspending" counts: a reading would resume it
};

// Lists display controllers of a vendor, and AMD's accelerators, by address; none that has appeared
// since others looked for theirs.
std::vector<gpu> gpus_on_bus(const std::string& proc_root, const std::string& sys_root,
                             std::uint32_t vendor, known_vendors& known);

}  // namespace hmn::pci
