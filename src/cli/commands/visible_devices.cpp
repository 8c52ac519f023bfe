// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hmn::cli {
namespace {

using hypomnesis::run_state;
using hypomnesis::vendor_id;

std::string_view pci_of(const hypomnesis::device& of) {
  return of.pci_bus_id ? std::string_view(*of.pci_bus_id) : std::string_view{};
}

// Follows the CUDA Programming Guide, "CUDA Environment Variables": UUIDs as printed by nvidia-smi
// -L, including MIG's; indexes match nvidia-smi with CUDA_DEVICE_ORDER=PCI_BUS_ID.
expected<visibility> for_cuda(const hypomnesis::device& chosen) {
  visibility out;
  if (chosen.uuid) {
    out.set.push_back({"CUDA_VISIBLE_DEVICES", *chosen.uuid});
    return out;
  }
  if (!chosen.driver_index || chosen.parent_index)
    return failed(fmt::format("GPU {} has no UUID to put into CUDA_VISIBLE_DEVICES", chosen.index));
  out.set.push_back({"CUDA_DEVICE_ORDER", "PCI_BUS_ID"});
  out.set.push_back({"CUDA_VISIBLE_DEVICES", fmt::to_string(*chosen.driver_index)});
  return out;
}

// Follows ROCm, "GPU isolation techniques": ROCR_VISIBLE_DEVICES takes "GPU-" and the card's unique
// id. The ROCr runtime refuses an id shared by several devices, as partitions of a card do
// (amd_filter_device.cpp). The other variables count within its selection.
expected<visibility> for_rocm(const hypomnesis::device& chosen,
                              const std::vector<hypomnesis::device>& all) {
  visibility out;
  out.unset = {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
  const auto of_amd = std::count_if(all.begin(), all.end(), [](const hypomnesis::device& each) {
    return each.vendor == vendor_id::amd && each.state != run_state::lost;
  });
  const auto same_id = std::count_if(all.begin(), all.end(), [&](const hypomnesis::device& each) {
    return each.uuid && each.uuid == chosen.uuid;
  });
  if (chosen.uuid && same_id == 1)
    out.set.push_back({"ROCR_VISIBLE_DEVICES", *chosen.uuid});
  else if (of_amd == 1)
    out.set.push_back({"ROCR_VISIBLE_DEVICES", "0"});
  else
    return failed(fmt::format(
        "GPU {} has no id of its own to put into ROCR_VISIBLE_DEVICES, and is not the only one",
        chosen.index));
  return out;
}

// Follows the oneAPI Level Zero specification, "Environment Variables" and "Affinity Mask":
// ordinals in the driver's order, which can be forced to PCI order; with COMPOSITE they count cards
// rather than tiles.
expected<visibility> for_level_zero(const hypomnesis::device& chosen,
                                    const std::vector<hypomnesis::device>& all) {
  if (pci_of(chosen).empty())
    return failed(
        fmt::format("GPU {} has no PCI address to count for ZE_AFFINITY_MASK", chosen.index));
  const auto before = std::count_if(all.begin(), all.end(), [&](const hypomnesis::device& each) {
    return each.vendor == vendor_id::intel && each.state != run_state::lost && !each.parent_index &&
           !pci_of(each).empty() && pci_of(each) < pci_of(chosen);
  });
  visibility out;
  out.set = {{"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"},
             {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1"},
             {"ZE_AFFINITY_MASK", fmt::to_string(before)}};
  return out;
}

}  // namespace

expected<visibility> make_visible(const hypomnesis::device& chosen,
                                  const std::vector<hypomnesis::device>& all) {
  if (chosen.vendor == vendor_id::nvidia) return for_cuda(chosen);
  if (chosen.vendor == vendor_id::amd) return for_rocm(chosen, all);
  if (chosen.vendor == vendor_id::intel) return for_level_zero(chosen, all);
  return visibility{};
}

}  // namespace hmn::cli
