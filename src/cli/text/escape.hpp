// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

// Formats a name as one visible line: control characters and bidirectional overrides become \n,
// \x1b, \u{202e}, and a backslash is doubled except on Windows. With ascii_only all other
// characters beyond ASCII are escaped too.
std::string escape_for_text(std::string_view name, bool ascii_only = false);

// Returns the inside of a JSON string, without the quotes.
std::string escape_for_json(std::string_view text);

}  // namespace hmn::cli
