// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_key.hpp"

#include "backends/nvidia_smi/rows.hpp"
#include "backends/nvml/pci.hpp"
#include "fuzz.hpp"

using namespace hmn;

// Three readers of PCI addresses, one for each source of them: what the stricter ones take means
// the same to all.
void fuzz(std::string_view input) {
  const auto key = parse_device_key(input);
  if (key) promise(is_inside(key->uuid, input));
  const auto address = parse_pci_address(input);
  const auto strict = nvml::parse_pci_address(input);
  const std::string text = nvidia_smi::normal_bus_id(input);
  if (strict) {
    const nvml::pci_address& s = *strict;
    promise(nvml::parse_pci_address(nvml::to_text(s).view()) == strict);
    if (address) promise(address->domain == s.domain && address->bus == s.bus);
    if (address) promise(address->device == s.device && address->function == s.function);
  }
  if (!strict || text.empty()) return;
  promise(nvml::to_text(*strict).view() == text);
}
