// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The parts of NVML support that depend on the system.
#pragma once

#include <span>
#include <string>

#include "backends/nvml/abi.hpp"
#include "platform/library.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// Where the library may be: names for the dynamic loader, then paths.
std::span<const char* const> library_candidates() noexcept;

// Whether the system, not NVML, counts what processes use of this device.
bool is_counted_by_system(const platform::Library& nvml, Handle handle) noexcept;

// Signs of an NVIDIA GPU or its driver, which are found without opening either.

// Stops at the first sign; cheap ones are checked first.
bool has_evidence(const Settings& settings);

// Whether the driver may list GPUs that it has not attached: since 590.37.
bool may_list_unattached(const Settings& settings);

// Whether the GPU is WSL's: processes on the Windows side are not listed.
bool is_paravirtual() noexcept;

// Returns advice on what to install for an NVIDIA GPU without a library; empty without a sign of
// one.
std::string format_advice(const Settings& settings);

}  // namespace hmn::nvml
