// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/ink.hpp"

namespace hmn::cli::top {

struct area {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  // Returns the area without a border of one cell.
  area inside() const { return {x + 1, y + 1, width - 2, height - 2}; }
};

// Column of the terminal: a character with up to two marks that it combines with.
struct cell {
  std::array<char32_t, 3> text{U' ', 0, 0};
  ink with = ink::plain;
  bool is_selected = false;
  bool is_tail = false;  // second column of a wide character

  bool operator==(const cell&) const = default;
};

// Characters that a terminal can show.
struct glyphs {
  bool unicode = false;     // braille, blocks and frames
  bool ascii_only = false;  // names are escaped
};

// What the screen shows, whatever shows it.
class frame {
 public:
  frame(int width, int height, glyphs with);

  int width() const { return width_; }
  int height() const { return height_; }
  area whole() const { return {0, 0, width_, height_}; }
  glyphs with() const { return glyphs_; }
  bool has_unicode() const { return glyphs_.unicode; }
  const cell& at(int x, int y) const { return cells_[index_of(x, y)]; }

  // Writes text that is already escaped, up to `limit` columns; returns the column after it.
  int put(int x, int y, std::string_view text, ink with = ink::plain, int limit = 1 << 20);
  // Writes it so that it ends before the column `end`.
  void put_right(int end, int y, std::string_view text, ink with = ink::plain);
  void put(int x, int y, char32_t character, ink with = ink::plain);
  void fill(area where, char32_t character, ink with);
  // Marks the cells of a line as selected, in one colour.
  void select(int x, int y, int width);

 private:
  std::size_t index_of(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  void add_mark(int x, int y, char32_t mark);
  void split_wide(int x, int y);

  int width_;
  int height_;
  glyphs glyphs_;
  std::vector<cell> cells_;
};

// Returns the frame as lines without blanks at their ends.
std::string text_of(const frame& of, bool colour);

}  // namespace hmn::cli::top
