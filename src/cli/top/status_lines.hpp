// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/frame.hpp"
#include "cli/top/layout.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Draws the first line: the machine, and what is shown of it.
void draw_header(frame& on, const layout& in, const state& of);
// Draws the last line: keys, the filter, a question or a message.
void draw_footer(frame& on, const layout& in, const state& of);

// Draws keys and their effects in turn: "q quit  / filter".
int put_hints(frame& on, int x, int y, std::initializer_list<std::pair<const char*, const char*>>);

}  // namespace hmn::cli::top
