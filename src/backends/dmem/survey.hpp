// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/pool.hpp"
#include "platform/file.hpp"
#include "source/interface.hpp"

namespace hmn::dmem {

// One line of dmem.max or dmem.current: "drm/0000:03:00.0/vram0 8514437120".
struct Region {
  std::string_view device;
  std::string_view name;
  bool is_unlimited = false;
  std::uint64_t bytes = 0;
};

// All functions are pure.
std::optional<Region> parse_region(std::string_view line) noexcept;
PoolKind classify_region(std::string_view region_name) noexcept;  // main: no pool

// Returns whether every region of DRM has a number or "max".
bool is_understood(std::string_view text) noexcept;

// Sum of a device's regions of one kind, or the region of a part, "vram0" for part 1; nothing if
// there is none, one has no limit, or a line is malformed.
std::optional<std::uint64_t> sum_regions(std::string_view text, std::string_view pci_bus_id,
                                         PoolKey pool) noexcept;

// Whether the controller is enabled for this group's children.
platform::ErrnoOr<bool> is_enabled_for_children(const std::string& group);

// Usage of the groups below `root`, a folder of v2: of each container, else of each group inside
// which no other has the controller. On failure some are missing in `out`.
Result<void> survey(HostSource& host, const std::string& root, GroupMemory& memory);

}  // namespace hmn::dmem
