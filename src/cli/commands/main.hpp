// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Runs the program with its name and arguments, UTF-8. Returns its exit code.
int run_program(int count, const char* const* arguments);

}  // namespace hmn::cli
