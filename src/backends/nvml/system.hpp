// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What of NVML differs by system.
#pragma once

#include <span>

#include "backends/nvml/abi.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

// Where the library is: by its name through the system's loader, then by path.
std::span<const char* const> library_places() noexcept;

// Whether the system counts what processes use of this device, and NVML does not.
bool is_counted_by_system(const platform::library& nvml, handle h) noexcept;

}  // namespace hmn::nvml
