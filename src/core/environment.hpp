// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "core/context.hpp"

namespace hmn {

// Lets HMN_* variables set the context's paths. Reads nothing in a set-user-id program.
result<void> apply_environment(context& to);

// What a path must be: absolute, at most 4095 bytes.
result<void> check_path(std::string_view value);

}  // namespace hmn
