// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/compute.hpp"

namespace hmn {

// Cards of AMD's kernel driver. `compute` reports their compute processes and partitions; it may be
// null.
std::unique_ptr<drm::driver> make_amdgpu(std::unique_ptr<drm::compute_driver> compute);

}  // namespace hmn
