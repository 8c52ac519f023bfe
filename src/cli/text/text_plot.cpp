// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t default_width = 80;
constexpr std::size_t label_width = 9;
constexpr std::size_t memory_lines = 6;
constexpr std::size_t value_lines = 3;

Tone series_tone(SeriesColour colour) {
  if (colour == SeriesColour::first) return Tone::good;
  return colour == SeriesColour::second ? Tone::warning : Tone::faint;
}

// Dots of a panel: 2 by 4 in a Braille character, 1 by 2 in an ASCII one.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t lines, bool braille)
      : braille_(braille),
        columns_(columns),
        lines_(lines),
        dots_(columns * lines, 0),
        tones_(columns * lines, Tone::plain) {}

  std::size_t width() const { return columns_ * (braille_ ? 2 : 1); }
  std::size_t height() const { return lines_ * (braille_ ? 4 : 2); }
  // Sets a dot; y counts from the lower edge.
  void set(std::size_t x, std::size_t y, Tone tone) {
    if (x >= width() || y >= height()) return;
    const auto row = height() - 1 - y;
    const auto index = row / (height() / lines_) * columns_ + x / (width() / columns_);
    // Unicode 15.1, Braille patterns: dots 1 to 3 and 7 on the left, 4 to 6 and 8 on the right.
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    dots_[index] |= braille_ ? bits[row % 4][x % 2] : 1U << row % 2;
    tones_[index] = tone;
  }
  std::string line(std::size_t number, bool colour) const {
    std::string out;
    for (std::size_t i = 0; i < columns_; ++i) {
      const auto index = number * columns_ + i;
      out +=
          paint(character(dots_[index]), dots_[index] == 0 ? Tone::plain : tones_[index], colour);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }

 private:
  std::string character(unsigned dots) const {
    constexpr std::string_view ascii[] = {" ", "'", ".", "|"};
    if (dots == 0) return " ";
    if (!braille_) return std::string(ascii[dots]);
    std::string out;
    append_utf8(out, 0x2800 + dots);
    return out;
  }

  bool braille_;
  std::size_t columns_;
  std::size_t lines_;
  std::vector<unsigned> dots_;
  std::vector<Tone> tones_;
};

std::size_t find_dot(double value, double highest, std::size_t count) {
  const auto dot = std::max(0.0, value / highest) * static_cast<double>(count - 1) + 0.5;
  return std::min(static_cast<std::size_t>(dot), count - 1);
}

// Joins each point with the previous one, unless a gap is between them.
void draw_series(Canvas& canvas, const PlotSeries& series, double highest,
                 std::uint64_t duration_ns) {
  const auto duration = std::max<double>(1, static_cast<double>(duration_ns));
  const auto tone = series_tone(series.colour);
  std::size_t last_x = 0, last_y = 0;
  bool has_previous = false;
  for (const auto& point : series.values->points()) {
    const auto x = find_dot(static_cast<double>(point.time_ns), duration, canvas.width());
    const auto low = find_dot(point.low, highest, canvas.height());
    const auto high = find_dot(point.high, highest, canvas.height());
    const auto start = has_previous && !point.follows_gap ? last_x : x;
    for (auto i = start; i < x; ++i)
      for (std::size_t y = series.is_filled ? 0 : last_y; y <= last_y; ++y) canvas.set(i, y, tone);
    const auto bottom = has_previous && !point.follows_gap ? std::min(low, last_y) : low;
    const auto top = has_previous && !point.follows_gap ? std::max(high, last_y) : high;
    for (std::size_t y = series.is_filled ? 0 : bottom; y <= (series.is_filled ? high : top); ++y)
      canvas.set(x, y, tone);
    last_x = x;
    last_y = high;
    has_previous = true;
  }
}

// Lists the lines with their peaks, as many next to each other as fit.
std::string format_legend(const PlotPanel& panel, std::size_t width, const Style& style) {
  const std::string indent(label_width + 1, ' ');
  std::string text;
  std::size_t used = 0;
  for (const auto& series : panel.series) {
    const auto entry = escape_for_text(format_peak(series, panel.unit), style.ascii_only);
    const auto entry_width = display_width(entry) + 2;
    const bool starts_line = used == 0 || used + entry_width > width;
    text += starts_line ? (used == 0 ? "" : "\n") + indent : "; ";
    used = (starts_line ? indent.size() : used) + entry_width;
    text += paint(entry, series_tone(series.colour), style.colour);
  }
  return text + "\n";
}

std::string pad_label(std::string_view text) {
  return fmt::format("{:>{}}", text, label_width - 1);
}

std::string format_panel(const PlotPanel& panel, double highest, std::uint64_t duration_ns,
                         std::size_t width, const Style& style) {
  const auto title =
      cut_middle(escape_for_text(panel.title, style.ascii_only), width, choose_ellipsis(style));
  auto out = paint(title, Tone::strong, style.colour) + "\n";
  if (is_empty(panel)) {
    const auto reason = "not known: " + escape_for_text(panel.empty_reason, style.ascii_only);
    return out + wrap("  " + reason, width, 2) + "\n";
  }
  Canvas canvas(width - label_width - 1, panel.unit == PlotUnit::bytes ? memory_lines : value_lines,
                style.unicode);
  for (const auto& series : panel.series) draw_series(canvas, series, highest, duration_ns);
  const auto lines = panel.unit == PlotUnit::bytes ? memory_lines : value_lines;
  const std::string_view edge = style.unicode ? "\u2502" : "|";
  for (std::size_t i = 0; i < lines; ++i) {
    const auto label = i == 0 ? format_value(highest, panel.unit) : i + 1 == lines ? "0" : "";
    out += fmt::format("{} {}{}\n", pad_label(label), edge, canvas.line(i, style.colour));
  }
  return out + format_legend(panel, width, style);
}

}  // namespace

std::string draw_text_plot(const Plot& plot, const Style& style) {
  const auto width = std::max<std::size_t>(style.width > 0 ? style.width : default_width, 40);
  const auto tops = find_panel_tops(plot);
  std::string out;
  for (std::size_t i = 0; i < plot.panels.size(); ++i)
    out += format_panel(plot.panels[i], tops[i], plot.duration_ns, width, style);
  const auto end = format_offset(plot.duration_ns);
  out += fmt::format("{} 0{:>{}}\n", std::string(label_width, ' '), end, width - label_width - 2);
  return plot.footnote.empty() ? out : out + plot.footnote + "\n";
}

}  // namespace hmn::cli
