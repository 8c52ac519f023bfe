// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Cards from <sys>/class/drm and <sys>/class/accel. Nothing here wakes a device or opens a node.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backends/drm/card.hpp"

namespace hmn::drm {

// Pure: "card0", "renderD128", "accel0"; connectors ("card0-DP-1"), control nodes and others are
// none.
std::optional<node> parse_node(std::string_view name);

// Pure: "226:128".
void parse_numbers(std::string_view text, node& into) noexcept;

// Pure: a PCI address as the kernel names it, in the form of device.pci_bus_id (a domain of more
// than four digits gets eight); empty when it is none.
text<32> parse_pci_name(std::string_view name) noexcept;

// Pure: the device's part of the target of <sys>/class/drm/<node>, below <sys>; empty when it is
// none: "../../devices/pci0000:00/0000:00:02.0/drm/card0" is of "devices/pci0000:00/0000:00:02.0".
std::string_view device_part(std::string_view target) noexcept;

// Appends the cards with a render or an accel node; fills what does not change while they are
// bound. 0, or errno when neither class can be listed.
int find_cards(std::string_view sys_root, std::vector<card>& out);

// Whether there is one that another source does not serve.
bool has_card(std::string_view sys_root);

// NVIDIA's own driver has no fdinfo and is served by NVML; the kernel's buffer exchange for tests
// has no hardware behind it.
bool is_left_alone(std::string_view driver_name) noexcept;

// "suspending" counts: a reading would call it back.
bool is_suspended(const card& c) noexcept;

}  // namespace hmn::drm
