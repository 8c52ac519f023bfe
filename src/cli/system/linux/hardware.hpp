// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/system/roots.hpp"

namespace hmn::cli {

// Display or compute adapter on the PCI bus.
struct adapter {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::string driver;          // kernel driver; empty: none is bound
  std::string runtime_status;  // "active", "suspended", …; empty: unknown
};
std::vector<adapter> find_adapters(const roots& in);
// Returns "0000:01:00.0 NVIDIA [10de:2684]".
std::string describe(const adapter& of);

std::optional<std::string> read_link_target(const std::string& path);
// Returns the kernel driver of the device with that folder; empty: none is bound.
std::string driver_in(const std::string& folder);

}  // namespace hmn::cli
