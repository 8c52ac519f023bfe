// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/usage_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::name_status;
using hypomnesis::note;

struct group_word {
  std::string_view word;
  group_by by;
};
constexpr group_word group_words[] = {
    {"user", group_by::user}, {"container", group_by::container}, {"device", group_by::device}};

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

group_id id_of(const process_row& row, group_by by) {
  if (by == group_by::device) return {true, std::nullopt, row.usage.device_index};
  if (by == group_by::user) return {row.user.has_value(), row.user, 0};
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
  if (!row.used_bytes) {
    ++unknown_size_;
    return;
  }
  if (has(row.notes, note::lower_bound)) is_partial_ = true;
  add_usage(sums_[row.device_index], row);
}

std::optional<std::uint64_t> usage_tally::bytes() const {
  if (sums_.empty()) return std::nullopt;
  std::uint64_t all = 0;
  for (const auto& [device, sum] : sums_) all = saturating_sum(all, sum.at_least());
  return all;
}

bool usage_tally::is_at_least() const {
  return is_partial_ || unknown_size_ > 0 ||
         std::any_of(sums_.begin(), sums_.end(),
                     [](const auto& each) { return !each.second.is_exact(); });
}

expected<group_by> parse_group_by(std::string_view text) {
  for (const auto& each : group_words)
    if (each.word == text) return each.by;
  return misused(fmt::format("--by \"{}\": expected user, container or device", text));
}

std::vector<const process_row*> counted_rows(const std::vector<process_row>& rows) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> on_partitions;  // pid and the whole GPU
  for (const auto& each : rows)
    if (const auto parent = each.on->device.parent_index)
      on_partitions.insert({each.usage.pid, *parent});
  std::vector<const process_row*> counted;
  for (const auto& each : rows)
    if (!on_partitions.contains({each.usage.pid, each.usage.device_index}))
      counted.push_back(&each);
  return counted;
}

std::vector<usage_group> group_rows(const std::vector<process_row>& rows, group_by by,
                                    const partial_lists& partial) {
  std::map<group_id, usage_group> groups;
  for (const auto* row : counted_rows(rows)) {
    const auto id = id_of(*row, by);
    auto& to = groups[id];
    to.name = id.name;
    to.is_known = id.is_known;
    to.on = row->on;
    to.uid = row->usage.uid;
    to.total.add(row->usage);
    to.pids.insert(row->usage.pid);
    to.devices.insert(row->usage.device_index);
  }
  const bool has_unknown = std::any_of(groups.begin(), groups.end(),
                                       [](const auto& each) { return !each.first.is_known; });
  std::vector<usage_group> sorted;
  for (auto& [id, group] : groups) {
    const bool lacks_rows = by == group_by::device
                                ? partial.all || partial.devices.contains(id.device)
                                : partial.any() || (has_unknown && id.is_known);
    if (lacks_rows) group.total.set_partial();
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), is_greater);
  return sorted;
}

}  // namespace hmn::cli
