// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Draws the whole screen; the same for a terminal and for text.
frame draw_screen(state& of, int width, int height, glyphs with);

// Returns the lines that a page down moves by.
std::size_t page_lines_of(const state& of, int width, int height);

}  // namespace hmn::cli::top
