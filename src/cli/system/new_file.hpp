// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Writes a file that only its owner may read, completely or not at all. Keeps an existing file
// unless it may be replaced.
std::optional<failure> write_new_file(const std::string& path, std::string_view text,
                                      bool may_replace);

}  // namespace hmn::cli
