// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <string>

namespace hmn::os {

// The command line as the process was given it, its beginning where it is long; empty where it is
// not told.
std::string command_text(HANDLE process);

}  // namespace hmn::os
