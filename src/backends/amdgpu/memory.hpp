// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/drm/driver.hpp"

namespace hmn::amdgpu {

// mem_info_* of a whole card: VRAM, the part of it that the host can address, and GTT. Counters of
// the kernel, which wake nothing; of a sleeping card the totals alone.
result<void> read_memory(drm::visit& v, device_kind kind, pools& out);

}  // namespace hmn::amdgpu
