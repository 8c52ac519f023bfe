// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/text.hpp"

namespace hmn {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// Parses "0000:01:00.0", "00000000:0C:00.0" or "0:1:0.0": hexadecimal in either case, with a domain
// of 1 to 8 digits.
std::optional<PciAddress> parse_pci_address(std::string_view text) noexcept;

// Formats in lower case, with a domain of four digits where it fits, else of eight.
Text<32> to_text(const PciAddress& address) noexcept;

// Formats the name of the kernel's folder, with a domain of at least four digits.
Text<32> sysfs_name(const PciAddress& address) noexcept;

// Normalizes any spelling to that of to_text(); returns an empty text if it is not an address.
Text<32> normalize_pci_address(std::string_view spelling) noexcept;

// Returns whether a device's name is only its PCI id: "0x10de", "10de:2684", "NVIDIA Corporation
// Device 2684".
bool is_pci_id(std::string_view name) noexcept;

}  // namespace hmn
