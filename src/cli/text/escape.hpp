// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

// Returns whether a terminal, or who shows the text, would act on the character instead of showing
// it: control characters, bidirectional overrides and line separators.
bool is_acted_on(char32_t c) noexcept;
// Appends \x1b or \u{202e} for such a character.
void append_text_escape(std::string& out, char32_t c);

// Formats a name as one visible line: control characters and bidirectional overrides become \n,
// \x1b, \u{202e}, and a backslash is doubled except on Windows. With ascii_only all other
// characters beyond ASCII are escaped too.
std::string escape_for_text(std::string_view name, bool ascii_only = false);

}  // namespace hmn::cli
