// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace hmn {

std::unique_ptr<device_source> make_metal(const settings& s);

}  // namespace hmn
