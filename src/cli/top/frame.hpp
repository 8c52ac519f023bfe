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
enum class ColourScale : std::uint8_t { load, memory, power, heat };
inline constexpr unsigned scale_count = 4;
inline constexpr unsigned scale_steps = 8;

// Colour and emphasis of a cell. The steps of the colour scales follow `last_fixed`.
enum class CellStyle : std::uint8_t {
  plain,
  strong,
  faint,
  good,
  warning,
  bad,
  title,   // the program's name, headings
  border,  // frames of charts
  accent,  // keys, the sorted column
  last_fixed = accent
};
inline constexpr unsigned style_count =
    static_cast<unsigned>(CellStyle::last_fixed) + 1 + scale_count * scale_steps;

// Returns the style of a fraction from 0 to 1.
CellStyle scale_style(ColourScale scale, double fraction) noexcept;
CellStyle tone_style(Tone tone) noexcept;

// How a terminal draws a style.
struct Attributes {
  short colour = -1;        // of 256; -1: the terminal's own
  short basic_colour = -1;  // of 8
  bool is_bold = false;
  bool is_dim = false;
};
Attributes find_attributes(CellStyle style) noexcept;

struct Area {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  // Returns the area without a border of one cell.
  Area inside() const { return {x + 1, y + 1, width - 2, height - 2}; }
};

// One column of a line: a character with up to two combining marks.
struct Cell {
  std::array<char32_t, 3> text{U' ', 0, 0};
  CellStyle style = CellStyle::plain;
  bool is_selected = false;
  bool is_tail = false;  // second column of a wide character

  bool operator==(const Cell&) const = default;
};

// Characters that a terminal can show.
struct Glyphs {
  bool unicode = false;     // braille, blocks and frames
  bool ascii_only = false;  // names are escaped
};

// Contents of the screen, independent of what displays them.
class Frame {
 public:
  Frame(int width, int height, Glyphs glyphs);

  int width() const { return width_; }
  int height() const { return height_; }
  Area bounds() const { return {0, 0, width_, height_}; }
  Glyphs glyphs() const { return glyphs_; }
  bool has_unicode() const { return glyphs_.unicode; }
  const Cell& at(int x, int y) const { return cells_[cell_index(x, y)]; }

  // Writes text that is already escaped, up to `limit` columns; returns the column after it.
  int put(int x, int y, std::string_view text, CellStyle style = CellStyle::plain,
          int limit = 1 << 20);
  // Writes it so that it ends before the column `end`.
  void put_right(int end, int y, std::string_view text, CellStyle style = CellStyle::plain);
  void put(int x, int y, char32_t character, CellStyle style = CellStyle::plain);
  void fill(Area area, char32_t character, CellStyle style);
  // Marks the cells of a line as selected, in one colour.
  void select(int x, int y, int width);

 private:
  std::size_t cell_index(int x, int y) const {
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
std::string format_frame(const Frame& frame, bool colour);

// Text of a value and its style.
struct StyledText {
  std::string text;
  CellStyle style = CellStyle::plain;
};

// Returns the sign of a missing value. Its reason is on the page of the device or process.
StyledText format_missing(bool is_unsupported = false);
StyledText format_bytes(std::optional<std::uint64_t> bytes, std::string_view mark = {},
                        bool is_unsupported = false);
StyledText format_rate(std::optional<double> bytes_per_second, bool is_unsupported = false);
// Formats "87%", in the scale's colour for that value.
StyledText format_percent(std::optional<double> percent, ColourScale scale,
                          bool is_unsupported = false);
// Formats "61°C".
std::string format_degrees(double celsius, bool unicode);

// Formats the age of a process: "42s", "3:05", "2:13:05", "5d03h".
std::string format_elapsed(std::uint64_t ns);

}  // namespace hmn::cli::top
