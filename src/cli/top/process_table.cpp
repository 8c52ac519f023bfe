// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/text/escape.hpp"
#include "cli/text/width.hpp"
#include "cli/top/page_text.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

constexpr int gap = 1;

// Column of the table for the lines that are visible.
struct shown_column {
  column which;
  int width = 0;
  std::vector<value_text> cells;
};

int width_of_text(const std::string& text) {
  return static_cast<int>(display_width(text));
}

int total_width(const std::vector<shown_column>& all) {
  int total = 1;
  for (const auto& each : all) total += each.width + gap;
  return total;
}

// Leaves out the least important columns until the others fit.
void leave_out(std::vector<shown_column>& all, int width) {
  while (all.size() > 1 && total_width(all) > width) {
    const auto last = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return facts_of(a.which).rank < facts_of(b.which).rank;
    });
    if (facts_of(last->which).rank == 0) break;
    all.erase(last);
  }
}

std::size_t end_of_lines(const layout& in, const state& of) {
  return std::min(of.processes.top + in.process_rows(), of.list.lines.size());
}

std::vector<shown_column> columns_of(const layout& in, const state& of, bool ascii_only) {
  std::vector<shown_column> all;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (!of.columns.test(i)) continue;
    const auto which = column_at(i);
    const auto& facts = facts_of(which);
    shown_column one{which, std::max(facts.least_width, static_cast<int>(facts.title.size())), {}};
    for (auto line = of.processes.top; line < end_of_lines(in, of); ++line) {
      const auto* row = of.list.lines[line].process;
      one.cells.push_back(row != nullptr ? text_of(which, *row, of.now->unix_ns, ascii_only)
                                         : value_text{});
      if (which != column::command)
        one.width = std::clamp(width_of_text(one.cells.back().text), one.width,
                               std::max(one.width, facts.most_width));
    }
    all.push_back(std::move(one));
  }
  leave_out(all, in.processes.width);
  if (!all.empty() && all.back().which == column::command)
    all.back().width += std::max(0, in.processes.width - total_width(all));
  return all;
}

std::string scrolled(const std::string& text, std::size_t columns) {
  std::string_view rest = text;
  while (columns > 0 && !rest.empty()) {
    const auto next = cut_to_width(rest, 1, "");
    rest.remove_prefix(std::max<std::size_t>(next.size(), next.empty() ? 3 : 1));
    --columns;
  }
  return std::string(rest);
}

void put_cell(frame& on, int x, int y, const shown_column& in, const value_text& what,
              std::size_t offset) {
  const std::string_view ellipsis = on.has_unicode() ? "…" : "~";
  const auto width = static_cast<std::size_t>(in.width);
  const bool is_scrolled = in.which == column::command && offset > 0;
  const auto text =
      cut_to_width(is_scrolled ? scrolled(what.text, offset) : what.text, width, ellipsis);
  if (facts_of(in.which).is_right)
    on.put_right(x + in.width, y, text, what.with);
  else
    on.put(x, y, text, what.with);
}

std::string title_of(const shown_column& in, const state& of, bool unicode) {
  std::string title(facts_of(in.which).title);
  if (in.which != of.choice.sort) return title;
  const bool is_descending = facts_of(in.which).is_descending != of.choice.is_reverse;
  const char* const mark = unicode ? (is_descending ? "▼" : "▲") : (is_descending ? "v" : "^");
  if (static_cast<int>(title.size()) + 1 > in.width) return title;
  return facts_of(in.which).is_right ? mark + title : title + mark;
}

void put_titles_of(frame& on, const std::vector<shown_column>& all, int y, const state& of) {
  int x = 1;
  for (const auto& each : all) {
    const auto title = title_of(each, of, on.has_unicode());
    const auto with = each.which == of.choice.sort ? ink::accent : ink::strong;
    put_cell(on, x, y, each, {title, with}, 0);
    x += each.width + gap;
  }
}

int end_of_titles(const std::vector<shown_column>& all) {
  int end = total_width(all) - gap;
  if (!all.empty() && all.back().which == column::command)
    end += static_cast<int>(facts_of(column::command).title.size()) + 1 - all.back().width;
  return end;
}

std::string name_of(const usage_group& of, grouping by) {
  if (!of.is_known) return fmt::format("{} unknown", word_of(by));
  return of.name.value_or(fmt::format("no {}", word_of(by)));
}

void put_group(frame& on, int y, const usage_group& of, grouping by) {
  const auto mark = on.has_unicode() ? "▾ " : "- ";
  const auto& total = of.total;
  const auto count = of.processes.size();
  int x = on.put(1, y, mark + escape_for_text(name_of(of, by), on.with().ascii_only), ink::title);
  x = on.put(x + 2, y, fmt::format("{} process{}", count, count == 1 ? "" : "es"));
  x = on.put(x + 2, y, bytes_text(total.bytes(), total.is_at_least() ? ">=" : "").text,
             ink::strong);
  if (const auto busy = total.busy_percent())
    on.put(x + 2, y, fmt::format("load {}{:.0f}%", total.is_busy_at_least() ? ">=" : "", *busy));
}

void put_lines(frame& on, const std::vector<shown_column>& all, const layout& in, const state& of) {
  const auto first = of.processes.top;
  for (auto line = first; line < end_of_lines(in, of); ++line) {
    const int y = in.processes.y + 1 + static_cast<int>(line - first);
    if (of.list.lines[line].process == nullptr) {
      put_group(on, y, of.list.groups[of.list.lines[line].group], *of.choice.by);
    } else {
      int x = 1;
      for (const auto& each : all) {
        put_cell(on, x, y, each, each.cells[line - first], of.command_offset);
        x += each.width + gap;
      }
    }
    if (line == of.processes.at && of.on == focus::processes) on.select(0, y, on.width());
  }
}

std::string empty_text(const state& of) {
  if (!of.now) return {};
  if (of.list.hidden > 0)
    return fmt::format("no process matches \"{}\"; Esc shows all {}", of.choice.filter,
                       of.list.hidden);
  return of.now->is_partial ? "no process is known: " + of.now->why_partial
                            : "no process uses a GPU";
}

}  // namespace

void draw_process_table(frame& on, const layout& in, const state& of) {
  if (in.processes.height <= 0 || !of.now) return;
  const auto all = columns_of(in, of, on.with().ascii_only);
  put_titles_of(on, all, in.processes.y, of);
  put_lines(on, all, in, of);
  put_hidden(on, end_of_titles(all), in.processes.y, of.processes.top, in.process_rows(),
             of.list.lines.size());
  if (!of.list.lines.empty()) return;
  int y = in.processes.y + 1;
  for (const auto& line :
       wrapped(escape_for_text(empty_text(of), on.with().ascii_only), in.processes.width - 2))
    if (y < in.footer.y) on.put(1, y++, line, ink::faint);
}

}  // namespace hmn::cli::top
