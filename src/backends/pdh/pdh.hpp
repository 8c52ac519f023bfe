// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/shared/wddm/counters.hpp"

namespace hmn {

std::unique_ptr<wddm::counters> make_pdh();

}  // namespace hmn
