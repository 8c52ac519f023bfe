// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/device_ids.hpp"

#include <fmt/format.h>

namespace hmn::cli {

device_ids::device_ids(const std::vector<hypomnesis::snapshot_device>& all) {
  std::unordered_map<std::string, int> uses;
  for (const auto& each : all)
    for (const auto* text : {&each.device.uuid, &each.device.pci_bus_id})
      if (*text) ++uses[**text];
  for (const auto& each : all)
    for (const auto* text : {&each.device.uuid, &each.device.pci_bus_id})
      if (*text && uses[**text] == 1) ids_.try_emplace(each.device.index, **text);
}

std::string device_ids::of(std::uint32_t index) const {
  const auto found = ids_.find(index);
  return found == ids_.end() ? fmt::format("gpu{}", index) : found->second;
}

}  // namespace hmn::cli
