// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"

namespace hmn {

struct pci_address {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t function = 0;
  friend auto operator<=>(const pci_address&, const pci_address&) = default;
};

// "0000:01:00.0", "00000000:01:00.0", "01:00.0", "1:0.0"; hexadecimal, either case.
std::optional<pci_address> parse_pci_address(std::string_view text);

// What hmn_device_find takes.
struct device_key {
  enum class kind { uuid, pci, luid, render, driver };
  kind what = kind::uuid;
  std::string_view uuid;
  pci_address pci;
  std::uint64_t number = 0;  // luid, render, driver
};

result<device_key> parse_device_key(std::string_view text);

bool equal_uuid(std::string_view a, std::string_view b) noexcept;

}  // namespace hmn
