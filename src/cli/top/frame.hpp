// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/output.hpp"

namespace hmn::cli::top {

// Scale of colours of a quantity, from low to high.
enum class ramp : std::uint8_t { load, memory, power, heat };
inline constexpr unsigned ramp_count = 4;
inline constexpr unsigned ramp_steps = 8;

// Colour and emphasis of a cell. After `last_word` follow the steps of the ramps.
enum class ink : std::uint8_t {
  plain,
  strong,
  faint,
  good,
  warning,
  bad,
  title,   // the program's name, headings
  border,  // frames of charts
  accent,  // keys, the column that sorts
  last_word = accent
};
inline constexpr unsigned ink_count =
    static_cast<unsigned>(ink::last_word) + 1 + ramp_count * ramp_steps;

// Returns the ink of a fraction of 0 to 1.
ink ink_of(ramp scale, double fraction) noexcept;
ink ink_of(tone with) noexcept;

// Look of an ink on a terminal.
struct look {
  short colour = -1;        // of 256; -1: the terminal's own
  short basic_colour = -1;  // of 8
  bool is_bold = false;
  bool is_dim = false;
};
look look_of(ink with) noexcept;

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

// Text of a value, and how it is shown.
struct value_text {
  std::string text;
  ink with = ink::plain;
};

// Returns the sign of a missing value. Its reason is on the page of the device or process.
value_text missing_text(bool is_unsupported = false);
value_text bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark = {},
                      bool is_unsupported = false);
value_text rate_text(std::optional<double> bytes_per_second, bool is_unsupported = false);
// Formats "87%"; with a ramp the colour follows the value.
value_text percent_text(std::optional<double> percent, ramp with, bool is_unsupported = false);
// Formats "61°C".
std::string degrees_text(double celsius, bool unicode);

// Formats the age of a process: "42s", "3:05", "2:13:05", "5d03h".
std::string elapsed_text(std::uint64_t ns);

}  // namespace hmn::cli::top
