// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>

#include "core/merge.hpp"

namespace hmn {

// Fills the memory of the device's main pool that is used but owned by no visible process. Returns
// why that is unknown. Skips a partitioned GPU, whose processes are listed under its partitions,
// and one whose list is missing, which has a reason of its own.
std::optional<failure> attribute_pools(merged_device& d);

}  // namespace hmn
