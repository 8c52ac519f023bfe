// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Cards from <sys>/class/drm and <sys>/class/accel. Nothing here wakes a device or opens a node.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backends/drm/card.hpp"
#include "platform/errno_or.hpp"

namespace hmn::drm {

// Pure: "card0", "renderD128", "accel0"; connectors ("card0-DP-1"), control nodes and others are
// none.
std::optional<node> parse_node(std::string_view name);

// Pure: "226:128".
void parse_numbers(std::string_view text, node& into) noexcept;

// Pure: the device's part of the target of <sys>/class/drm/<node>, below <sys>; empty when it is
// none: "../../devices/pci0000:00/0000:00:02.0/drm/card0" is of "devices/pci0000:00/0000:00:02.0".
std::string_view device_part(std::string_view target) noexcept;

// Appends the cards with a render or an accel node; fills what does not change while they are
// bound. 0, or errno: ENOENT when there is no class of theirs; any other means that something could
// not be read, and that the list is not to be trusted.
int find_cards(std::string_view sys_root, std::vector<card>& out);

// Whether there is one that another source does not serve; true when that could not be found out.
bool has_card(std::string_view sys_root);

// NVIDIA's own driver has no fdinfo and is served by NVML. What the kernel has for tests (vgem,
// vkms) has no hardware behind it: on the faux bus (Linux 6.14), before on that of the platform,
// where no driver is bound to it and its own name alone tells.
bool is_left_alone(std::string_view driver, std::string_view bus, std::string_view name) noexcept;

// Of a part of an AMD card: a device of its own to the kernel, without a driver of its own.
bool is_partition_node(const card& c) noexcept;

// "suspending" counts: a reading would call it back.
platform::errno_or<bool> is_suspended(const card& c) noexcept;

}  // namespace hmn::drm
