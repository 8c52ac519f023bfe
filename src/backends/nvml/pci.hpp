// SPDX-License-Identifier: MIT OR Apache-2.0
//
// PCI addresses, and NVIDIA's display devices as the system lists them. Nothing here wakes a
// device.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "model/text.hpp"

namespace hmn::nvml {

struct pci_address {
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;

  auto operator<=>(const pci_address&) const = default;
};

// "0000:01:00.0", with a domain of 1 to 8 digits in either case.
std::optional<pci_address> parse_pci_address(std::string_view from) noexcept;

// Lower case; a domain of four digits where it fits, else of eight.
text<32> to_text(const pci_address& a) noexcept;

// As the kernel names its folder: a domain of at least four digits.
text<32> system_name(const pci_address& a) noexcept;

// The address in what NVML filled in, whichever generation of the struct it was.
std::optional<pci_address> address_of(const pci_info& from) noexcept;

struct pci_display {
  pci_address address;
  std::string driver;  // bound to it; empty: none, or not told
};

// NVIDIA's display controllers below <sys>/bus/pci/devices.
std::vector<pci_display> nvidia_displays(const std::string& sys_root);
bool has_nvidia_display(const std::string& sys_root);

// N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of);

}  // namespace hmn::nvml
