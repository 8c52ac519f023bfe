// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

// Matches a shell pattern over code points: * ? [abc] [a-z] [!a]; a backslash escapes the next one.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace hmn::cli
