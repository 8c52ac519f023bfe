// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/failure.hpp"
#include "model/pci_address.hpp"
#include "model/tables.hpp"

namespace hmn {

// Memory of one device that one control group holds.
struct Group {
#define HMN_TEXT(member) std::string member;
  HMN_GROUP_FIELDS(HMN_MEMBER, HMN_TEXT)
#undef HMN_TEXT
};

// VRAM held by control groups. No group contains another, so that the values may be summed.
struct GroupMemory {
  struct Part {
    std::uint32_t group = 0;  // of `names`
    PciAddress device;
    std::uint64_t used = 0;              // never 0
    std::optional<std::uint64_t> limit;  // the tightest limit of the group and its ancestors
  };

  Source source = Source::dmem;
  std::vector<std::string> names;  // "docker:1c8f…" for a container, else the group's path
  std::vector<Part> parts;
};

}  // namespace hmn
