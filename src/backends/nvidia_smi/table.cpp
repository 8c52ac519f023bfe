// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <algorithm>

#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_name_character);
}

// Parses "memory.total [MiB]".
std::optional<column> parse_column(std::string_view cell) {
  std::string_view rest = scan::trim(cell);
  const std::string_view name = scan::take_word(rest);
  std::string_view unit = scan::trim(rest);
  if (!is_name(name)) return std::nullopt;
  if (unit.empty()) return column{name, {}};
  if (unit.size() < 3 || unit.front() != '[' || unit.back() != ']') return std::nullopt;
  return column{name, unit.substr(1, unit.size() - 2)};
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> parts;
  parts.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1);
  while (true) {
    const std::size_t comma = line.find(',');
    parts.push_back(scan::trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    line.remove_prefix(comma + 1);
  }
}

// Joins the parts of the free text at `at`, which was split at commas.
void join_surplus(std::vector<std::string_view>& parts, std::size_t count, std::size_t at) {
  const std::size_t surplus = parts.size() - count;
  const char* const begin = parts[at].data();
  const std::string_view last = parts[at + surplus];
  parts[at] = {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  const auto next = parts.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  parts.erase(next, next + static_cast<std::ptrdiff_t>(surplus));
}

void take_row(table& t, std::string_view line, std::optional<std::size_t> free_at) {
  std::vector<std::string_view> parts = split(line);
  const std::size_t count = t.columns.size();
  if (parts.size() > count && free_at) join_surplus(parts, count, *free_at);
  if (parts.size() == count) {
    t.rows.push_back(std::move(parts));
  } else {
    t.strays.add(line);
  }
}

// Takes the columns of a line whose cells are all column names, at least one of them in `known`.
void take_header(table& t, std::string_view line, std::string_view known) {
  constexpr std::ptrdiff_t most_columns = 1024;
  if (std::count(line.begin(), line.end(), ',') >= most_columns) return;
  for (const std::string_view cell : split(line)) {
    const auto c = parse_column(cell);
    if (!c || t.find(c->name)) return t.columns.clear();
    t.columns.push_back(*c);
  }
  while (!known.empty()) {
    if (t.find_first(scan::take_line(known))) return;
  }
  t.columns.clear();
}

}  // namespace

void stray_lines::add(std::string_view line) {
  constexpr std::size_t most_kept = 64;
  if (count_++ < most_kept) first_.emplace_back(line);
}

std::optional<std::size_t> table::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> table::find_first(std::string_view names) const noexcept {
  std::optional<std::size_t> found;
  while (!found && !names.empty()) found = find(scan::take_word(names));
  return found;
}

table parse_table(std::string_view text, std::string_view known, std::string_view free_text,
                  std::size_t most_rows) {
  table t;
  std::optional<std::size_t> free_at;
  while (!text.empty()) {
    const std::string_view line = scan::trim(scan::take_line(text));
    if (line.empty()) continue;
    if (t.columns.empty()) {
      take_header(t, line, known);
      if (t.columns.empty()) t.strays.add(line);
      free_at = t.find_first(free_text);
      continue;
    }
    t.is_truncated = t.rows.size() == most_rows;
    if (t.is_truncated) break;
    take_row(t, line, free_at);
  }
  return t;
}

}  // namespace hmn::nvidia_smi
