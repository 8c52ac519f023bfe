// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hmn::cli {

// One line that CommandLineToArgvW and the C runtime take apart into the same words.
std::string command_line_of(const std::vector<std::string>& words);

}  // namespace hmn::cli
