// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/expected.hpp"

namespace hmn::cli {

// Loads a module of the command, which stays loaded, and returns the address of its symbol. The
// file is at `installed`, relative to the folder of the command, else at `built`.
expected<void*> load_module(const std::string& installed, const std::string& built,
                            const char* symbol);

}  // namespace hmn::cli
