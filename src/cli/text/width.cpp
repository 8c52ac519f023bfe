// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/width.hpp"

#include <algorithm>
#include <span>

#include "cli/text/utf8.hpp"
#include "cli/text/width_table.hpp"

namespace hmn::cli {
namespace {

bool contains(std::span<const code_range> ranges, char32_t value) noexcept {
  const auto above = std::upper_bound(
      ranges.begin(), ranges.end(), value,
      [](char32_t wanted, const code_range& range) { return wanted < range.first; });
  return above != ranges.begin() && value <= std::prev(above)->last;
}

std::string_view prefix_of_width(std::string_view text, std::size_t columns) noexcept {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size();) {
    const auto next = first_code_point(text.substr(end));
    used += width_of(next.value);
    if (used > columns) break;
    end += next.length;
  }
  return text.substr(0, end);
}

}  // namespace

unsigned width_of(char32_t value) noexcept {
  if (value < 0x300) return 1;
  if (contains(zero_width, value)) return 0;
  return contains(double_width, value) ? 2 : 1;
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto next = first_code_point(text);
    columns += width_of(next.value);
    text.remove_prefix(next.length);
  }
  return columns;
}

std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (display_width(text) <= columns) return std::string(text);
  const auto mark = display_width(ellipsis);
  if (columns < mark) return std::string(prefix_of_width(text, columns));
  return std::string(prefix_of_width(text, columns - mark)).append(ellipsis);
}

}  // namespace hmn::cli
