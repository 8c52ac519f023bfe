// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_list.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

bool matches(const process_reading& row, std::string_view filter) {
  const auto& usage = row.usage;
  return filter.empty() || contains_text(fmt::to_string(usage.pid), filter) ||
         known_contains(row.user, filter) || known_contains(usage.process_name, filter) ||
         known_contains(usage.process_command, filter) ||
         known_contains(usage.process_container, filter);
}

process_list make_list(const process_readings& all, const list_choice& how, bool is_partial) {
  process_list out;
  std::vector<const process_reading*> rows;
  process_count shown, hidden;
  for (const auto& row : all) {
    if (how.device && row.usage.device_index != *how.device) continue;
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
