// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/usage_groups.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "cli/text/word_choice.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::name_status;
using hypomnesis::note;

constexpr std::array<std::string_view, 7> words = {"process", "user", "container", "pod",
                                                   "job",     "unit", "device"};

// Returns whether a row without a container is of a process in none.
bool has_known_container(const process_row& row) {
  return row.usage.process_container ||
         (!has(row.usage.notes, note::foreign_pid) && row.usage.name_state != name_status::exited);
}

// Identity of a group: the name of a user or a container, or the index of a device.
struct group_id {
  bool is_known = true;
  std::optional<std::string> name;
  std::uint32_t device = 0;

  bool operator<(const group_id& other) const {
    return std::tie(is_known, name, device) < std::tie(other.is_known, other.name, other.device);
  }
};

group_id id_of(const process_row& row, grouping by) {
  if (by == grouping::device) return {true, std::nullopt, row.usage.device_index};
  if (by == grouping::user) return {row.user.has_value(), row.user, 0};
  return {has_known_container(row), row.usage.process_container, 0};
}

bool is_greater(const usage_group& a, const usage_group& b) {
  if (a.is_known != b.is_known) return a.is_known;
  const auto left = a.total.bytes();
  const auto right = b.total.bytes();
  return std::tie(left, b.name) > std::tie(right, a.name);
}

}  // namespace

void usage_tally::add(const hypomnesis::usage& row) {
  if (row.busy_percent)
    busy_percent_ = busy_percent_.value_or(0) + *row.busy_percent;
  else
    lacks_busy_ = true;
  if (!row.used_bytes) {
    unknown_size_.add(row);
    return;
  }
  if (has(row.notes, note::lower_bound)) is_lower_bound_ = true;
  add_usage(sums_[row.device_index], row);
}

std::optional<std::uint64_t> usage_tally::bytes() const {
  if (sums_.empty()) return std::nullopt;
  std::uint64_t all = 0;
  for (const auto& [device, sum] : sums_) all = saturating_sum(all, sum.at_least());
  return all;
}

bool usage_tally::is_at_least() const {
  return is_partial_ || is_lower_bound_ || unknown_size() > 0 ||
         std::any_of(sums_.begin(), sums_.end(),
                     [](const auto& each) { return !each.second.is_exact(); });
}

std::string_view word_of(grouping by) noexcept {
  return words[static_cast<std::size_t>(by)];
}

expected<grouping> parse_grouping(std::string_view option, std::string_view text,
                                  std::span<const grouping> known) {
  std::vector<std::string_view> known_words;
  for (const auto each : known) known_words.push_back(word_of(each));
  const auto found = choose_word(option, text, known_words);
  return found ? expected<grouping>(known[*found]) : found.why();
}

row_list list_of(const std::vector<process_row>& rows) {
  row_list all;
  for (const auto& each : rows) all.push_back(&each);
  return all;
}

repeated_rows::repeated_rows(const row_list& all) {
  for (const auto* each : all) add(each->usage, each->on->device);
}

void repeated_rows::add(const hypomnesis::usage& row, const hypomnesis::device& on) {
  if (on.parent_index) on_partitions_.insert({row.pid, *on.parent_index});
}

std::vector<usage_group> group_rows(const row_list& rows, grouping by,
                                    const partial_lists& partial) {
  const repeated_rows repeated(rows);
  std::map<group_id, usage_group> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = *rows[i];
    const bool is_repeated = repeated.contains(row);
    if (is_repeated && by == grouping::device) continue;
    const auto id = id_of(row, by);
    auto& to = groups[id];
    to.name = id.name;
    to.is_known = id.is_known;
    to.on = row.on;
    to.uid = row.usage.uid;
    to.processes.add(row.usage);
    to.rows.push_back(i);
    if (is_repeated) continue;
    to.total.add(row.usage);
    to.devices.insert(row.usage.device_index);
  }
  const bool has_unknown = std::any_of(groups.begin(), groups.end(),
                                       [](const auto& each) { return !each.first.is_known; });
  std::vector<usage_group> sorted;
  for (auto& [id, group] : groups) {
    const bool lacks_rows = by == grouping::device
                                ? partial.all || partial.devices.contains(id.device)
                                : partial.any() || (has_unknown && id.is_known);
    if (lacks_rows) group.total.set_partial();
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), is_greater);
  return sorted;
}

}  // namespace hmn::cli
