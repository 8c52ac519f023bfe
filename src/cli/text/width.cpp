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

// Keeps whole characters, with the marks that combine with them.
std::string_view suffix_of_width(std::string_view text, std::size_t columns) noexcept {
  auto left = display_width(text);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto next = first_code_point(text.substr(begin));
    const auto width = width_of(next.value);
    if (left <= columns && width > 0) break;
    left -= width;
    begin += next.length;
  }
  return text.substr(begin);
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

std::string cut_middle(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (display_width(text) <= columns) return std::string(text);
  const auto mark = display_width(ellipsis);
  if (columns < mark + 2) return cut_to_width(text, columns, ellipsis);
  const auto tail = suffix_of_width(text, (columns - mark) / 2);
  const auto head = prefix_of_width(text, columns - mark - display_width(tail));
  return std::string(head).append(ellipsis).append(tail);
}

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    const auto width = display_width(word);
    if (used > 0 && columns > 0 && used + 1 + width > columns) {
      out.append("\n").append(indent, ' ');
      used = indent;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace hmn::cli
