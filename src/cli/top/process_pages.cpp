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

constexpr int column_gap = 1;

// Column of the table for the lines that are visible.
struct TableColumn {
  Column id;
  int width = 0;
  std::vector<StyledText> cells;
};

int text_width(const std::string& text) {
  return static_cast<int>(display_width(text));
}

int total_width(const std::vector<TableColumn>& columns) {
  int total = 1;
  for (const auto& column : columns) total += column.width + column_gap;
  return total;
}

// Drops the least important columns until the others fit.
void drop_columns(std::vector<TableColumn>& columns, int width) {
  while (columns.size() > 1 && total_width(columns) > width) {
    const auto last =
        std::max_element(columns.begin(), columns.end(), [](const auto& a, const auto& b) {
          return column_facts(a.id).rank < column_facts(b.id).rank;
        });
    if (column_facts(last->id).rank == 0) break;
    columns.erase(last);
  }
}

std::size_t find_visible_end(const Layout& layout, const State& state) {
  return std::min(state.process_cursor.top + layout.process_rows(), state.list.lines.size());
}

std::vector<TableColumn> make_columns(const Layout& layout, const State& state, bool ascii_only) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (!state.columns.test(i)) continue;
    const auto column = column_at(i);
    const auto& facts = column_facts(column);
    TableColumn table_column{
        column, std::max(facts.min_width, static_cast<int>(facts.title.size())), {}};
    for (auto line = state.process_cursor.top; line < find_visible_end(layout, state); ++line) {
      const auto* row = state.list.lines[line].process;
      table_column.cells.push_back(
          row != nullptr ? format_column(column, *row, state.machine->unix_ns, ascii_only)
                         : StyledText{});
      if (column != Column::command)
        table_column.width =
            std::clamp(text_width(table_column.cells.back().text), table_column.width,
                       std::max(table_column.width, facts.max_width));
    }
    columns.push_back(std::move(table_column));
  }
  drop_columns(columns, layout.processes.width);
  if (!columns.empty() && columns.back().id == Column::command)
    columns.back().width += std::max(0, layout.processes.width - total_width(columns));
  return columns;
}

std::string scroll_text(const std::string& text, std::size_t columns) {
  std::string_view rest = text;
  while (columns > 0 && !rest.empty()) {
    const auto next = cut_to_width(rest, 1, "");
    rest.remove_prefix(std::max<std::size_t>(next.size(), next.empty() ? 3 : 1));
    --columns;
  }
  return std::string(rest);
}

void put_cell(Frame& frame, int x, int y, const TableColumn& column, const StyledText& value,
              std::size_t offset) {
  const std::string_view ellipsis = frame.has_unicode() ? "…" : "~";
  const auto width = static_cast<std::size_t>(column.width);
  const bool is_scrolled = column.id == Column::command && offset > 0;
  const auto text =
      cut_to_width(is_scrolled ? scroll_text(value.text, offset) : value.text, width, ellipsis);
  if (column_facts(column.id).is_right_aligned)
    frame.put_right(x + column.width, y, text, value.style);
  else
    frame.put(x, y, text, value.style);
}

std::string format_title(const TableColumn& column, const State& state, bool unicode) {
  std::string title(column_facts(column.id).title);
  if (column.id != state.choice.sort) return title;
  const bool is_descending = column_facts(column.id).is_descending != state.choice.is_reverse;
  const char* const mark = unicode ? (is_descending ? "▼" : "▲") : (is_descending ? "v" : "^");
  if (static_cast<int>(title.size()) + 1 > column.width) return title;
  return column_facts(column.id).is_right_aligned ? mark + title : title + mark;
}

void put_process_titles(Frame& frame, const std::vector<TableColumn>& columns, int y,
                        const State& state) {
  int x = 1;
  for (const auto& column : columns) {
    const auto title = format_title(column, state, frame.has_unicode());
    const auto style = column.id == state.choice.sort ? CellStyle::accent : CellStyle::strong;
    put_cell(frame, x, y, column, {title, style}, 0);
    x += column.width + column_gap;
  }
}

int find_titles_end(const std::vector<TableColumn>& columns) {
  int end = total_width(columns) - column_gap;
  if (!columns.empty() && columns.back().id == Column::command)
    end += static_cast<int>(column_facts(Column::command).title.size()) + 1 - columns.back().width;
  return end;
}

std::string format_group_name(const UsageGroup& group, Grouping grouping) {
  if (!group.is_known) return fmt::format("{} unknown", grouping_word(grouping));
  return group.name.value_or(fmt::format("no {}", grouping_word(grouping)));
}

void put_group(Frame& frame, int y, const UsageGroup& group, Grouping grouping) {
  const auto mark = frame.has_unicode() ? "▾ " : "- ";
  const auto& total = group.total;
  const auto count = group.processes.size();
  int x = frame.put(
      1, y, mark + escape_for_text(format_group_name(group, grouping), frame.glyphs().ascii_only),
      CellStyle::title);
  x = frame.put(x + 2, y, fmt::format("{} process{}", count, count == 1 ? "" : "es"));
  x = frame.put(x + 2, y, format_bytes(total.bytes(), total.is_at_least() ? ">=" : "").text,
                CellStyle::strong);
  if (const auto busy = total.busy_percent())
    frame.put(x + 2, y, fmt::format("load {}{:.0f}%", total.is_busy_at_least() ? ">=" : "", *busy));
}

void put_lines(Frame& frame, const std::vector<TableColumn>& columns, const Layout& layout,
               const State& state) {
  const auto first = state.process_cursor.top;
  for (auto line = first; line < find_visible_end(layout, state); ++line) {
    const int y = layout.processes.y + 1 + static_cast<int>(line - first);
    if (state.list.lines[line].process == nullptr) {
      put_group(frame, y, state.list.groups[state.list.lines[line].group], *state.choice.grouping);
    } else {
      int x = 1;
      for (const auto& column : columns) {
        put_cell(frame, x, y, column, column.cells[line - first], state.command_offset);
        x += column.width + column_gap;
      }
    }
    if (line == state.process_cursor.position && state.focus == Focus::processes)
      frame.select(0, y, frame.width());
  }
}

std::string explain_empty_list(const State& state) {
  if (!state.machine) return {};
  if (state.list.hidden_count > 0)
    return fmt::format("no process matches \"{}\"; Esc shows all {}", state.choice.filter,
                       state.list.hidden_count);
  if (state.machine->is_process_list_partial)
    return "no process is known: " + state.machine->partial_reason;
  const auto owner = state.user ? fmt::format(" of user {}", *state.user) : "";
  const auto device = state.choice.device ? fmt::format("GPU {}", *state.choice.device) : "a GPU";
  return fmt::format("no process{} uses {}", owner, device);
}

}  // namespace

void draw_process_table(Frame& frame, const Layout& layout, const State& state) {
  if (layout.processes.height <= 0 || !state.machine) return;
  const auto columns = make_columns(layout, state, frame.glyphs().ascii_only);
  put_process_titles(frame, columns, layout.processes.y, state);
  put_lines(frame, columns, layout, state);
  put_hidden(frame, find_titles_end(columns), layout.processes.y, state.process_cursor.top,
             layout.process_rows(), state.list.lines.size());
  if (!state.list.lines.empty()) return;
  int y = layout.processes.y + 1;
  for (const auto& line :
       wrap_text(escape_for_text(explain_empty_list(state), frame.glyphs().ascii_only),
                 layout.processes.width - 2))
    if (y < layout.footer.y) frame.put(1, y++, line, CellStyle::faint);
}

namespace {

using hypomnesis::part;

std::optional<std::string> bytes_or_none(const std::optional<std::uint64_t>& bytes) {
  return bytes ? std::optional(format_short_bytes(static_cast<double>(*bytes))) : std::nullopt;
}

std::optional<std::string> percent_or_none(const std::optional<double>& percent) {
  return percent ? std::optional(fmt::format("{:.1f}%", *percent)) : std::nullopt;
}

// Returns why a value of a process is missing: the process's own reason, else the device's.
std::string find_usage_reason(const MachineReading& machine, const hypomnesis::usage& usage,
                              std::uint32_t bit) {
  if (!machine.process_snapshot) return {};
  const auto device = usage.device_index;
  for (const auto& diagnostic : machine.process_snapshot->diagnostics())
    if (diagnostic.subject == part::processes && diagnostic.pid == usage.pid &&
        diagnostic.device_index == device && (diagnostic.field.value_or(bit) & bit) != 0)
      return diagnostic.message;
  const auto diagnostic = machine.process_snapshot->reason(device, part::processes, bit);
  return diagnostic ? diagnostic->message : std::string();
}

Entry make_entry(const char* label, const std::optional<std::string>& value,
                 const char* reason = "not reported by the system") {
  return {label, value.value_or(""), reason};
}

void add_usage_entries(const MachineReading& machine, const ProcessReading& row,
                       std::vector<Entry>& entries) {
  const auto& usage = row.usage;
  const auto device = usage.device_index;
  const auto prefix = fmt::format("GPU {}: ", device);
  const auto add = [&](const char* label, const std::optional<std::string>& value,
                       std::uint32_t bit) {
    entries.push_back(
        {prefix + label, value.value_or(""), value ? "" : find_usage_reason(machine, usage, bit)});
  };
  add("VRAM", bytes_or_none(row.pool_use.own), HMN_USAGE_HAS_USED);
  add("load", percent_or_none(usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT);
  if (usage.peak_used_bytes) add("peak", bytes_or_none(usage.peak_used_bytes), 0);
  if (usage.shared_bytes) add("shared", bytes_or_none(usage.shared_bytes), 0);
  if (usage.evicted_bytes) add("evicted", bytes_or_none(usage.evicted_bytes), 0);
  if (usage.host_pool_bytes) add("in host RAM", bytes_or_none(usage.host_pool_bytes), 0);
}

std::vector<Entry> make_process_entries(const State& state, const ProcessReading& row) {
  const auto& machine = *state.machine;
  const auto& usage = row.usage;
  std::vector<Entry> entries;
  entries.push_back({"pid", fmt::to_string(usage.pid), {}});
  entries.push_back(make_entry("name", usage.process_name));
  entries.push_back(make_entry("command", usage.process_command));
  entries.push_back(make_entry("user", row.user));
  entries.push_back({"container", usage.process_container.value_or("none"), {}});
  entries.push_back(
      {"running for", format_column(Column::elapsed, row, machine.unix_ns, false).text, {}});
  if (!usage.start_unix_ns) entries.back() = make_entry("running for", std::nullopt);
  entries.push_back(make_entry("RAM", bytes_or_none(usage.host_resident_bytes)));
  entries.push_back(
      {"CPU", percent_or_none(row.cpu_percent).value_or(""), machine.missing_cpu_reason});
  for (const auto& candidate : *machine.processes)
    if (candidate.usage.pid == usage.pid && candidate.usage.process_key == usage.process_key)
      add_usage_entries(machine, candidate, entries);
  return entries;
}

Chart make_chart(const char* title, const History& history, ColourScale colour_scale,
                 double minimum, std::string value, const TimeWindow& window, bool is_bytes) {
  const auto highest = history.highest(window);
  const auto top = std::max(minimum, static_cast<double>(highest.value_or(0)));
  std::string scale;
  if (highest || !is_bytes)
    scale = "max " + (is_bytes ? format_short_bytes(top) : fmt::format("{:.0f}%", top));
  return {title, std::move(value), std::move(scale), {&history, top, colour_scale}, {}};
}

std::vector<Chart> make_process_charts(const State& state, const ProcessReading& row) {
  const auto* const history = state.histories.find_process(row.identity());
  if (history == nullptr) return {};
  const auto window = state.window();
  const auto value_or_missing = [&](const std::optional<std::string>& value, std::uint32_t field) {
    return value.value_or(format_missing(row.lacks(field)).text);
  };
  return {
      make_chart(
          "load", history->load, ColourScale::load, 100,
          value_or_missing(percent_or_none(row.usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT),
          window, false),
      make_chart("VRAM", history->vram, ColourScale::memory, 1,
                 value_or_missing(bytes_or_none(row.usage.used_bytes), HMN_USAGE_HAS_USED), window,
                 true),
      make_chart("CPU", history->cpu, ColourScale::power, 100,
                 value_or_missing(percent_or_none(row.cpu_percent), 0), window, false),
      make_chart("RAM", history->ram, ColourScale::heat, 1,
                 value_or_missing(bytes_or_none(row.usage.host_resident_bytes), 0), window, true)};
}

}  // namespace

void draw_process_page(Frame& frame, Area area, State& state) {
  const auto* const row = state.selected_process();
  if (row == nullptr) {
    frame.put(area.x + 1, area.y + 1, "the process has ended, or no longer uses a GPU",
              CellStyle::warning);
    return;
  }
  const auto charts = make_process_charts(state, *row);
  int height = area.height >= 20 ? std::clamp(area.height * 2 / 5, 8, 16) : 4;
  if (charts.empty()) height = 1;
  if (charts.empty())
    frame.put(area.x + 1, area.y,
              fmt::format("no curves: they are kept for {} processes", Histories::max_processes),
              CellStyle::faint);
  draw_charts(frame, {area.x, area.y, area.width, height}, charts, state.window());
  draw_entries(frame, {area.x, area.y + height, area.width, area.height - height},
               make_process_entries(state, *row), state.text_position);
}

}  // namespace hmn::cli::top
