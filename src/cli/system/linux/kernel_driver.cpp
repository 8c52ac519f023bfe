// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.h>

#include "cli/handles.hpp"
#include "cli/system/inspect.hpp"
#include "cli/system/linux/hardware.hpp"

namespace hmn::cli {

std::string kernel_driver(const hmn_device& of) {
  const auto sys = roots_from_environment().sys;
  std::optional<std::string> target;
  if (has(of, HMN_DEVICE_HAS_RENDER_MINOR))
    target =
        read_link_target(fmt::format("{}/class/drm/renderD{}/device/driver", sys, of.render_minor));
  if (!target && has(of, HMN_DEVICE_HAS_PCI))
    target = read_link_target(fmt::format("{}/bus/pci/devices/{}/driver", sys, of.pci_bus_id));
  return target ? target->substr(target->rfind('/') + 1) : std::string();
}

}  // namespace hmn::cli
