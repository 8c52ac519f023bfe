// SPDX-License-Identifier: MIT OR Apache-2.0
//
// System-dependent parts of NVML support.
#pragma once

#include <span>
#include <string>

#include "backends/nvml/abi.hpp"
#include "platform/library.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// Places of the library: by name through the dynamic loader, then by path.
std::span<const char* const> library_places() noexcept;

// Whether per-process usage of this device is counted by the system and not by NVML.
bool is_counted_by_system(const platform::library& nvml, handle h) noexcept;

// Signs of an NVIDIA GPU or its driver, checked without opening any of them.

// Stops at the first sign; cheap ones are checked first.
bool has_evidence(const settings& s);

// Whether the driver may list GPUs that it has not attached: not before 590.37.
bool may_list_unattached(const settings& s);

// GPU of WSL: processes on the Windows side are not listed.
bool is_paravirtual() noexcept;

// Returns advice on what to install for an NVIDIA GPU without a library; empty without a sign of
// one.
std::string advice(const settings& s);

}  // namespace hmn::nvml
