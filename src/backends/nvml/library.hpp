// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "backends/backend.hpp"
#include "model/failure.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

// By settings.nvml_path alone when that is given; else where the system has it (system.hpp).
result<platform::library> open_library(const settings& s);

}  // namespace hmn::nvml
