// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "core/merge.hpp"

namespace hmn {

// Fills the memory of the device's main pool that is used but owned by no visible process. Returns
// why that is unknown where the processes' memory overlaps. Skips a partitioned GPU: its processes
// are listed under its partitions.
std::optional<failure> attribute_pools(std::span<merged_device> all, std::size_t position);

}  // namespace hmn
