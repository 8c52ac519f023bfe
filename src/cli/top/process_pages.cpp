// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"
#include "cli/top/frame.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/screen.hpp"

namespace hmn::cli::top {
namespace {

constexpr int gap = 1;

// Column of the table for the lines that are visible.
struct ShownColumn {
  Column which;
  int width = 0;
  std::vector<ValueText> cells;
};

int width_of_text(const std::string& text) {
  return static_cast<int>(display_width(text));
}

int total_width(const std::vector<ShownColumn>& all) {
  int total = 1;
  for (const auto& each : all) total += each.width + gap;
  return total;
}

// Leaves out the least important columns until the others fit.
void leave_out(std::vector<ShownColumn>& all, int width) {
  while (all.size() > 1 && total_width(all) > width) {
    const auto last = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return facts_of(a.which).rank < facts_of(b.which).rank;
    });
    if (facts_of(last->which).rank == 0) break;
    all.erase(last);
  }
}

std::size_t end_of_lines(const Layout& in, const State& of) {
  return std::min(of.processes.top + in.process_rows(), of.list.lines.size());
}

std::vector<ShownColumn> columns_of(const Layout& in, const State& of, bool ascii_only) {
  std::vector<ShownColumn> all;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (!of.columns.test(i)) continue;
    const auto which = column_at(i);
    const auto& facts = facts_of(which);
    ShownColumn one{which, std::max(facts.least_width, static_cast<int>(facts.title.size())), {}};
    for (auto line = of.processes.top; line < end_of_lines(in, of); ++line) {
      const auto* row = of.list.lines[line].process;
      one.cells.push_back(row != nullptr ? text_of(which, *row, of.now->unix_ns, ascii_only)
                                         : ValueText{});
      if (which != Column::command)
        one.width = std::clamp(width_of_text(one.cells.back().text), one.width,
                               std::max(one.width, facts.most_width));
    }
    all.push_back(std::move(one));
  }
  leave_out(all, in.processes.width);
  if (!all.empty() && all.back().which == Column::command)
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

void put_cell(Frame& on, int x, int y, const ShownColumn& in, const ValueText& what,
              std::size_t offset) {
  const std::string_view ellipsis = on.has_unicode() ? "…" : "~";
  const auto width = static_cast<std::size_t>(in.width);
  const bool is_scrolled = in.which == Column::command && offset > 0;
  const auto text =
      cut_to_width(is_scrolled ? scrolled(what.text, offset) : what.text, width, ellipsis);
  if (facts_of(in.which).is_right)
    on.put_right(x + in.width, y, text, what.with);
  else
    on.put(x, y, text, what.with);
}

std::string title_of(const ShownColumn& in, const State& of, bool unicode) {
  std::string title(facts_of(in.which).title);
  if (in.which != of.choice.sort) return title;
  const bool is_descending = facts_of(in.which).is_descending != of.choice.is_reverse;
  const char* const mark = unicode ? (is_descending ? "▼" : "▲") : (is_descending ? "v" : "^");
  if (static_cast<int>(title.size()) + 1 > in.width) return title;
  return facts_of(in.which).is_right ? mark + title : title + mark;
}

void put_titles_of(Frame& on, const std::vector<ShownColumn>& all, int y, const State& of) {
  int x = 1;
  for (const auto& each : all) {
    const auto title = title_of(each, of, on.has_unicode());
    const auto with = each.which == of.choice.sort ? Ink::accent : Ink::strong;
    put_cell(on, x, y, each, {title, with}, 0);
    x += each.width + gap;
  }
}

int end_of_titles(const std::vector<ShownColumn>& all) {
  int end = total_width(all) - gap;
  if (!all.empty() && all.back().which == Column::command)
    end += static_cast<int>(facts_of(Column::command).title.size()) + 1 - all.back().width;
  return end;
}

std::string name_of(const UsageGroup& of, Grouping by) {
  if (!of.is_known) return fmt::format("{} unknown", word_of(by));
  return of.name.value_or(fmt::format("no {}", word_of(by)));
}

void put_group(Frame& on, int y, const UsageGroup& of, Grouping by) {
  const auto mark = on.has_unicode() ? "▾ " : "- ";
  const auto& total = of.total;
  const auto count = of.processes.size();
  int x = on.put(1, y, mark + escape_for_text(name_of(of, by), on.with().ascii_only), Ink::title);
  x = on.put(x + 2, y, fmt::format("{} process{}", count, count == 1 ? "" : "es"));
  x = on.put(x + 2, y, bytes_text(total.bytes(), total.is_at_least() ? ">=" : "").text,
             Ink::strong);
  if (const auto busy = total.busy_percent())
    on.put(x + 2, y, fmt::format("load {}{:.0f}%", total.is_busy_at_least() ? ">=" : "", *busy));
}

void put_lines(Frame& on, const std::vector<ShownColumn>& all, const Layout& in, const State& of) {
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
    if (line == of.processes.at && of.on == Focus::processes) on.select(0, y, on.width());
  }
}

std::string empty_text(const State& of) {
  if (!of.now) return {};
  if (of.list.hidden > 0)
    return fmt::format("no process matches \"{}\"; Esc shows all {}", of.choice.filter,
                       of.list.hidden);
  if (of.now->is_partial) return "no process is known: " + of.now->why_partial;
  const auto whose = of.user ? fmt::format(" of user {}", *of.user) : "";
  const auto which = of.choice.device ? fmt::format("GPU {}", *of.choice.device) : "a GPU";
  return fmt::format("no process{} uses {}", whose, which);
}

}  // namespace

void draw_process_table(Frame& on, const Layout& in, const State& of) {
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
    if (y < in.footer.y) on.put(1, y++, line, Ink::faint);
}

namespace {

using hypomnesis::part;

std::optional<std::string> bytes_or_none(const std::optional<std::uint64_t>& bytes) {
  return bytes ? std::optional(short_bytes(static_cast<double>(*bytes))) : std::nullopt;
}

std::optional<std::string> percent_or_none(const std::optional<double>& percent) {
  return percent ? std::optional(fmt::format("{:.1f}%", *percent)) : std::nullopt;
}

// Returns why a value of a process is missing: for it alone, or for all on the device.
std::string usage_reason(const MachineReading& in, const hypomnesis::usage& of, std::uint32_t bit) {
  if (!in.processes_from) return {};
  const auto device = of.device_index;
  for (const auto& each : in.processes_from->diagnostics())
    if (each.subject == part::processes && each.pid == of.pid && each.device_index == device &&
        (each.field.value_or(bit) & bit) != 0)
      return each.message;
  const auto found = in.processes_from->reason(device, part::processes, bit);
  return found ? found->message : std::string();
}

Entry of_text(const char* label, const std::optional<std::string>& value,
              const char* why = "not reported by the system") {
  return {label, value.value_or(""), why};
}

void add_use(const MachineReading& in, const ProcessReading& row, std::vector<Entry>& to) {
  const auto& usage = row.usage;
  const auto device = usage.device_index;
  const auto on = fmt::format("GPU {}: ", device);
  const auto add = [&](const char* label, const std::optional<std::string>& value,
                       std::uint32_t bit) {
    to.push_back({on + label, value.value_or(""), value ? "" : usage_reason(in, usage, bit)});
  };
  add("VRAM", bytes_or_none(row.use.own), HMN_USAGE_HAS_USED);
  add("load", percent_or_none(usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT);
  if (usage.peak_used_bytes) add("peak", bytes_or_none(usage.peak_used_bytes), 0);
  if (usage.shared_bytes) add("shared", bytes_or_none(usage.shared_bytes), 0);
  if (usage.evicted_bytes) add("evicted", bytes_or_none(usage.evicted_bytes), 0);
  if (usage.host_pool_bytes) add("in host RAM", bytes_or_none(usage.host_pool_bytes), 0);
}

std::vector<Entry> entries_of_process(const State& in, const ProcessReading& row) {
  const auto& now = *in.now;
  const auto& usage = row.usage;
  std::vector<Entry> out;
  out.push_back({"pid", fmt::to_string(usage.pid), {}});
  out.push_back(of_text("name", usage.process_name));
  out.push_back(of_text("command", usage.process_command));
  out.push_back(of_text("user", row.user));
  out.push_back({"container", usage.process_container.value_or("none"), {}});
  out.push_back({"running for", text_of(Column::elapsed, row, now.unix_ns, false).text, {}});
  if (!usage.start_unix_ns) out.back() = of_text("running for", std::nullopt);
  out.push_back(of_text("RAM", bytes_or_none(usage.host_resident_bytes)));
  out.push_back({"CPU", percent_or_none(row.cpu_percent).value_or(""), now.why_no_cpu});
  for (const auto& each : *now.processes)
    if (each.usage.pid == usage.pid && each.usage.process_key == usage.process_key)
      add_use(now, each, out);
  return out;
}

Chart chart_of(const char* title, const History& of, Ramp with, double least, std::string value,
               const TimeWindow& in, bool is_bytes) {
  const auto highest = of.highest(in);
  const auto top = std::max(least, static_cast<double>(highest.value_or(0)));
  std::string scale;
  if (highest || !is_bytes)
    scale = "max " + (is_bytes ? short_bytes(top) : fmt::format("{:.0f}%", top));
  return {title, std::move(value), std::move(scale), {&of, top, with}, {}};
}

std::vector<Chart> charts_of_process(const State& of, const ProcessReading& row) {
  const auto* const past = of.curves.of_process(row.identity());
  if (past == nullptr) return {};
  const auto window = of.window();
  const auto text = [&](const std::optional<std::string>& value, std::uint32_t field) {
    return value.value_or(missing_text(row.lacks(field)).text);
  };
  return {chart_of("load", past->load, Ramp::load, 100,
                   text(percent_or_none(row.usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT),
                   window, false),
          chart_of("VRAM", past->vram, Ramp::memory, 1,
                   text(bytes_or_none(row.usage.used_bytes), HMN_USAGE_HAS_USED), window, true),
          chart_of("CPU", past->cpu, Ramp::power, 100, text(percent_or_none(row.cpu_percent), 0),
                   window, false),
          chart_of("RAM", past->ram, Ramp::heat, 1,
                   text(bytes_or_none(row.usage.host_resident_bytes), 0), window, true)};
}

}  // namespace

void draw_process_page(Frame& on, Area where, State& of) {
  const auto* const row = of.process();
  if (row == nullptr) {
    on.put(where.x + 1, where.y + 1, "the process has ended, or no longer uses a GPU",
           Ink::warning);
    return;
  }
  const auto all = charts_of_process(of, *row);
  int charts = where.height >= 20 ? std::clamp(where.height * 2 / 5, 8, 16) : 4;
  if (all.empty()) charts = 1;
  if (all.empty())
    on.put(where.x + 1, where.y,
           fmt::format("no curves: they are kept for {} processes", Histories::most_processes),
           Ink::faint);
  draw_charts(on, {where.x, where.y, where.width, charts}, all, of.window());
  draw_entries(on, {where.x, where.y + charts, where.width, where.height - charts},
               entries_of_process(of, *row), of.text);
}

}  // namespace hmn::cli::top
