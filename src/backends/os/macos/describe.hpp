// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "backends/mach/kernel.hpp"
#include "model/usage.hpp"

namespace hmn::macos {

// A process' arguments as KERN_PROCARGS2 gives them: their number, the program's path, NULs, the
// arguments, and the environment, which is not looked at. Appends them with blanks between.
void append_arguments(std::string& out, std::string_view bytes);

// Fills what is still unknown of: name, name_state, start_unix_ns, uid, host_resident.
void describe(const mach::kernel& k, usage& row);
// The same of the command: the caller's own processes, and every one for root.
void describe_command(const mach::kernel& k, usage& row);

}  // namespace hmn::macos
