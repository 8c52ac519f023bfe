// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/memory_line.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/text/bar.hpp"
#include "cli/text/width.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
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
