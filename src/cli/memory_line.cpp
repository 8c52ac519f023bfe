// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/memory_line.hpp"

#include <fmt/format.h>
#include <hypomnesis.h>

#include <algorithm>

#include "cli/bar.hpp"
#include "cli/width.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint64_t mib = 1ull << 20;
constexpr std::size_t widest_bar = 20;
constexpr std::size_t narrowest_bar = 4;
constexpr std::size_t narrowest_label = 12;

struct columns {
  std::size_t label = 0;
  std::size_t bar = 0;  // cells
  int free = 0;
  int total = 0;
};

std::string free_text(const memory_line& of) {
  return of.free ? fmt::format("{}{}", of.mark, *of.free / mib) : "?";
}

std::string total_text(const memory_line& of) {
  return of.total ? fmt::to_string(*of.total / mib) : "?";
}

std::string words_of(const memory_line& of, const columns& at) {
  if (of.silent) return of.before + of.after;
  if (!of.free && !of.total) return of.before + "memory unknown" + of.after;
  if (!of.free)
    return fmt::format("{}total {:>{}} MiB{}", of.before, total_text(of), at.total, of.after);
  return fmt::format("{}{} {:>{}} MiB / {:>{}} MiB{}", of.before, of.verb, free_text(of), at.free,
                     total_text(of), at.total, of.after);
}

columns measure(const std::vector<memory_line>& lines, std::size_t width) {
  columns at;
  for (const auto& each : lines) {
    at.label = std::max(at.label, display_width(each.label));
    at.free = std::max(at.free, static_cast<int>(free_text(each).size()));
    at.total = std::max(at.total, static_cast<int>(total_text(each).size()));
  }
  std::size_t words = 0;
  for (const auto& each : lines) words = std::max(words, display_width(words_of(each, at)));

  const std::size_t spaces = 4;  // between label, bar and words
  const std::size_t brackets = 2;
  const auto needed = at.label + words + spaces + brackets;
  const auto left = width > needed ? width - needed : 0;
  at.bar = std::min(left, widest_bar);
  if (at.bar < narrowest_bar) at.bar = 0;
  if (at.bar == 0 && at.label + 2 + words > width)
    at.label = std::clamp(width > words + 2 ? width - words - 2 : 0,
                          std::min(narrowest_label, at.label), at.label);
  return at;
}

std::string bar_column(const memory_line& of, const columns& at, const style& as) {
  if (at.bar == 0) return {};
  if (!of.used) return std::string(at.bar + 4, ' ');
  const auto bar = draw_bar(*of.used, static_cast<unsigned>(at.bar), as.unicode);
  return paint(bar, tone_of_usage(*of.used), as.colour) + "  ";
}

std::string terminal_line(const memory_line& of, const columns& at, const style& as) {
  auto label = cut_to_width(of.label, at.label, as.unicode ? "\u2026" : "...");
  const auto padding = at.label - display_width(label) + 2;
  const auto words = words_of(of, at);
  const bool words_tell = at.bar == 0 && of.used;
  return paint(label, tone::strong, as.colour) + std::string(padding, ' ') +
         bar_column(of, at, as) +
         paint(words, words_tell ? tone_of_usage(*of.used) : tone::plain, as.colour) + "\n";
}

}  // namespace

std::string_view mark_of(std::uint32_t notes) noexcept {
  if ((notes & HMN_NOTE_LOWER_BOUND) != 0) return ">=";
  return (notes & HMN_NOTE_ESTIMATED) != 0 ? "~" : "";
}

std::string render(const std::vector<memory_line>& lines, const style& as) {
  std::string out;
  if (!as.terminal) {
    for (const auto& each : lines) out += each.label + ": " + words_of(each, {}) + "\n";
    return out;
  }
  const auto at = measure(lines, as.width);
  for (const auto& each : lines) out += terminal_line(each, at, as);
  return out;
}

}  // namespace hmn::cli
