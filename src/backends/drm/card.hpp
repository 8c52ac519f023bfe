// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/device.hpp"
#include "model/text.hpp"

namespace hmn::drm {

class driver;

// Character device of the DRM subsystem: card0, renderD128, accel0.
struct node {
  enum class kind { card, render, accel };

  kind what = kind::card;
  text<24> name;
  std::uint32_t number = 0;  // digits of its name
  std::uint32_t major = 0;   // 0: unknown
  std::uint32_t minor = 0;
};

// Device with a render or an accel node, as listed by sysfs. Kept plain, so that copies are cheap.
struct card {
  slot number = 0;
  text<512> folder;      // its folder in sysfs, without a trailing slash
  text<64> driver_name;  // bound driver
  text<32> bus;          // pci, platform, virtio …
  text<32> pci_bus_id;   // empty: not on PCI
  std::uint32_t vendor = vendor::unknown;
  std::optional<std::uint32_t> pci_device;
  std::optional<std::uint32_t> pci_subsystem;
  std::array<node, 8> nodes_;
  std::uint32_t node_count = 0;
  drm::driver* by = nullptr;   // reads the card; null: left to another source
  bool is_here = false;        // listed in the last scan
  bool has_node = false;       // a node exists in /dev, or there is no /dev
  bool is_asleep = false;      // runtime suspended at this reading
  bool is_resting = false;     // skipped in this reading, so that it can suspend
  int state_error = 0;         // why the state is unknown: it then counts as suspended
  bool counts_engines = true;  // false: engine times in fdinfo do not advance

  [[nodiscard]] std::span<const node> nodes() const noexcept { return {nodes_.data(), node_count}; }
  [[nodiscard]] const node* find(node::kind what) const noexcept {
    for (const node& n : nodes()) {
      if (n.what == what) return &n;
    }
    return nullptr;
  }
};

}  // namespace hmn::drm
