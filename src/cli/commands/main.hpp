// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hmn::cli {

// The command: its name and its arguments, UTF-8. Returns what the program ends with.
int run_program(const std::vector<std::string>& arguments);

}  // namespace hmn::cli
