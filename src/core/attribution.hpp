// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "core/merge.hpp"

namespace hmn {

// Fills what is used of the device's main pool and owned by no process that can be seen. Returns
// why that cannot be known where the processes' memory overlaps. Leaves out a GPU that is split:
// its processes are listed under its partitions.
std::optional<failure> attribute_pools(std::span<merged_device> all, std::size_t position);

}  // namespace hmn
