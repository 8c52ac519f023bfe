// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hmn::cli {

// Runs the program with its name and arguments, UTF-8. Returns its exit code.
int run_program(const std::vector<std::string>& arguments);

}  // namespace hmn::cli
