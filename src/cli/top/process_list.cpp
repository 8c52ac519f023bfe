// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
namespace hmn::cli::top {
namespace {

char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Letters beyond ASCII match as they are.
bool contains_text(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower_case(a) == lower_case(b); }) != text.end();
}

bool known_contains(const std::optional<std::string>& text, std::string_view part) {
  return text && contains_text(*text, part);
}

std::string group_name(const process_reading& row, grouping by) {
  if (by == grouping::user) return row.user.value_or("user unknown");
  return row.usage.process_container.value_or("no container");
}

// Members of one group.
struct members {
  std::vector<const process_reading*> rows;
  std::set<std::uint32_t> pids;
  process_group sums;
};

void count(members& in, const process_reading& row) {
  in.rows.push_back(&row);
  in.pids.insert(row.usage.pid);
  in.sums.processes = in.pids.size();
  in.sums.used.add(row.usage);
  if (row.usage.busy_percent)
    in.sums.busy_percent = in.sums.busy_percent.value_or(0) + *row.usage.busy_percent;
  else
    in.sums.is_busy_at_least = true;
}

void add_groups(const std::vector<const process_reading*>& rows, grouping by, process_list& to) {
  std::map<std::string, members> all;
  for (const auto* row : rows) count(all[group_name(*row, by)], *row);
  std::vector<members*> order;
  for (auto& [name, each] : all) {
    each.sums.name = name;
    order.push_back(&each);
  }
  std::stable_sort(order.begin(), order.end(), [](const members* a, const members* b) {
    return a->sums.used.bytes() > b->sums.used.bytes();
  });
  for (const auto* each : order) {
    to.lines.push_back({nullptr, to.groups.size()});
    for (const auto* row : each->rows) to.lines.push_back({row, to.groups.size()});
    to.groups.push_back(each->sums);
  }
}

}  // namespace

bool matches(const process_reading& row, std::string_view filter) {
  const auto& usage = row.usage;
  return filter.empty() || contains_text(fmt::to_string(usage.pid), filter) ||
         known_contains(row.user, filter) || known_contains(usage.process_name, filter) ||
         known_contains(usage.process_command, filter) ||
         known_contains(usage.process_container, filter);
}

process_list make_list(const process_readings& all, const list_choice& how) {
  process_list out;
  std::vector<const process_reading*> rows;
  for (const auto& row : all) {
    if (how.device && row.usage.device_index != *how.device) continue;
    if (matches(row, how.filter))
      rows.push_back(&row);
    else
      ++out.hidden;
  }
  out.shown = rows.size();
  std::sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return comes_before(*a, *b, how.sort, how.is_reverse);
  });
  if (how.by != grouping::none)
    add_groups(rows, how.by, out);
  else
    for (const auto* row : rows) out.lines.push_back({row, 0});
  return out;
}

}  // namespace hmn::cli::top
