// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The one list of drivers, the most particular first.
#pragma once

#include <memory>
#include <vector>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

std::vector<std::unique_ptr<driver>> make_drivers(const settings& s);

}  // namespace hmn::drm
