// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/table.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "cli/text/unicode.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

// Returns the width to which a cell may be shortened.
std::size_t least_width(const table::cell& of, const table::column& in) {
  const auto last = display_width(of.shorter.empty() ? of.text : of.shorter.back());
  return of.shorter.empty() || in.cut_middle ? std::min(last, in.least) : last;
}

std::string shown_in(const table::cell& of, const table::column& in, std::size_t width,
                     const style& as) {
  if (display_width(of.text) <= width) return of.text;
  for (const auto& each : of.shorter)
    if (display_width(each) <= width) return each;
  const auto& last = of.shorter.empty() ? of.text : of.shorter.back();
  return in.cut_middle ? cut_middle(last, width, ellipsis_of(as))
                       : cut_to_width(last, width, ellipsis_of(as));
}

}  // namespace

std::size_t table::line_width(const std::vector<std::size_t>& widths) const {
  return std::accumulate(widths.begin(), widths.end(), gap_ * (widths.size() - 1));
}

void table::remove_empty() {
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const bool is_used = std::any_of(rows_.begin(), rows_.end(),
                                     [i](const auto& row) { return !row[i].text.empty(); });
    if (!columns_[i].is_optional || is_used) continue;
    columns_.erase(columns_.begin() + at);
    for (auto& row : rows_) row.erase(row.begin() + at);
  }
}

std::vector<std::size_t> table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (const auto& each : columns_) widths.push_back(display_width(each.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  return widths;
}

std::vector<std::size_t> table::least_widths() const {
  auto widths = natural_widths();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!columns_[i].shrinks) continue;
    widths[i] = std::min(display_width(columns_[i].title), columns_[i].least);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], least_width(row[i], columns_[i]));
  }
  return widths;
}

bool table::fits(std::size_t width) const {
  return line_width(least_widths()) <= width;
}

std::vector<std::size_t> table::fitting_widths(std::size_t limit) const {
  auto widths = natural_widths();
  const auto least = least_widths();
  while (limit > 0 && line_width(widths) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].shrinks && widths[i] > least[i] && (widest == nullptr || widths[i] > *widest))
        widest = &widths[i];
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string table::line(const std::vector<cell>& row, const std::vector<std::size_t>& widths,
                        const style& as) const {
  std::string out;
  std::size_t owed = 0;  // spaces, written only if more text follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto shown = shown_in(row[i], columns_[i], widths[i], as);
    const auto padding = widths[i] - display_width(shown);
    if (columns_[i].side == align::right) owed += padding;
    if (!shown.empty()) {
      out.append(owed, ' ').append(paint(shown, row[i].with, as.colour));
      owed = 0;
    }
    owed += gap_ + (columns_[i].side == align::left ? padding : 0);
  }
  return out.append("\n");
}

std::string table::text(const style& as) const {
  if (as.width > 0 && gap_ > 1 && !fits(as.width)) {
    auto narrow = *this;
    narrow.gap_ = 1;
    return narrow.text(as);
  }
  const auto widths = fitting_widths(as.width);
  std::vector<cell> titles;
  for (const auto& each : columns_) titles.push_back({each.title, tone::strong});
  std::string out = line(titles, widths, as);
  for (const auto& row : rows_) out += line(row, widths, as);
  return out;
}

namespace {

constexpr char32_t full_block = 0x2588;

unsigned filled_steps(double fraction, unsigned steps) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return steps;
  return std::clamp(static_cast<unsigned>(fraction * steps + 0.5), 1u, std::max(steps - 1, 1u));
}

std::string ascii_cells(double fraction, unsigned cells) {
  const auto filled = filled_steps(fraction, cells);
  return std::string(filled, '#') + std::string(cells - filled, '-');
}

// Uses U+2588 for a whole block, U+2589 for seven eighths, … U+258F for one eighth.
std::string block_cells(double fraction, unsigned cells) {
  const auto eighths = filled_steps(fraction, cells * 8);
  std::string out;
  for (unsigned i = 0; i < eighths / 8; ++i) append_utf8(out, full_block);
  const auto part = eighths % 8;
  if (part > 0) append_utf8(out, full_block + 8 - part);
  out.append(cells - (eighths + 7) / 8, ' ');
  return out;
}

}  // namespace

std::string draw_bar(double fraction, unsigned cells, bool unicode) {
  std::string out(1, '[');
  out += unicode ? block_cells(fraction, cells) : ascii_cells(fraction, cells);
  return out += ']';
}

namespace {

using hypomnesis::note;

constexpr std::size_t widest_bar = 20;
constexpr std::size_t narrowest_bar = 8;
constexpr std::size_t brackets = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t shortest_label = 16;

struct columns {
  std::size_t label = 0;
  std::size_t bar = 0;    // cells; 0: no bar
  std::size_t words = 0;  // longest line
  int free = 0;
  int total = 0;

  std::size_t bar_width() const { return bar == 0 ? 0 : bar + brackets + gap; }
};

std::string free_text(const memory_line& of) {
  return of.free ? fmt::format("{}{}", of.mark, *of.free / mib) : "?";
}

std::string total_text(const memory_line& of) {
  return of.total ? fmt::to_string(*of.total / mib) : "";
}

// Returns the part that is never cut.
std::string amounts_of(const memory_line& of, const columns& at) {
  if (of.silent) return of.before;
  if (!of.free && !of.total) return of.before + "memory unknown";
  if (!of.free) return fmt::format("{}total {:>{}} MiB", of.before, total_text(of), at.total);
  if (!of.total) {
    return fmt::format("{}{} {:>{}} MiB, total unknown", of.before, of.verb, free_text(of),
                       at.free);
  }
  return fmt::format("{}{} {:>{}} MiB / {:>{}} MiB", of.before, of.verb, free_text(of), at.free,
                     total_text(of), at.total);
}

columns natural_columns(const std::vector<memory_line>& lines) {
  columns at;
  at.bar = widest_bar;
  for (const auto& each : lines) {
    at.label = std::max(at.label, display_width(each.label));
    at.free = std::max(at.free, static_cast<int>(free_text(each).size()));
    at.total = std::max(at.total, static_cast<int>(total_text(each).size()));
  }
  for (const auto& each : lines)
    if (!each.silent)
      at.words = std::max(at.words, display_width(amounts_of(each, at) + each.after));
  return at;
}

std::size_t longest_amounts(const std::vector<memory_line>& lines, const columns& at) {
  std::size_t longest = 0;
  for (const auto& each : lines)
    if (!each.silent) longest = std::max(longest, display_width(amounts_of(each, at)));
  return longest;
}

// Reduces `column` by the excess, but not below `least`.
void shrink(std::size_t& column, std::size_t least, std::size_t& too_much) {
  const auto by = std::min(too_much, column - std::min(column, least));
  column -= by;
  too_much -= by;
}

// Shrinks the bar first, then the label, then the text after the values, and finally drops the bar.
columns fitting_columns(const std::vector<memory_line>& lines, std::size_t width) {
  auto at = natural_columns(lines);
  const auto all = at.label + gap + at.bar_width() + at.words;
  auto too_much = all > width ? all - width : 0;
  shrink(at.bar, narrowest_bar, too_much);
  shrink(at.label, std::min(at.label, shortest_label), too_much);
  const auto amounts = longest_amounts(lines, at);
  shrink(at.words, amounts, too_much);
  if (too_much == 0) return at;
  at.bar = 0;
  at.words = std::max(amounts, width - std::min(width, at.label + gap));
  return at;
}

std::string bar_column(const memory_line& of, const columns& at, const style& as) {
  if (at.bar == 0 || of.silent) return {};
  if (!of.used) return std::string(at.bar_width(), ' ');
  const auto bar = draw_bar(*of.used, static_cast<unsigned>(at.bar), as.unicode);
  return paint(bar, tone_of_usage(*of.used), as.colour) + std::string(gap, ' ');
}

std::string terminal_line(const memory_line& of, const columns& at, const style& as) {
  const auto ellipsis = ellipsis_of(as);
  const auto label = cut_to_width(of.label, at.label, ellipsis);
  const auto padding = at.label - display_width(label) + gap;
  const auto amounts = amounts_of(of, at);
  const auto after_width = std::max(at.words, display_width(amounts)) - display_width(amounts);
  const bool is_toned = at.bar == 0 && of.used;
  return paint(label, tone::strong, as.colour) + std::string(padding, ' ') +
         bar_column(of, at, as) +
         paint(amounts, is_toned ? tone_of_usage(*of.used) : tone::plain, as.colour) +
         cut_to_width(of.after, after_width, ellipsis) + "\n";
}

}  // namespace

std::string_view mark_of(hypomnesis::note notes) noexcept {
  if (has(notes, note::lower_bound)) return ">=";
  return has(notes, note::estimated) ? "~" : "";
}

std::string render(const std::vector<memory_line>& lines, const style& as) {
  std::string out;
  if (!as.terminal) {
    for (const auto& each : lines)
      out += each.label + ": " + amounts_of(each, {}) + each.after + "\n";
    return out;
  }
  const auto at = as.width == 0 ? natural_columns(lines) : fitting_columns(lines, as.width);
  for (const auto& each : lines) out += terminal_line(each, at, as);
  return out;
}

}  // namespace hmn::cli
