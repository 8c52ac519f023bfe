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

// Draws the visible entries; long values continue on further lines. Texts are not
// yet escaped.
void draw_entries(Frame& frame, Area area, const std::vector<Entry>& entries,
                  TextPosition& position, int label_columns = label_width);

// Wraps a text into lines of at most `width` columns.
std::vector<std::string> wrap_text(const std::string& text, int width);

// Pages that replace the main one. Each uses the area between header and footer.
void draw_help_page(Frame& frame, Area area, State& state);
void draw_gpu_page(Frame& frame, Area area, State& state);
void draw_process_page(Frame& frame, Area area, State& state);
void draw_columns_page(Frame& frame, Area area, const State& state);
void draw_signals_page(Frame& frame, Area area, const State& state);
void draw_confirmation(Frame& frame, Area area, const State& state);

// Draws the first line: a summary of the machine and the selection.
void draw_header(Frame& frame, const Layout& layout, const State& state);
// Draws the last line: keys, the filter, a question or a message.
void draw_footer(Frame& frame, const Layout& layout, const State& state);

// Draws keys and their effects: "q quit  / filter". Returns the column after them.
int put_hints(Frame& frame, int x, int y,
              std::initializer_list<std::pair<const char*, const char*>>);

// Draws the whole screen; the same for a terminal and for text.
Frame draw_screen(State& state, int width, int height, Glyphs glyphs);

// Returns the number of lines that a page down moves.
std::size_t count_page_lines(const State& state, int width, int height);

}  // namespace hmn::cli::top
