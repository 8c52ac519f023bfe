// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How a child is kept from the descriptors that its file actions do not name.
#pragma once

#include <spawn.h>

namespace hmn::platform {

// A flag of the attributes, or 0.
short spawn_closing_flag() noexcept;

// After the last other action. 0 or an error.
int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept;

}  // namespace hmn::platform
