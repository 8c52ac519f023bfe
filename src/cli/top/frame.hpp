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
enum class Ramp : std::uint8_t { load, memory, power, heat };
inline constexpr unsigned ramp_count = 4;
inline constexpr unsigned ramp_steps = 8;

// Colour and emphasis of a cell. After `last_word` follow the steps of the ramps.
enum class Ink : std::uint8_t {
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
    static_cast<unsigned>(Ink::last_word) + 1 + ramp_count * ramp_steps;

// Returns the ink of a fraction of 0 to 1.
Ink ink_of(Ramp scale, double fraction) noexcept;
Ink ink_of(Tone with) noexcept;

// Look of an ink on a terminal.
struct Look {
  short colour = -1;        // of 256; -1: the terminal's own
  short basic_colour = -1;  // of 8
  bool is_bold = false;
  bool is_dim = false;
};
Look look_of(Ink with) noexcept;

struct Area {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  // Returns the area without a border of one cell.
  Area inside() const { return {x + 1, y + 1, width - 2, height - 2}; }
};

// Column of the terminal: a character with up to two marks that it combines with.
struct Cell {
  std::array<char32_t, 3> text{U' ', 0, 0};
  Ink with = Ink::plain;
  bool is_selected = false;
  bool is_tail = false;  // second column of a wide character

  bool operator==(const Cell&) const = default;
};

// Characters that a terminal can show.
struct Glyphs {
  bool unicode = false;     // braille, blocks and frames
  bool ascii_only = false;  // names are escaped
};

// What the screen shows, whatever shows it.
class Frame {
 public:
  Frame(int width, int height, Glyphs with);

  int width() const { return width_; }
  int height() const { return height_; }
  Area whole() const { return {0, 0, width_, height_}; }
  Glyphs with() const { return glyphs_; }
  bool has_unicode() const { return glyphs_.unicode; }
  const Cell& at(int x, int y) const { return cells_[index_of(x, y)]; }

  // Writes text that is already escaped, up to `limit` columns; returns the column after it.
  int put(int x, int y, std::string_view text, Ink with = Ink::plain, int limit = 1 << 20);
  // Writes it so that it ends before the column `end`.
  void put_right(int end, int y, std::string_view text, Ink with = Ink::plain);
  void put(int x, int y, char32_t character, Ink with = Ink::plain);
  void fill(Area where, char32_t character, Ink with);
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
  Glyphs glyphs_;
  std::vector<Cell> cells_;
};

// Returns the frame as lines without blanks at their ends.
std::string text_of(const Frame& of, bool colour);

// Text of a value, and how it is shown.
struct ValueText {
  std::string text;
  Ink with = Ink::plain;
};

// Returns the sign of a missing value. Its reason is on the page of the device or process.
ValueText missing_text(bool is_unsupported = false);
ValueText bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark = {},
                     bool is_unsupported = false);
ValueText rate_text(std::optional<double> bytes_per_second, bool is_unsupported = false);
// Formats "87%"; with a ramp the colour follows the value.
ValueText percent_text(std::optional<double> percent, Ramp with, bool is_unsupported = false);
// Formats "61°C".
std::string degrees_text(double celsius, bool unicode);

// Formats the age of a process: "42s", "3:05", "2:13:05", "5d03h".
std::string elapsed_text(std::uint64_t ns);

}  // namespace hmn::cli::top
