// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {
namespace {

enum BasicColour : short { red = 1, green, yellow, blue, magenta, cyan };

struct ScaleColours {
  short colours[scale_steps];
  short low, middle, high;  // of 8 colours
};
constexpr ScaleColours scale_colours[scale_count] = {
    {{71, 107, 143, 179, 215, 209, 203, 197}, green, yellow, red},
    {{61, 62, 68, 69, 75, 74, 80, 86}, blue, cyan, cyan},
    {{95, 131, 137, 173, 179, 215, 221, 227}, yellow, yellow, red},
    {{66, 72, 108, 144, 180, 216, 210, 203}, green, magenta, red},
};

constexpr unsigned first_scale_style = static_cast<unsigned>(CellStyle::last_fixed) + 1;

Attributes scale_attributes(unsigned position) noexcept {
  const auto& scale = scale_colours[position / scale_steps];
  const auto step = position % scale_steps;
  const short basic_colour = step < 3 ? scale.low : step < 6 ? scale.middle : scale.high;
  return {scale.colours[step], basic_colour, false, false};
}

}  // namespace

CellStyle scale_style(ColourScale scale, double fraction) noexcept {
  const auto step = static_cast<unsigned>(std::clamp(fraction, 0.0, 1.0) * (scale_steps - 1) + 0.5);
  return static_cast<CellStyle>(first_scale_style + static_cast<unsigned>(scale) * scale_steps +
                                step);
}

CellStyle tone_style(Tone tone) noexcept {
  switch (tone) {
    case Tone::strong:
      return CellStyle::strong;
    case Tone::faint:
      return CellStyle::faint;
    case Tone::good:
      return CellStyle::good;
    case Tone::warning:
      return CellStyle::warning;
    case Tone::bad:
      return CellStyle::bad;
    case Tone::plain:
      break;
  }
  return CellStyle::plain;
}

Attributes find_attributes(CellStyle style) noexcept {
  switch (style) {
    case CellStyle::plain:
      return {};
    case CellStyle::strong:
      return {-1, -1, true, false};
    case CellStyle::faint:
      return {245, -1, false, true};
    case CellStyle::good:
      return {71, green, false, false};
    case CellStyle::warning:
      return {179, yellow, false, false};
    case CellStyle::bad:
      return {203, red, true, false};
    case CellStyle::title:
      return {75, cyan, true, false};
    case CellStyle::border:
      return {240, -1, false, true};
    case CellStyle::accent:
      return {80, cyan, false, false};
  }
  return scale_attributes(static_cast<unsigned>(style) - first_scale_style);
}

namespace {

bool is_control_character(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

// Returns whether it changes the width of the character before it in some terminals only: joiners,
// variation selectors, skin tones.
bool changes_width(char32_t c) {
  return (c >= 0x200B && c <= 0x200D) || c == 0x2060 || (c >= 0xFE00 && c <= 0xFE0F) ||
         (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_blank(const Cell& cell, bool colour) {
  return cell.text[0] == U' ' && cell.text[1] == 0 && !(colour && cell.is_selected) &&
         !cell.is_tail;
}

// Returns the code of ECMA-48, "select graphic rendition".
std::string format_rendition(const Cell& cell) {
  const auto attributes = find_attributes(cell.style);
  std::string codes = "0";
  if (cell.is_selected) codes += ";7";
  if (attributes.is_bold) codes += ";1";
  if (attributes.is_dim && attributes.colour < 0) codes += ";2";
  if (attributes.colour >= 0) codes += fmt::format(";38;5;{}", attributes.colour);
  return "\x1b[" + codes + "m";
}

}  // namespace

Frame::Frame(int width, int height, Glyphs glyphs)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      glyphs_(glyphs),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

// Blanks the other half of a wide character of which one half is overwritten.
void Frame::split_wide(int x, int y) {
  auto& cell = cells_[cell_index(x, y)];
  if (cell.is_tail && x > 0) cells_[cell_index(x - 1, y)].text = {U' ', 0, 0};
  if (x + 1 < width_) {
    auto& next = cells_[cell_index(x + 1, y)];
    if (next.is_tail && !cell.is_tail) next = {};
  }
  cell.is_tail = false;
}

void Frame::put(int x, int y, char32_t character, CellStyle style) {
  if (!contains(x, y)) return;
  split_wide(x, y);
  const auto columns = code_point_width(character);
  auto& cell = cells_[cell_index(x, y)];
  cell.style = style;
  cell.text = {is_control_character(character) ? U'?' : character, 0, 0};
  if (columns != 2) return;
  if (!contains(x + 1, y)) {
    cell.text[0] = U' ';
    return;
  }
  split_wide(x + 1, y);
  auto& tail = cells_[cell_index(x + 1, y)];
  tail.text = {U' ', 0, 0};
  tail.style = style;
  tail.is_tail = true;
}

void Frame::add_mark(int x, int y, char32_t mark) {
  if (!contains(x, y)) return;
  auto& marks = cells_[cell_index(x, y)].text;
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i] == 0) {
      marks[i] = mark;
      return;
    }
}

int Frame::put(int x, int y, std::string_view text, CellStyle style, int limit) {
  const auto end = x + limit;
  int last = x;
  while (!text.empty()) {
    const auto next = first_code_point(text);
    const auto columns = static_cast<int>(code_point_width(next.value));
    if (x + columns > end) break;
    text.remove_prefix(next.length);
    if (changes_width(next.value)) continue;
    if (columns == 0) {
      add_mark(last, y, next.value);
      continue;
    }
    put(x, y, next.value, style);
    last = x;
    x += columns;
  }
  return x;
}

void Frame::put_right(int end, int y, std::string_view text, CellStyle style) {
  put(end - static_cast<int>(display_width(text)), y, text, style);
}

void Frame::fill(Area area, char32_t character, CellStyle style) {
  for (int y = area.y; y < area.y + area.height; ++y)
    for (int x = area.x; x < area.x + area.width; ++x) put(x, y, character, style);
}

void Frame::select(int x, int y, int width) {
  for (int i = x; i < x + width; ++i) {
    if (!contains(i, y)) continue;
    cells_[cell_index(i, y)].is_selected = true;
    cells_[cell_index(i, y)].style = CellStyle::plain;
  }
}

std::string format_frame(const Frame& frame, bool colour) {
  std::string out;
  for (int y = 0; y < frame.height(); ++y) {
    int end = frame.width();
    while (end > 0 && is_blank(frame.at(end - 1, y), colour)) --end;
    std::string current;
    for (int x = 0; x < end; ++x) {
      const auto& cell = frame.at(x, y);
      if (cell.is_tail) continue;
      if (colour)
        if (auto rendition = format_rendition(cell); rendition != current)
          out += current = std::move(rendition);
      for (const auto character : cell.text)
        if (character != 0) append_utf8(out, character);
    }
    if (colour && !current.empty()) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

StyledText format_missing(bool is_unsupported) {
  return {std::string(missing_sign(is_unsupported)), CellStyle::faint};
}

StyledText format_bytes(std::optional<std::uint64_t> bytes, std::string_view mark,
                        bool is_unsupported) {
  if (!bytes) return format_missing(is_unsupported);
  return {std::string(mark) + format_short_bytes(static_cast<double>(*bytes))};
}

StyledText format_rate(std::optional<double> bytes_per_second, bool is_unsupported) {
  if (!bytes_per_second) return format_missing(is_unsupported);
  return {format_short_bytes(*bytes_per_second) + "/s"};
}

StyledText format_percent(std::optional<double> percent, ColourScale scale, bool is_unsupported) {
  if (!percent) return format_missing(is_unsupported);
  return {fmt::format("{:.0f}%", *percent), scale_style(scale, *percent / 100)};
}

std::string format_degrees(double celsius, bool unicode) {
  return fmt::format("{:.0f}{}", celsius, unicode ? "\u00b0C" : "C");
}

std::string format_elapsed(std::uint64_t ns) {
  const auto seconds = ns / static_cast<std::uint64_t>(ns_per_s);
  const auto minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{}d{:02}h", days, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, seconds % 60);
  if (minutes > 0) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}s", seconds);
}

}  // namespace hmn::cli::top
