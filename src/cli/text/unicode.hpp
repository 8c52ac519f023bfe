// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "model/character.hpp"

namespace hmn::cli {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // bytes taken; 0 at the end
};

// Returns the first code point; an invalid byte is U+FFFD of length 1.
CodePoint first_code_point(std::string_view text) noexcept;
void append_utf8(std::string& out, char32_t value);

// Returns the terminal columns, the same in every locale.
unsigned code_point_width(char32_t value) noexcept;
std::size_t display_width(std::string_view text) noexcept;

// Shortens to at most `columns`; a shortened text ends in `ellipsis`.
std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view ellipsis);

// Shortens to at most `columns` in the middle, so that both ends are kept.
std::string cut_middle(std::string_view text, std::size_t columns, std::string_view ellipsis);

// Breaks lines at spaces, so that they have at most `columns` (0: no limit); those after the first
// are indented. A word that is longer stays whole.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);

// Returns whether a terminal or viewer would act on the character instead of displaying
// it: control characters, bidirectional overrides and line separators.
bool needs_escape(char32_t c) noexcept;
// Appends \x1b or \u{202e} for such a character.
void append_text_escape(std::string& out, char32_t c);

// Formats a name as one visible line: control characters and bidirectional overrides become \n,
// \x1b, \u{202e}, and a backslash is doubled except on Windows. With ascii_only all other
// characters beyond ASCII are escaped too.
std::string escape_for_text(std::string_view name, bool ascii_only = false);

}  // namespace hmn::cli
