// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.hpp"
#include "model/text.hpp"

namespace hmn::drm {

class driver;

// A character device of the DRM subsystem: card0, renderD128, accel0.
struct node {
  enum class kind { card, render, accel };

  kind what = kind::card;
  std::string name;
  std::uint32_t number = 0;  // the digits of its name
  std::uint32_t major = 0;   // 0: not told
  std::uint32_t minor = 0;
};

// A device with a render or an accel node, as sysfs shows it.
struct card {
  slot number = 0;
  std::string folder;       // its own in sysfs, without a slash at the end
  std::string driver_name;  // that is bound to it
  std::string bus;          // pci, platform, virtio …
  text<32> pci_bus_id;      // empty: not on PCI
  std::uint32_t vendor = vendor::unknown;
  std::optional<std::uint32_t> pci_device;
  std::optional<std::uint32_t> pci_subsystem;
  std::vector<node> nodes;
  drm::driver* by = nullptr;  // reads it; none: left to another source
  bool is_here = false;       // in the last list
  bool has_node = false;      // one of its nodes is in /dev, or there is no /dev to look at
  bool is_asleep = false;     // runtime suspended at this reading

  [[nodiscard]] const node* find(node::kind what) const noexcept {
    for (const node& n : nodes) {
      if (n.what == what) return &n;
    }
    return nullptr;
  }
};

}  // namespace hmn::drm
