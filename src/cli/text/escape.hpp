// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

// A name as one visible line: control characters and bidirectional overrides become \n, \x1b,
// \u{202e}, and a backslash two, but on Windows; with ascii_only so does everything past ASCII.
std::string escape_for_text(std::string_view name, bool ascii_only = false);

// The inside of a JSON string, without the quotes.
std::string escape_for_json(std::string_view text);

}  // namespace hmn::cli
