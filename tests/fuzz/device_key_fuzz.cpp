// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  const auto key = parse_device_key(input);
  if (key) promise(is_inside(key->uuid, input));
  const auto address = parse_pci_address(input);
  promise(address.has_value() != normalize_pci_address(input).empty());
  if (!address) return;
  const Text<32> address_text = to_text(*address);
  promise(address_text.view().size() == 12 || address_text.view().size() == 16);
  promise(parse_pci_address(address_text.view()) == address);
  promise(parse_pci_address(sysfs_name(*address).view()) == address);
  promise(parse_device_key("pci:" + std::string(input))->pci == *address);
}
