// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPUs as the kernel lists them on the PCI bus, for sources whose driver would have to be asked
// otherwise: what is read here wakes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/pci_address.hpp"

namespace hmn::pci {

struct gpu {
  pci_address address;
  std::uint32_t device = 0;     // 0: not told
  std::uint32_t subsystem = 0;  // its device and vendor; 0: not told
  text<32> driver;              // bound to it; empty: none, or not told
  bool is_asleep = false;       // "suspending" counts: a reading would call it back
};

// Display controllers of a vendor, and AMD's accelerators, by address.
std::vector<gpu> gpus_on_bus(const std::string& sys_root, std::uint32_t vendor);

}  // namespace hmn::pci
