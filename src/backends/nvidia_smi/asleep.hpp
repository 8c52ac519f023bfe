// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Starting the tool wakes every GPU of the driver; what is read here wakes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hmn::nvidia_smi {

// An NVIDIA display device as the bus lists it.
struct listed_gpu {
  std::string bus_id;  // as in sysfs
  std::uint32_t pci_device = 0;
  std::uint32_t pci_subsystem = 0;
  bool is_asleep = false;
};

// Those that the nvidia driver has, by address; one that another driver has is not the tool's.
std::vector<listed_gpu> gpus_on_bus(const std::string& sys_root);

}  // namespace hmn::nvidia_smi
