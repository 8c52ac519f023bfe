// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/text/width.hpp"

namespace hmn::cli::top {
namespace {

constexpr int dots_across = 2;
constexpr int dots_down = 4;

// Dots of one cell of a braille pattern (U+2800), from the lowest to the highest.
constexpr std::array<std::array<unsigned, dots_down>, dots_across> braille_dots{
    {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};

struct box_lines {
  char32_t across, down, corners[4];
};
constexpr box_lines rounded{U'─', U'│', {U'╭', U'╮', U'╰', U'╯'}};
constexpr box_lines plain_lines{U'-', U'|', {U'+', U'+', U'+', U'+'}};

// Times of the columns of a curve. They are whole multiples of their length, so that a curve moves
// by whole dots.
class time_axis {
 public:
  time_axis(const time_window& in, int columns)
      : step_(std::max<std::uint64_t>(1, facts_of(in.of).ns / static_cast<unsigned>(columns))),
        last_(in.now_ns / step_),
        columns_(columns),
        in_(in) {}

  std::optional<history::range> at(const history& of, int column) const {
    const auto back = static_cast<std::uint64_t>(columns_ - 1 - column);
    if (back > last_) return std::nullopt;
    const auto begin = (last_ - back) * step_;
    return of.between(in_.of, begin, begin + step_, in_.hold_ns);
  }

 private:
  std::uint64_t step_;
  std::uint64_t last_;
  int columns_;
  const time_window& in_;
};

// Returns how many of `most` levels a value fills; a known one has at least one.
int levels_of(double value, double top, int most) {
  if (!(top > 0)) return 1;
  return std::clamp(static_cast<int>(std::lround(value / top * most)), 1, most);
}

int levels_at(const time_axis& times, const curve& what, int column, int most) {
  const auto found = times.at(*what.of, column);
  return found ? levels_of(static_cast<double>(found->high), what.top, most) : 0;
}

unsigned pattern_of(int level, int row, unsigned side, bool is_hanging) {
  unsigned dots = 0;
  for (int i = 0; i < dots_down; ++i)
    if (level > row * dots_down + i)
      dots |= braille_dots[side][static_cast<std::size_t>(is_hanging ? dots_down - 1 - i : i)];
  return dots;
}

char32_t ascii_level(int level, int row) {
  constexpr char32_t partly[] = {U' ', U'.', U':', U'|', U'#'};
  return partly[std::clamp(level - row * dots_down, 0, dots_down)];
}

int row_y(const area& where, const curve& what, int row) {
  return what.is_hanging ? where.y + row : where.y + where.height - 1 - row;
}

ink ink_of_row(const curve& what, int row, int rows) {
  return ink_of(what.with, rows < 2 ? 0.5 : static_cast<double>(row) / (rows - 1));
}

void draw_column(frame& on, const area& where, const curve& what, int x, std::array<int, 2> level) {
  for (int row = 0; row < where.height; ++row) {
    char32_t shown = ascii_level(std::max(level[0], level[1]), row);
    if (on.has_unicode()) {
      const auto dots = pattern_of(level[0], row, 0, what.is_hanging) |
                        pattern_of(level[1], row, 1, what.is_hanging);
      shown = dots == 0 ? U' ' : U'\u2800' + dots;
    }
    if (shown == U' ') return;
    on.put(where.x + x, row_y(where, what, row), shown, ink_of_row(what, row, where.height));
  }
}

}  // namespace

void draw_curve(frame& on, area where, const curve& what, const time_window& in) {
  if (what.of == nullptr || where.width <= 0 || where.height <= 0) return;
  const time_axis times(in, where.width * dots_across);
  const int most = where.height * dots_down;
  for (int x = 0; x < where.width; ++x)
    draw_column(on, where, what, x,
                {levels_at(times, what, 2 * x, most), levels_at(times, what, 2 * x + 1, most)});
}

void draw_box(frame& on, area where, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale) {
  const auto& lines = on.has_unicode() ? rounded : plain_lines;
  const int right = where.x + where.width - 1, bottom = where.y + where.height - 1;
  on.fill({where.x + 1, where.y, where.width - 2, 1}, lines.across, ink::border);
  on.fill({where.x + 1, bottom, where.width - 2, 1}, lines.across, ink::border);
  on.fill({where.x, where.y + 1, 1, where.height - 2}, lines.down, ink::border);
  on.fill({right, where.y + 1, 1, where.height - 2}, lines.down, ink::border);
  on.put(where.x, where.y, lines.corners[0], ink::border);
  on.put(right, where.y, lines.corners[1], ink::border);
  on.put(where.x, bottom, lines.corners[2], ink::border);
  on.put(right, bottom, lines.corners[3], ink::border);
  const auto label = [&](int x, int y, std::string_view text, ink with) {
    if (!text.empty()) on.put(x, y, " " + std::string(text) + " ", with, right - x);
  };
  const auto width_of_text = [](std::string_view text) {
    return text.empty() ? 0 : static_cast<int>(display_width(text)) + 2;
  };
  label(where.x + 1, where.y, title, ink::title);
  if (width_of_text(title) + width_of_text(value) < where.width - 2)
    label(right - 1 - width_of_text(value), where.y, value, ink::strong);
  label(where.x + 1, bottom, footer, ink::faint);
  if (width_of_text(footer) + width_of_text(scale) < where.width - 2)
    label(right - 1 - width_of_text(scale), bottom, scale, ink::faint);
}

void draw_chart(frame& on, area where, const chart& what, const time_window& in) {
  const auto needed = display_width(what.title) + display_width(what.value) + 6;
  const bool is_narrow = !what.short_value.empty() && static_cast<int>(needed) > where.width;
  draw_box(on, where, what.title, is_narrow ? what.short_value : what.value, facts_of(in.of).name,
           what.scale);
  auto inner = where.inside();
  if (what.second.of == nullptr) return draw_curve(on, inner, what.first, in);
  auto upper = inner, lower = inner;
  upper.height = (inner.height + 1) / 2;
  lower.y += upper.height;
  lower.height = inner.height - upper.height;
  draw_curve(on, upper, what.first, in);
  draw_curve(on, lower, what.second, in);
}

}  // namespace hmn::cli::top
