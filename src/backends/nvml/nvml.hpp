// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"

namespace hmn {

// GPUs of NVIDIA through the driver's management library.
std::unique_ptr<device_source> make_nvml(const settings& s);

}  // namespace hmn
