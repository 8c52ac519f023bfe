// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include "cli/system/inspect.hpp"
#include "cli/system/linux/hardware.hpp"

namespace hmn::cli {
namespace {

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

}  // namespace

// Of NVIDIA's own driver NVML tells more.
std::string unmeasured_gpus() {
  std::string list;
  for (const auto& each : find_adapters(roots_from_environment())) {
    const auto who = describe(each);
    if (each.driver == "vfio-pci")
      append(list, who + " is handed over to a virtual machine (vfio-pci)");
    else if (each.vendor != HMN_VENDOR_AMD && each.vendor != HMN_VENDOR_INTEL)
      continue;
    else if (each.driver.empty())
      append(list, who + " has no kernel driver");
    else
      append(list, fmt::format("the driver {} shows no GPU for {}", each.driver, who));
  }
  return list;
}

}  // namespace hmn::cli
