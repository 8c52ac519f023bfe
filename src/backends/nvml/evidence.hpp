// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Signs that an NVIDIA GPU or its driver could be here, looked for without opening any of them.
#pragma once

#include <string>

#include "backends/backend.hpp"

namespace hmn::nvml {

// One sign is enough; the cheap ones are looked for first.
bool has_evidence(const settings& s);

// WSL's GPU: the processes of the host's other side are not listed there.
bool is_paravirtual() noexcept;

// What is known of an NVIDIA GPU that no library serves: a sentence that says what to install;
// empty where there is no sign of one.
std::string advice(const std::string& sys_root);

}  // namespace hmn::nvml
