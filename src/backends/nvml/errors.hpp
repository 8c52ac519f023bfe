// SPDX-License-Identifier: MIT OR Apache-2.0
//
// NVML's return codes as statuses, each with a sentence that says what can be done.
#pragma once

#include <string_view>

#include "backends/nvml/abi.hpp"
#include "model/failure.hpp"

namespace hmn::nvml {

status status_of(code c) noexcept;

// `what` names the call that answered `c`.
failure fail(code c, std::string_view what);

// One that NVML gave no code for.
failure fail(status s, const message_text& message);

}  // namespace hmn::nvml
