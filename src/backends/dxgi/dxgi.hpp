// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/shared/wddm/counters.hpp"

namespace hmn {

// `counters` reports usage; it may be null.
std::unique_ptr<device_source> make_dxgi(std::unique_ptr<wddm::counters> counters);

}  // namespace hmn
