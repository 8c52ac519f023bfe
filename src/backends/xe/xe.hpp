// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "backends/drm/driver.hpp"
#include "backends/shared/intel/memory.hpp"

namespace hmn::xe {

// Pure. Parses the result of DRM_XE_DEVICE_QUERY_MEM_REGIONS (include/uapi/drm/xe_drm.h).
std::optional<intel::MemoryRegions> parse_regions(std::span<const std::byte> answer) noexcept;

}  // namespace hmn::xe

namespace hmn::drm {

// The driver of newer Intel GPUs.
std::unique_ptr<Driver> make_xe();

}  // namespace hmn::drm
