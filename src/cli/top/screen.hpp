// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Labelled value of a page; an unknown one has its reason.
struct Entry {
  std::string label;
  std::string value;  // empty: unknown
  std::string reason;
};

inline constexpr int label_width = 20;

// Draws entries, as far as they are scrolled; long values continue on further lines. Texts are not
// yet escaped.
void draw_entries(Frame& on, Area where, const std::vector<Entry>& all, TextPosition& in,
                  int labels = label_width);

// Returns the lines of a text that is cut at `width` columns.
std::vector<std::string> wrapped(const std::string& text, int width);

// Pages that take the place of the main one. Each uses the area between header and footer.
void draw_help_page(Frame& on, Area where, State& of);
void draw_gpu_page(Frame& on, Area where, State& of);
void draw_process_page(Frame& on, Area where, State& of);
void draw_columns_page(Frame& on, Area where, const State& of);
void draw_signals_page(Frame& on, Area where, const State& of);
void draw_confirmation(Frame& on, Area where, const State& of);

// Draws the first line: the machine, and what is shown of it.
void draw_header(Frame& on, const Layout& in, const State& of);
// Draws the last line: keys, the filter, a question or a message.
void draw_footer(Frame& on, const Layout& in, const State& of);

// Draws keys and their effects in turn: "q quit  / filter".
int put_hints(Frame& on, int x, int y, std::initializer_list<std::pair<const char*, const char*>>);

// Draws the whole screen; the same for a terminal and for text.
Frame draw_screen(State& of, int width, int height, Glyphs with);

// Returns the lines that a page down moves by.
std::size_t page_lines_of(const State& of, int width, int height);

}  // namespace hmn::cli::top
