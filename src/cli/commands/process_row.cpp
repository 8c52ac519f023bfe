// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_row.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/measure/freshness.hpp"
#include "cli/text/usage_total.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

using hypomnesis::accounting_kind;
using hypomnesis::name_status;
using hypomnesis::note;

using pid_on_device = std::pair<std::uint32_t, std::uint32_t>;

// Finds processes counted on partitions, whose GPU reports the same bytes.
std::set<pid_on_device> counted_on_partitions(const std::vector<process_row>& rows) {
  std::set<pid_on_device> counted;
  for (const auto& each : rows)
    if (const auto parent = each.on->device.parent_index) counted.insert({each.usage.pid, *parent});
  return counted;
}

struct tally {
  std::map<std::uint32_t, usage_sum> sums;  // by device
  bool is_at_least = false;
  std::size_t unknown_size = 0;
  std::size_t nameless = 0;
  std::size_t stale = 0;
  std::optional<accounting_kind> accounting;
  bool one_accounting = true;
};

bool could_be_named(const process_row& row) {
  return !has(row.usage.notes, note::foreign_pid) &&
         (row.usage.name_state == name_status::unknown ||
          row.usage.name_state == name_status::protected_process);
}

void count(tally& so_far, const process_row& row) {
  if (!row.usage.process_name && could_be_named(row)) ++so_far.nameless;
  if (!row.usage.used_bytes) {
    ++so_far.unknown_size;
    return;
  }
  if (has(row.usage.notes, note::lower_bound)) so_far.is_at_least = true;
  if (!is_fresh(row.usage)) ++so_far.stale;
  add_usage(so_far.sums[row.usage.device_index], row.usage);
  if (so_far.accounting.value_or(row.usage.accounting) != row.usage.accounting)
    so_far.one_accounting = false;
  so_far.accounting = row.usage.accounting;
}

std::string filter_text(const process_filter& filter) {
  std::string text;
  if (filter.pid) text += fmt::format(" pid={}", *filter.pid);
  if (filter.device) text += fmt::format(" device={}", *filter.device);
  if (filter.match) text += fmt::format(" name={}", *filter.match);
  return text.empty() ? text : " matching" + text;
}

std::string total_text(const tally& all) {
  const auto kind =
      all.one_accounting ? accounting_word(all.accounting.value_or(accounting_kind::none)) : word{};
  std::uint64_t bytes = 0;
  bool is_at_least = all.is_at_least || all.unknown_size > 0;
  for (const auto& [device, sum] : all.sums) {
    bytes = saturating_sum(bytes, sum.at_least());
    is_at_least = is_at_least || !sum.is_exact();
  }
  std::string text;
  if (!all.sums.empty())
    text = fmt::format("{}{} {}{}total", is_at_least ? "at least " : "", format_bytes(bytes),
                       kind.value_or(""), kind ? " " : "");
  if (all.unknown_size > 0)
    text += fmt::format("{}{} of unknown size", text.empty() ? "" : "; ", all.unknown_size);
  if (all.stale > 0) text += fmt::format("; {} stale", all.stale);
  if (all.nameless > 0) text += fmt::format("; {} protected, run as root for names", all.nameless);
  return text;
}

}  // namespace

void sort_rows(std::vector<process_row>& rows, sort_key by) {
  std::stable_sort(rows.begin(), rows.end(), [by](const process_row& a, const process_row& b) {
    return comes_before(a.usage, b.usage, by);
  });
}

std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter,
                           bool is_partial) {
  tally all;
  all.is_at_least = is_partial;
  const auto counted = counted_on_partitions(rows);
  for (const auto& each : rows)
    if (!counted.contains({each.usage.pid, each.usage.device_index})) count(all, each);
  return fmt::format("{}{} GPU {} found{}{}.", is_partial ? "at least " : "", rows.size(),
                     rows.size() == 1 ? "process" : "processes", filter_text(filter),
                     rows.empty() ? "" : fmt::format(" ({})", total_text(all)));
}

}  // namespace hmn::cli
