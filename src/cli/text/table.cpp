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
std::size_t min_cell_width(const Table::Cell& cell, const Table::Column& column) {
  const auto shortest = display_width(cell.shorter.empty() ? cell.text : cell.shorter.back());
  return cell.shorter.empty() || column.cut_middle ? std::min(shortest, column.min_width)
                                                   : shortest;
}

std::string fit_cell(const Table::Cell& cell, const Table::Column& column, std::size_t width,
                     const Style& style) {
  if (display_width(cell.text) <= width) return cell.text;
  for (const auto& text : cell.shorter)
    if (display_width(text) <= width) return text;
  const auto& shortest = cell.shorter.empty() ? cell.text : cell.shorter.back();
  return column.cut_middle ? cut_middle(shortest, width, choose_ellipsis(style))
                           : cut_to_width(shortest, width, choose_ellipsis(style));
}

}  // namespace

std::size_t Table::line_width(const std::vector<std::size_t>& widths) const {
  return std::accumulate(widths.begin(), widths.end(), gap_ * (widths.size() - 1));
}

void Table::remove_empty() {
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const auto offset = static_cast<std::ptrdiff_t>(i);
    const bool is_used = std::any_of(rows_.begin(), rows_.end(),
                                     [i](const auto& row) { return !row[i].text.empty(); });
    if (!columns_[i].is_optional || is_used) continue;
    columns_.erase(columns_.begin() + offset);
    for (auto& row : rows_) row.erase(row.begin() + offset);
  }
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  return widths;
}

std::vector<std::size_t> Table::min_widths() const {
  auto widths = natural_widths();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!columns_[i].shrinks) continue;
    widths[i] = std::min(display_width(columns_[i].title), columns_[i].min_width);
    for (const auto& row : rows_)
      widths[i] = std::max(widths[i], min_cell_width(row[i], columns_[i]));
  }
  return widths;
}

bool Table::fits(std::size_t width) const {
  return line_width(min_widths()) <= width;
}

std::vector<std::size_t> Table::fitting_widths(std::size_t limit) const {
  auto widths = natural_widths();
  const auto minima = min_widths();
  while (limit > 0 && line_width(widths) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].shrinks && widths[i] > minima[i] &&
          (widest == nullptr || widths[i] > *widest))
        widest = &widths[i];
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string Table::format_line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                               const Style& style) const {
  std::string out;
  std::size_t pending_spaces = 0;  // written only if more text follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto cell_text = fit_cell(row[i], columns_[i], widths[i], style);
    const auto padding = widths[i] - display_width(cell_text);
    if (columns_[i].alignment == Align::right) pending_spaces += padding;
    if (!cell_text.empty()) {
      out.append(pending_spaces, ' ').append(paint(cell_text, row[i].tone, style.colour));
      pending_spaces = 0;
    }
    pending_spaces += gap_ + (columns_[i].alignment == Align::left ? padding : 0);
  }
  return out.append("\n");
}

std::string Table::text(const Style& style) const {
  if (style.width > 0 && gap_ > 1 && !fits(style.width)) {
    auto narrow = *this;
    narrow.gap_ = 1;
    return narrow.text(style);
  }
  const auto widths = fitting_widths(style.width);
  std::vector<Cell> titles;
  for (const auto& column : columns_) titles.push_back({column.title, Tone::strong});
  std::string out = format_line(titles, widths, style);
  for (const auto& row : rows_) out += format_line(row, widths, style);
  return out;
}

namespace {

constexpr char32_t full_block = 0x2588;

unsigned count_filled_steps(double fraction, unsigned steps) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return steps;
  return std::clamp(static_cast<unsigned>(fraction * steps + 0.5), 1u, std::max(steps - 1, 1u));
}

std::string draw_ascii_bar(double fraction, unsigned cells) {
  const auto filled = count_filled_steps(fraction, cells);
  return std::string(filled, '#') + std::string(cells - filled, '-');
}

// Uses U+2588 for a whole block, U+2589 for seven eighths, … U+258F for one eighth.
std::string draw_block_bar(double fraction, unsigned cells) {
  const auto eighths = count_filled_steps(fraction, cells * 8);
  std::string out;
  for (unsigned i = 0; i < eighths / 8; ++i) append_utf8(out, full_block);
  const auto remainder = eighths % 8;
  if (remainder > 0) append_utf8(out, full_block + 8 - remainder);
  out.append(cells - (eighths + 7) / 8, ' ');
  return out;
}

}  // namespace

std::string draw_bar(double fraction, unsigned cells, bool unicode) {
  std::string out(1, '[');
  out += unicode ? draw_block_bar(fraction, cells) : draw_ascii_bar(fraction, cells);
  return out += ']';
}

std::string_view accuracy_mark(hypomnesis::note notes) noexcept {
  if (has(notes, hypomnesis::note::lower_bound)) return ">=";
  return has(notes, hypomnesis::note::estimated) ? "~" : "";
}

}  // namespace hmn::cli
