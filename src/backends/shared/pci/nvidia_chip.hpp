// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which of NVIDIA's GPUs are part of a processor and allocate from the host's RAM: what a driver
// without memory values does not show.
#pragma once

#include <string>
#include <string_view>

#include "model/device.hpp"

namespace hmn::pci {

// Decides by name, compute capability and PCI device id; false where none of them shows it.
bool is_integrated_nvidia(const device& d) noexcept;

// Whether the device tree is that of a Tegra, whose GPU is not on the PCI bus; other GPUs may be.
bool is_tegra(const std::string& sys_root);

// Recognizes GPUs of an SoC: "NVIDIA GB10", "Orin (nvgpu)", "NVIDIA Thor".
bool names_system_on_chip(std::string_view name) noexcept;

}  // namespace hmn::pci
