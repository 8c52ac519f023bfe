// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/context.hpp"

namespace hmn {

// Applies HMN_* variables to the context's paths. Ignores the environment in a set-user-id program.
Result<void> apply_environment(Context& context);

// Checks that a path is absolute and at most 4095 bytes long.
Result<void> check_path(std::string_view value);

}  // namespace hmn
