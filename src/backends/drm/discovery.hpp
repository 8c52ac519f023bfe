// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Finds cards in <sys>/class/drm and <sys>/class/accel. Nothing here wakes a device or opens a
// node.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "model/failure.hpp"

namespace hmn::drm {

// Pure. Accepts "card0", "renderD128", "accel0"; not connectors ("card0-DP-1"), control nodes or
// others.
std::optional<Node> parse_node(std::string_view name);

// Pure. Parses "226:128".
void parse_numbers(std::string_view text, Node& node) noexcept;

// Pure. Returns the device's part of the target of <sys>/class/drm/<node>, below <sys>, or nothing:
// for "../../devices/pci0000:00/0000:00:02.0/drm/card0", "devices/pci0000:00/0000:00:02.0".
std::string_view device_part(std::string_view target) noexcept;

// Appends the cards with a render or an accel node, with what is constant while they are bound.
// Returns 0 or errno. ENOENT: there is no such class; any other error makes the list unreliable.
int find_cards(std::string_view sys_root, std::vector<Card>& out);

// Whether there is a card that no other source serves; true if unknown.
bool has_card(std::string_view sys_root);

// Devices that are skipped. NVIDIA's own driver has no fdinfo and is served by NVML. Test drivers
// of the kernel (vgem, vkms) have no hardware: they are on the faux bus (Linux 6.14), before that
// on the platform bus, where no driver is bound and only the device's name identifies them.
bool is_ignored(std::string_view driver, std::string_view bus, std::string_view name) noexcept;

// Whether this is a partition of an AMD card: a device of its own in the kernel, without a driver
// of its own.
bool is_partition_node(const Card& card) noexcept;

// Whether this is a virtual function (SR-IOV) of a GPU that is listed as well. Alone, as in a
// virtual machine, it has the sensors that the driver allows, which are all if the GPU is not
// shared.
bool is_listed_virtual_function(const Card& card, std::span<const Card> cards) noexcept;

// Why a part of a GPU lacks a value of the whole: "clocks are".
Failure make_whole_only_failure(Source source, std::string_view clause);

}  // namespace hmn::drm
