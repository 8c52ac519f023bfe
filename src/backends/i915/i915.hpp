// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "backends/drm/driver.hpp"
#include "backends/shared/intel/memory.hpp"

namespace hmn::i915 {

// Pure. Parses the result of DRM_I915_QUERY_MEMORY_REGIONS (include/uapi/drm/i915_drm.h).
std::optional<intel::MemoryRegions> parse_regions(std::span<const std::byte> answer) noexcept;

}  // namespace hmn::i915

namespace hmn::drm {

// The driver of all Intel GPUs until about 2023.
std::unique_ptr<Driver> make_i915();

}  // namespace hmn::drm
