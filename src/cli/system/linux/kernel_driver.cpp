// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include "cli/system/inspect.hpp"
#include "cli/system/linux/hardware.hpp"

namespace hmn::cli {

std::string kernel_driver(const hypomnesis::device& of) {
  const auto sys = roots_from_environment().sys;
  std::string driver;
  if (of.render_minor)
    driver = driver_in(fmt::format("{}/class/drm/renderD{}/device", sys, *of.render_minor));
  if (driver.empty() && of.pci_bus_id)
    driver = driver_in(fmt::format("{}/bus/pci/devices/{}", sys, *of.pci_bus_id));
  return driver;
}

}  // namespace hmn::cli
