// SPDX-License-Identifier: MIT OR Apache-2.0
//
// amdgpu.ids of libdrm: "744C,\tC8,\tAMD Radeon RX 7900 XTX", by PCI device id and revision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hmn::amdgpu {

// Pure: empty when the table has no such card.
std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept;

// Of the table that libdrm installed, if it did.
std::string read_marketing_name(std::uint32_t device, std::uint32_t revision);

}  // namespace hmn::amdgpu
