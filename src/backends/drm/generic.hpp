// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// Any driver that has none of its own here: nouveau, msm, panfrost, panthor, v3d, asahi, virtio,
// accelerators.
std::unique_ptr<driver> make_generic();

}  // namespace hmn::drm
