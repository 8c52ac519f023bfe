// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hmn::cli {

// Returns the terminal columns, the same in every locale.
unsigned width_of(char32_t value) noexcept;
std::size_t display_width(std::string_view text) noexcept;

// Shortens to at most `columns`; a shortened text ends in `ellipsis`.
std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view ellipsis);

// Shortens to at most `columns` in the middle, so that both ends are kept.
std::string cut_middle(std::string_view text, std::size_t columns, std::string_view ellipsis);

// Breaks lines at spaces, so that they have at most `columns` (0: no limit); those after the first
// are indented. A word that is longer stays whole.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace hmn::cli
