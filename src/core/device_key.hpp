// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"
#include "model/pci_address.hpp"

namespace hmn {

// Parsed key of hmn_device_find.
struct device_key {
  enum class kind { uuid, pci, luid, render, driver };
  kind what = kind::uuid;
  std::string_view uuid;
  pci_address pci;
  std::uint32_t vendor = 0;  // driver: whose numbering it is
  std::uint64_t number = 0;  // luid, render, driver
};

result<device_key> parse_device_key(std::string_view text);

bool equal_uuid(std::string_view a, std::string_view b) noexcept;

}  // namespace hmn
