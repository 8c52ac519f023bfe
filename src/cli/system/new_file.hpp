// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Returns why the file cannot be written before its text is made: it is there and may not be
// replaced, or it is something other than a regular file.
std::optional<failure> why_not_new(const std::string& path, bool may_replace);

enum class readers { owner, everyone };

// Writes a file, completely or not at all. An existing file, which is kept unless it may be
// replaced, passes on its owner and its mode; `allowed` is for a new one (on Windows the folder
// determines it).
std::optional<failure> write_new_file(const std::string& path, std::string_view text,
                                      bool may_replace, readers allowed = readers::owner);

}  // namespace hmn::cli
