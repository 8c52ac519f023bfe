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

std::string type_letters(hypomnesis::usage_kind kinds) {
  std::string letters;
  for (const auto each : usage_kind_words(kinds))
    letters += static_cast<char>(each.front() - 'a' + 'A');
  return letters.empty() ? "-" : letters;
}

std::optional<std::string> command_of(const hypomnesis::usage& of) {
  if (of.process_command && !of.process_command->empty()) return of.process_command;
  return of.process_name;
}

ValueText command_text(const hypomnesis::usage& of, bool ascii_only) {
  if (const auto command = command_of(of)) return {escape_for_text(*command, ascii_only)};
  return {sign_of_missing_name(of), Ink::faint};
}

std::optional<std::uint64_t> elapsed_of(const ProcessReading& row, std::uint64_t now_ns) {
  if (!row.usage.start_unix_ns) return std::nullopt;
  return now_ns - std::min(now_ns, *row.usage.start_unix_ns);
}

ValueText measured_text(Column which, const ProcessReading& row) {
  const auto& usage = row.usage;
  switch (which) {
    case Column::load:
      return percent_text(usage.busy_percent, Ramp::load, row.lacks(HMN_USAGE_HAS_BUSY_PERCENT));
    case Column::vram:
      return bytes_text(usage.used_bytes, mark_of(usage.notes), row.lacks(HMN_USAGE_HAS_USED));
    case Column::ram:
      return bytes_text(usage.host_resident_bytes);
    default:
      return row.cpu_percent ? ValueText{fmt::format("{:.0f}%", *row.cpu_percent)} : missing_text();
  }
}

// Orders known values; an unknown one is after any other, also in reverse.
template <class Value>
std::strong_ordering order_of(const std::optional<Value>& a, const std::optional<Value>& b,
                              bool is_descending) {
  if (!a || !b) return b.has_value() <=> a.has_value();
  const auto& first = is_descending ? *b : *a;
  const auto& second = is_descending ? *a : *b;
  if (first < second) return std::strong_ordering::less;
  return second < first ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering order_by(Column by, const ProcessReading& a, const ProcessReading& b,
                              bool descending) {
  const auto& left = a.usage;
  const auto& right = b.usage;
  switch (by) {
    case Column::pid:
      return order_of<std::uint32_t>(left.pid, right.pid, descending);
    case Column::user:
      return order_of(a.user, b.user, descending);
    case Column::device:
      return order_of<std::uint32_t>(left.device_index, right.device_index, descending);
    case Column::type:
      return order_of(left.kinds, right.kinds, descending);
    case Column::load:
      return order_of(left.busy_percent, right.busy_percent, descending);
    case Column::vram:
      return order_of(left.used_bytes, right.used_bytes, descending);
    case Column::ram:
      return order_of(left.host_resident_bytes, right.host_resident_bytes, descending);
    case Column::cpu:
      return order_of(a.cpu_percent, b.cpu_percent, descending);
    case Column::elapsed:  // the later the start, the shorter
      return order_of(left.start_unix_ns, right.start_unix_ns, !descending);
    case Column::container:
      return order_of(left.process_container, right.process_container, descending);
    case Column::command:
      break;
  }
  return order_of(command_of(left), command_of(right), descending);
}

}  // namespace

const ColumnFacts& facts_of(Column which) {
  return all_columns[static_cast<std::size_t>(which)];
}

ValueText text_of(Column which, const ProcessReading& row, std::uint64_t now_ns, bool ascii_only) {
  const auto& usage = row.usage;
  switch (which) {
    case Column::pid:
      return {fmt::to_string(usage.pid)};
    case Column::user:
      return row.user ? ValueText{escape_for_text(*row.user, ascii_only)} : missing_text();
    case Column::device:
      return {fmt::to_string(usage.device_index)};
    case Column::type:
      return usage.kinds ? ValueText{type_letters(*usage.kinds)}
                         : missing_text(row.lacks(HMN_USAGE_HAS_KINDS));
    case Column::elapsed: {
      const auto elapsed = elapsed_of(row, now_ns);
      return elapsed ? ValueText{elapsed_text(*elapsed)} : missing_text();
    }
    case Column::container:
      if (!usage.process_container) return {"-", Ink::faint};
      return {escape_for_text(short_container(*usage.process_container), ascii_only)};
    case Column::command:
      return command_text(usage, ascii_only);
    default:
      break;
  }
  auto shown = measured_text(which, row);
  if (!is_fresh(usage) && which != Column::ram && which != Column::cpu) shown.with = Ink::faint;
  return shown;
}

bool comes_before(const ProcessReading& a, const ProcessReading& b, Column by, bool is_reverse) {
  const auto order = order_by(by, a, b, facts_of(by).is_descending != is_reverse);
  if (order != 0) return order < 0;
  return std::tie(a.usage.pid, a.usage.device_index) < std::tie(b.usage.pid, b.usage.device_index);
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

ProcessList make_list(const ProcessReadings& all, const ListChoice& how, bool is_partial) {
  ProcessList out;
  std::vector<const ProcessReading*> rows;
  ProcessCount shown, hidden;
  for (const auto& row : all) {
    if (how.device && row.usage.device_index != *how.device &&
        row.on->device.parent_index != how.device)
      continue;
    const bool is_shown = matches(row, how.filter);
    if (is_shown) rows.push_back(&row);
    (is_shown ? shown : hidden).add(row.usage);
  }
  out.shown = shown.size();
  out.hidden = hidden.size();
  std::sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return comes_before(*a, *b, how.sort, how.is_reverse);
  });
  if (how.by) out.groups = group_rows({rows.begin(), rows.end()}, *how.by, {is_partial, {}});
  for (std::size_t i = 0; i < out.groups.size(); ++i) {
    out.lines.push_back({nullptr, i});
    for (const auto row : out.groups[i].rows) out.lines.push_back({rows[row], i});
  }
  if (!how.by)
    for (const auto* row : rows) out.lines.push_back({row, 0});
  return out;
}

}  // namespace hmn::cli::top
