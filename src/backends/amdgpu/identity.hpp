// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Who a card is, from files that are in the kernel's memory: nothing here wakes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backends/drm/compute.hpp"
#include "platform/errno_or.hpp"

namespace hmn::amdgpu {

// amdgpu.ids of libdrm: "744C,\tC8,\tAMD Radeon RX 7900 XTX", by PCI device id and revision.

// Pure: empty when the table has no such card.
std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept;

// Of the table that libdrm installed, if it did.
std::string read_marketing_name(std::uint32_t device, std::uint32_t revision);

// "946d7e1ef9b172dd" as ROCm writes it, GPU-946d7e1ef9b172dd; empty for a card without one.
text<96> uuid_of(std::string_view unique_id) noexcept;

// Some sensors are made for parts of a processor alone (vddnb), some for other cards alone (the
// critical temperature). Unknown where neither is there; an error: one could not be looked at.
platform::errno_or<device_kind> kind_of_card(std::string_view device_folder);

// "" for a card without one. False: it could not be read now.
bool read_name(const drm::card& c, text<256>& name);

// The card that a partition is a part of; nullptr: it is not here.
const drm::card* whole_of(const drm::compute_node& part, std::span<const drm::card> all) noexcept;

// uuid, driver version and NUMA node.
void fill_identity(const drm::visit& v, device& who);

}  // namespace hmn::amdgpu
