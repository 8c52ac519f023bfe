// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "cli/text/width.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t column_gap = 2;
constexpr std::size_t narrowest = 8;

std::size_t line_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), column_gap * (widths.size() - 1));
}

}  // namespace

std::vector<std::size_t> table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (const auto& each : columns_) widths.push_back(display_width(each.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  return widths;
}

std::vector<std::size_t> table::fitting_widths(std::size_t limit) const {
  auto widths = natural_widths();
  while (limit > 0 && line_width(widths) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].shrinks && widths[i] > narrowest &&
          (widest == nullptr || widths[i] > *widest))
        widest = &widths[i];
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string table::line(const std::vector<cell>& row, const std::vector<std::size_t>& widths,
                        const style& as) const {
  const std::string_view ellipsis = as.unicode ? "\u2026" : "...";
  std::string out;
  std::size_t owed = 0;  // spaces, written only if more text follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto shown = cut_to_width(row[i].text, widths[i], ellipsis);
    const auto padding = widths[i] - display_width(shown);
    if (columns_[i].side == align::right) owed += padding;
    if (!shown.empty()) {
      out.append(owed, ' ').append(paint(shown, row[i].with, as.colour));
      owed = 0;
    }
    owed += column_gap + (columns_[i].side == align::left ? padding : 0);
  }
  return out.append("\n");
}

std::string table::text(const style& as) const {
  const auto widths = fitting_widths(as.width);
  std::vector<cell> titles;
  for (const auto& each : columns_) titles.push_back({each.title, tone::strong});
  std::string out = line(titles, widths, as);
  for (const auto& row : rows_) out += line(row, widths, as);
  return out;
}

}  // namespace hmn::cli
