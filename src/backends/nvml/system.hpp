// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What of NVML differs by system.
#pragma once

#include <span>
#include <string>

#include "backends/backend.hpp"
#include "backends/nvml/abi.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

// Where the library is: by its name through the system's loader, then by path.
std::span<const char* const> library_places() noexcept;

// Whether the system counts what processes use of this device, and NVML does not.
bool is_counted_by_system(const platform::library& nvml, handle h) noexcept;

// Signs that an NVIDIA GPU or its driver could be here, looked for without opening any of them.

// One sign is enough; the cheap ones are looked for first.
bool has_evidence(const settings& s);

// WSL's GPU: the processes of the host's other side are not listed there.
bool is_paravirtual() noexcept;

// What is known of an NVIDIA GPU that no library serves: a sentence that says what to install;
// empty where there is no sign of one.
std::string advice(const std::string& sys_root);

}  // namespace hmn::nvml
