// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

// Replaces this process by a program that is installed with hmn for its use alone, with the same
// words of the command line. Returns only where it cannot, and why.
failure become(const std::string& program, const std::vector<std::string>& command_line);

}  // namespace hmn::cli
