// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::macos {

// A process' arguments as KERN_PROCARGS2 gives them: their number, the program's path, NULs, the
// arguments, and the environment, which is not looked at. Appends them with blanks between.
void append_arguments(std::string& out, std::string_view bytes);

}  // namespace hmn::macos
