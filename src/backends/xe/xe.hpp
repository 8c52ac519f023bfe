// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// Intel's driver of its newer GPUs.
std::unique_ptr<driver> make_xe();

}  // namespace hmn::drm
