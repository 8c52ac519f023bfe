// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

namespace selftest {

// Prints a line and makes the suite count as skipped when what a test compares with is not here.
bool is_absent(const char* suite, const std::string& path);

}  // namespace selftest
