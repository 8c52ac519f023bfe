// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values that the source of a device did not report, and that its fallback may have.
#pragma once

#include <cstdint>
#include <vector>

#include "core/merge.hpp"

namespace hmn {

// Fills in what processes use from the rows of a fallback.
void fill_use(merged_device& into, const plan& p, std::vector<usage>& rows);

}  // namespace hmn
