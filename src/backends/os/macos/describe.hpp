// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "backends/shared/mach/kernel.hpp"
#include "model/usage.hpp"

namespace hmn::macos {

// Appends the arguments in KERN_PROCARGS2, separated by blanks. The block has the number of
// arguments, the program's path, NULs, the arguments, and the environment, which is skipped.
void append_arguments(std::string& out, std::string_view bytes);

// Fills name, name_state, start_unix_ns, uid and host_resident where they are still unknown.
void describe(const mach::Kernel& kernel, Usage& row);
// Fills the command; only root gets those of other users' processes.
void describe_command(const mach::Kernel& kernel, Usage& row);

}  // namespace hmn::macos
