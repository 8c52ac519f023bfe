// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// Intel's driver of all its GPUs up to about 2023.
std::unique_ptr<driver> make_i915();

}  // namespace hmn::drm
