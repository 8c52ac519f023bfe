// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

namespace selftest {

// If `path` does not exist, prints a line and marks the suite as skipped.
bool is_absent(const char* suite, const std::string& path);

}  // namespace selftest
