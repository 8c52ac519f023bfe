// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace selftest {

// If `path` does not exist, prints a line and marks the suite as skipped.
bool is_absent(const char* suite, const std::string& path);

// Returns the contents of a file that exists.
std::string read_file(const std::filesystem::path& path);

}  // namespace selftest
