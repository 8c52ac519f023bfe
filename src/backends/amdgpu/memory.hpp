// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/drm/driver.hpp"

namespace hmn::amdgpu {

// Reads mem_info_* of a whole card: VRAM, the part of it that the host can address, and GTT. The
// kernel's counters wake nothing; a sleeping card has its totals only.
result<void> read_memory(drm::visit& v, device_kind kind, pools& out);

}  // namespace hmn::amdgpu
