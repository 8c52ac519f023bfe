// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <tuple>

#include "cli/measure/processes.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli::top {
namespace {

constexpr std::array<ColumnFacts, column_count> all_columns{{
    {"PID", "process id, as the driver lists it", 5, 10, true, 0, false},
    {"USER", "user of the process", 4, 12, false, 3, false},
    {"GPU", "index of the device", 3, 4, true, 2, false},
    {"TYPE", "C compute, G graphics, M media", 4, 4, false, 7, false},
    {"LOAD", "share of the device's time that it used", 5, 5, true, 4, true},
    {"VRAM", "memory of the device", 8, 11, true, 1, true},
    {"RAM", "resident memory of the host", 8, 9, true, 6, true},
    {"CPU", "processor time; 100% is one core", 5, 6, true, 5, true},
    {"TIME", "time since its start", 5, 9, true, 8, true},
    {"CONTAINER", "container that it runs in", 9, 19, false, 9, false},
    {"COMMAND", "command line", 18, 1 << 20, false, 0, false},
}};

std::string format_type(hypomnesis::usage_kind kinds) {
  std::string letters;
  for (const auto word : usage_kind_words(kinds))
    letters += static_cast<char>(word.front() - 'a' + 'A');
  return letters.empty() ? "-" : letters;
}

std::optional<std::string> find_command(const hypomnesis::usage& usage) {
  if (usage.process_command && !usage.process_command->empty()) return usage.process_command;
  return usage.process_name;
}

StyledText format_command(const hypomnesis::usage& usage, bool ascii_only) {
  if (const auto command = find_command(usage)) return {escape_for_text(*command, ascii_only)};
  return {format_missing_name(usage), CellStyle::faint};
}

std::optional<std::uint64_t> find_elapsed_ns(const ProcessReading& row, std::uint64_t now_ns) {
  if (!row.usage.start_unix_ns) return std::nullopt;
  return now_ns - std::min(now_ns, *row.usage.start_unix_ns);
}

StyledText format_measurement(Column column, const ProcessReading& row) {
  const auto& usage = row.usage;
  switch (column) {
    case Column::load:
      return format_percent(usage.busy_percent, ColourScale::load,
                            row.lacks(HMN_USAGE_HAS_BUSY_PERCENT));
    case Column::vram:
      return format_bytes(usage.used_bytes, accuracy_mark(usage.notes),
                          row.lacks(HMN_USAGE_HAS_USED));
    case Column::ram:
      return format_bytes(usage.host_resident_bytes);
    default:
      return row.cpu_percent ? StyledText{fmt::format("{:.0f}%", *row.cpu_percent)}
                             : format_missing();
  }
}

// Orders known values; an unknown one is after any other, also in reverse.
template <class Value>
std::strong_ordering compare_values(const std::optional<Value>& left,
                                    const std::optional<Value>& right, bool is_descending) {
  if (!left || !right) return right.has_value() <=> left.has_value();
  const auto& first = is_descending ? *right : *left;
  const auto& second = is_descending ? *left : *right;
  if (first < second) return std::strong_ordering::less;
  return second < first ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare_rows(Column column, const ProcessReading& left_row,
                                  const ProcessReading& right_row, bool is_descending) {
  const auto& left = left_row.usage;
  const auto& right = right_row.usage;
  switch (column) {
    case Column::pid:
      return compare_values<std::uint32_t>(left.pid, right.pid, is_descending);
    case Column::user:
      return compare_values(left_row.user, right_row.user, is_descending);
    case Column::device:
      return compare_values<std::uint32_t>(left.device_index, right.device_index, is_descending);
    case Column::type:
      return compare_values(left.kinds, right.kinds, is_descending);
    case Column::load:
      return compare_values(left.busy_percent, right.busy_percent, is_descending);
    case Column::vram:
      return compare_values(left.used_bytes, right.used_bytes, is_descending);
    case Column::ram:
      return compare_values(left.host_resident_bytes, right.host_resident_bytes, is_descending);
    case Column::cpu:
      return compare_values(left_row.cpu_percent, right_row.cpu_percent, is_descending);
    case Column::elapsed:  // the later the start, the shorter
      return compare_values(left.start_unix_ns, right.start_unix_ns, !is_descending);
    case Column::container:
      return compare_values(left.process_container, right.process_container, is_descending);
    case Column::command:
      break;
  }
  return compare_values(find_command(left), find_command(right), is_descending);
}

}  // namespace

const ColumnFacts& column_facts(Column column) {
  return all_columns[static_cast<std::size_t>(column)];
}

StyledText format_column(Column column, const ProcessReading& row, std::uint64_t now_ns,
                         bool ascii_only) {
  const auto& usage = row.usage;
  switch (column) {
    case Column::pid:
      return {fmt::to_string(usage.pid)};
    case Column::user:
      return row.user ? StyledText{escape_for_text(*row.user, ascii_only)} : format_missing();
    case Column::device:
      return {fmt::to_string(usage.device_index)};
    case Column::type:
      return usage.kinds ? StyledText{format_type(*usage.kinds)}
                         : format_missing(row.lacks(HMN_USAGE_HAS_KINDS));
    case Column::elapsed: {
      const auto elapsed = find_elapsed_ns(row, now_ns);
      return elapsed ? StyledText{format_elapsed(*elapsed)} : format_missing();
    }
    case Column::container:
      if (!usage.process_container) return {"-", CellStyle::faint};
      return {escape_for_text(shorten_container(*usage.process_container), ascii_only)};
    case Column::command:
      return format_command(usage, ascii_only);
    default:
      break;
  }
  auto text = format_measurement(column, row);
  if (!is_fresh(usage) && column != Column::ram && column != Column::cpu)
    text.style = CellStyle::faint;
  return text;
}

bool comes_before(const ProcessReading& left, const ProcessReading& right, Column column,
                  bool is_reverse) {
  const auto order =
      compare_rows(column, left, right, column_facts(column).is_descending != is_reverse);
  if (order != 0) return order < 0;
  return std::tie(left.usage.pid, left.usage.device_index) <
         std::tie(right.usage.pid, right.usage.device_index);
}

namespace {

// Letters beyond ASCII match as they are.
bool contains_text(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return equal_ignoring_case(a, b); }) != text.end();
}

bool known_contains(const std::optional<std::string>& text, std::string_view part) {
  return text && contains_text(*text, part);
}

}  // namespace

bool matches(const ProcessReading& row, std::string_view filter) {
  const auto& usage = row.usage;
  return filter.empty() || contains_text(fmt::to_string(usage.pid), filter) ||
         known_contains(row.user, filter) || known_contains(usage.process_name, filter) ||
         known_contains(usage.process_command, filter) ||
         known_contains(usage.process_container, filter);
}

ProcessList make_list(const ProcessReadings& readings, const ListChoice& choice, bool is_partial) {
  ProcessList list;
  std::vector<const ProcessReading*> rows;
  ProcessCount shown_processes, hidden_processes;
  for (const auto& row : readings) {
    if (choice.device && row.usage.device_index != *choice.device &&
        row.gpu->device.parent_index != choice.device)
      continue;
    const bool is_shown = matches(row, choice.filter);
    if (is_shown) rows.push_back(&row);
    (is_shown ? shown_processes : hidden_processes).add(row.usage);
  }
  list.shown_count = shown_processes.size();
  list.hidden_count = hidden_processes.size();
  std::sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return comes_before(*a, *b, choice.sort, choice.is_reverse);
  });
  if (choice.grouping)
    list.groups = group_rows({rows.begin(), rows.end()}, *choice.grouping, {is_partial, {}});
  for (std::size_t i = 0; i < list.groups.size(); ++i) {
    list.lines.push_back({nullptr, i});
    for (const auto row : list.groups[i].rows) list.lines.push_back({rows[row], i});
  }
  if (!choice.grouping)
    for (const auto* row : rows) list.lines.push_back({row, 0});
  return list;
}

}  // namespace hmn::cli::top
