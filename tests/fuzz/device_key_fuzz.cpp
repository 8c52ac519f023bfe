// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  const auto key = parse_device_key(input);
  if (key) promise(is_inside(key->uuid, input));
  const auto address = parse_pci_address(input);
  promise(address.has_value() != normal_pci_address(input).empty());
  if (!address) return;
  const Text<32> written = to_text(*address);
  promise(written.view().size() == 12 || written.view().size() == 16);
  promise(parse_pci_address(written.view()) == address);
  promise(parse_pci_address(system_name(*address).view()) == address);
  promise(parse_device_key("pci:" + std::string(input))->pci == *address);
}
