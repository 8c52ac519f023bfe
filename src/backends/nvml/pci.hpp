// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Of a device's PCI address. Nothing here wakes a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/nvml/abi.hpp"
#include "model/pci_address.hpp"

namespace hmn::nvml {

// The address in what NVML filled in, whichever generation of the struct it was.
std::optional<pci_address> address_of(const pci_info& from) noexcept;

// N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of);

}  // namespace hmn::nvml
