// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/pci_address.hpp"

namespace hmn {

// What control groups hold of devices' VRAM. No group is in another one of them, so that figures
// may be added up.
struct group_memory {
  struct part {
    std::uint32_t group = 0;  // of `names`
    pci_address device;
    std::uint64_t used = 0;              // never 0
    std::optional<std::uint64_t> limit;  // the tightest of the group and those around it
  };

  std::vector<std::string> names;  // "docker:1c8f…" of a container, else the group's path
  std::vector<part> parts;
};

}  // namespace hmn
