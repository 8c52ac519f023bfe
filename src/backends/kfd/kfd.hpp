// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/compute.hpp"

namespace hmn {

// Driver of AMD's compute interface: <sys>/class/kfd/kfd.
std::unique_ptr<drm::compute_driver> make_kfd(const settings& s);

}  // namespace hmn
