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
std::size_t least_width(const Table::Cell& of, const Table::Column& in) {
  const auto last = display_width(of.shorter.empty() ? of.text : of.shorter.back());
  return of.shorter.empty() || in.cut_middle ? std::min(last, in.least) : last;
}

std::string shown_in(const Table::Cell& of, const Table::Column& in, std::size_t width,
                     const Style& as) {
  if (display_width(of.text) <= width) return of.text;
  for (const auto& each : of.shorter)
    if (display_width(each) <= width) return each;
  const auto& last = of.shorter.empty() ? of.text : of.shorter.back();
  return in.cut_middle ? cut_middle(last, width, ellipsis_of(as))
                       : cut_to_width(last, width, ellipsis_of(as));
}

}  // namespace

std::size_t Table::line_width(const std::vector<std::size_t>& widths) const {
  return std::accumulate(widths.begin(), widths.end(), gap_ * (widths.size() - 1));
}

void Table::remove_empty() {
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const bool is_used = std::any_of(rows_.begin(), rows_.end(),
                                     [i](const auto& row) { return !row[i].text.empty(); });
    if (!columns_[i].is_optional || is_used) continue;
    columns_.erase(columns_.begin() + at);
    for (auto& row : rows_) row.erase(row.begin() + at);
  }
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (const auto& each : columns_) widths.push_back(display_width(each.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  return widths;
}

std::vector<std::size_t> Table::least_widths() const {
  auto widths = natural_widths();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!columns_[i].shrinks) continue;
    widths[i] = std::min(display_width(columns_[i].title), columns_[i].least);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], least_width(row[i], columns_[i]));
  }
  return widths;
}

bool Table::fits(std::size_t width) const {
  return line_width(least_widths()) <= width;
}

std::vector<std::size_t> Table::fitting_widths(std::size_t limit) const {
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

std::string Table::line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                        const Style& as) const {
  std::string out;
  std::size_t owed = 0;  // spaces, written only if more text follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto shown = shown_in(row[i], columns_[i], widths[i], as);
    const auto padding = widths[i] - display_width(shown);
    if (columns_[i].side == Align::right) owed += padding;
    if (!shown.empty()) {
      out.append(owed, ' ').append(paint(shown, row[i].with, as.colour));
      owed = 0;
    }
    owed += gap_ + (columns_[i].side == Align::left ? padding : 0);
  }
  return out.append("\n");
}

std::string Table::text(const Style& as) const {
  if (as.width > 0 && gap_ > 1 && !fits(as.width)) {
    auto narrow = *this;
    narrow.gap_ = 1;
    return narrow.text(as);
  }
  const auto widths = fitting_widths(as.width);
  std::vector<Cell> titles;
  for (const auto& each : columns_) titles.push_back({each.title, Tone::strong});
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

std::string_view mark_of(hypomnesis::note notes) noexcept {
  if (has(notes, hypomnesis::note::lower_bound)) return ">=";
  return has(notes, hypomnesis::note::estimated) ? "~" : "";
}

}  // namespace hmn::cli
