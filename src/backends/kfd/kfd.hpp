// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/drm/compute.hpp"

namespace hmn {

// AMD's compute driver: <sys>/class/kfd/kfd.
std::unique_ptr<drm::compute_driver> make_kfd(const settings& s);

}  // namespace hmn
