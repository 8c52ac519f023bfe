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

// What is known of an NVIDIA GPU on the bus that no driver library serves: a sentence that says
// what to install; empty where the bus shows none.
std::string advice_for_bus(const std::string& sys_root);

}  // namespace hmn::nvml
