// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hmn::cli {

// Matches a shell pattern over code points: * ? [abc] [a-z] [!a]; a backslash escapes the next one.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;
// Matches everything without a pattern, and no unknown text with one.
inline bool is_selected(const std::optional<std::string>& pattern,
                        const std::optional<std::string>& text) noexcept {
  return !pattern || (text && glob_matches(std::string_view(*pattern), std::string_view(*text)));
}

}  // namespace hmn::cli
