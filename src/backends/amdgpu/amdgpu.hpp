// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/drm/driver.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

// Identity of a card, from files that the kernel keeps in memory: nothing here wakes it.

// amdgpu.ids of libdrm: "744C,\tC8,\tAMD Radeon RX 7900 XTX", by PCI device id and revision.

// Pure. Returns "" if the table has no such card.
std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept;

// Reads the table installed by libdrm, if any.
std::string read_marketing_name(std::uint32_t device, std::uint32_t revision);

// Formats "946d7e1ef9b172dd" as ROCm's GPU-946d7e1ef9b172dd; empty for a card without an id.
Text<96> format_uuid(std::string_view unique_id) noexcept;

// Decides by sensors: some exist on APUs only (vddnb), others on discrete cards only (critical
// temperature). Unknown if there is neither; an error if one could not be read.
platform::ErrnoOr<DeviceForm> detect_form(std::string_view device_folder);

// The name may be "". Returns 0, or errno if it cannot be read now.
int read_name(const drm::Card& card, Text<256>& name);

// Returns the card of which `part` is a partition; nullptr if it is not here.
const drm::Card* find_whole_card(const drm::ComputeNode& part,
                                 std::span<const drm::Card> all) noexcept;

// Returns the name of KFD's gfx_target_version as the compiler writes it, "gfx90a"; empty for 0.
Text<32> format_architecture(std::uint32_t gfx_target) noexcept;

// Fills uuid, driver version and NUMA node.
void fill_identity(drm::Visit& visit, Device& device);

// Reads mem_info_* of a whole card: VRAM, the part of it that the host can address, and GTT. The
// kernel's counters wake nothing; a sleeping card has its totals only.
Result<void> read_memory(drm::Visit& visit, DeviceForm form, PoolList& out);

}  // namespace hmn::amdgpu

namespace hmn {

// Cards of AMD's kernel driver. `compute` reports their compute processes and partitions; it may be
// null.
std::unique_ptr<drm::Driver> make_amdgpu(std::unique_ptr<drm::ComputeDriver> compute);

}  // namespace hmn
