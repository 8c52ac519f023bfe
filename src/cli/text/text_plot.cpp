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

constexpr std::size_t usual_width = 80;
constexpr std::size_t label_width = 9;
constexpr std::size_t memory_lines = 6;
constexpr std::size_t value_lines = 3;

Tone tone_of(Ink with) {
  if (with == Ink::first) return Tone::good;
  return with == Ink::second ? Tone::warning : Tone::faint;
}

// Dots of a panel: 2 by 4 of a character of Braille, 1 by 2 of one of ASCII.
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
  void set(std::size_t x, std::size_t y, Tone with) {
    if (x >= width() || y >= height()) return;
    const auto row = height() - 1 - y;
    const auto at = row / (height() / lines_) * columns_ + x / (width() / columns_);
    // Unicode 15.1, Braille patterns: dots 1 to 3 and 7 on the left, 4 to 6 and 8 on the right.
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    dots_[at] |= braille_ ? bits[row % 4][x % 2] : 1U << row % 2;
    tones_[at] = with;
  }
  std::string line(std::size_t number, bool colour) const {
    std::string out;
    for (std::size_t i = 0; i < columns_; ++i) {
      const auto at = number * columns_ + i;
      out += paint(character(dots_[at]), dots_[at] == 0 ? Tone::plain : tones_[at], colour);
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

std::size_t position(double value, double highest, std::size_t count) {
  const auto at = std::max(0.0, value / highest) * static_cast<double>(count - 1) + 0.5;
  return std::min(static_cast<std::size_t>(at), count - 1);
}

// Joins a point with the one before, unless something unknown is between them.
void draw(Canvas& on, const PlotSeries& of, double highest, std::uint64_t duration_ns) {
  const auto longest = std::max<double>(1, static_cast<double>(duration_ns));
  const auto with = tone_of(of.with);
  std::size_t last_x = 0, last_y = 0;
  bool has_last = false;
  for (const auto& each : of.values->points()) {
    const auto x = position(static_cast<double>(each.at_ns), longest, on.width());
    const auto low = position(each.low, highest, on.height());
    const auto high = position(each.high, highest, on.height());
    const auto from = has_last && !each.after_gap ? last_x : x;
    for (auto i = from; i < x; ++i)
      for (std::size_t y = of.is_filled ? 0 : last_y; y <= last_y; ++y) on.set(i, y, with);
    const auto joined = has_last && !each.after_gap ? std::min(low, last_y) : low;
    const auto top = has_last && !each.after_gap ? std::max(high, last_y) : high;
    for (std::size_t y = of.is_filled ? 0 : joined; y <= (of.is_filled ? high : top); ++y)
      on.set(x, y, with);
    last_x = x;
    last_y = high;
    has_last = true;
  }
}

// Lists the lines with their peaks, as many next to each other as fit.
std::string legend_of(const PlotPanel& of, std::size_t width, const Style& as) {
  const std::string indent(label_width + 1, ' ');
  std::string text;
  std::size_t used = 0;
  for (const auto& each : of.series) {
    const auto entry = escape_for_text(peak_text(each, of.unit), as.ascii_only);
    const auto needed = display_width(entry) + 2;
    const bool begins = used == 0 || used + needed > width;
    text += begins ? (used == 0 ? "" : "\n") + indent : "; ";
    used = (begins ? indent.size() : used) + needed;
    text += paint(entry, tone_of(each.with), as.colour);
  }
  return text + "\n";
}

std::string padded(std::string_view text) {
  return fmt::format("{:>{}}", text, label_width - 1);
}

std::string panel_text(const PlotPanel& of, double highest, std::uint64_t duration_ns,
                       std::size_t width, const Style& as) {
  const auto title = cut_middle(escape_for_text(of.title, as.ascii_only), width, ellipsis_of(as));
  auto out = paint(title, Tone::strong, as.colour) + "\n";
  if (is_empty(of)) {
    const auto why = "not known: " + escape_for_text(of.why_empty, as.ascii_only);
    return out + wrap("  " + why, width, 2) + "\n";
  }
  Canvas dots(width - label_width - 1, of.unit == PlotUnit::bytes ? memory_lines : value_lines,
              as.unicode);
  for (const auto& each : of.series) draw(dots, each, highest, duration_ns);
  const auto lines = of.unit == PlotUnit::bytes ? memory_lines : value_lines;
  const std::string_view edge = as.unicode ? "\u2502" : "|";
  for (std::size_t i = 0; i < lines; ++i) {
    const auto label = i == 0 ? value_text(highest, of.unit) : i + 1 == lines ? "0" : "";
    out += fmt::format("{} {}{}\n", padded(label), edge, dots.line(i, as.colour));
  }
  return out + legend_of(of, width, as);
}

}  // namespace

std::string text_of(const Plot& of, const Style& as) {
  const auto width = std::max<std::size_t>(as.width > 0 ? as.width : usual_width, 40);
  const auto tops = tops_of(of);
  std::string out;
  for (std::size_t i = 0; i < of.panels.size(); ++i)
    out += panel_text(of.panels[i], tops[i], of.duration_ns, width, as);
  const auto end = offset_text(of.duration_ns);
  out += fmt::format("{} 0{:>{}}\n", std::string(label_width, ' '), end, width - label_width - 2);
  return of.footnote.empty() ? out : out + of.footnote + "\n";
}

}  // namespace hmn::cli
