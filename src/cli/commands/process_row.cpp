// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "cli/text/size.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

std::optional<std::uint64_t> size_of(const process_row& row, sort_key by) {
  switch (by) {
    case sort_key::shared:
      return row.shared();
    case sort_key::total:
      return row.total();
    case sort_key::ram:
      return row.ram();
    default:
      return row.vram();
  }
}

bool by_name_and_pid(const process_row& a, const process_row& b) {
  if (a.name != b.name) return a.name < b.name;
  if (a.usage.pid != b.usage.pid) return a.usage.pid < b.usage.pid;
  return a.usage.device_index < b.usage.device_index;
}

bool by_pid(const process_row& a, const process_row& b) {
  if (a.usage.pid != b.usage.pid) return a.usage.pid < b.usage.pid;
  return a.usage.device_index < b.usage.device_index;
}

using pid_on_device = std::pair<std::uint32_t, std::uint32_t>;

// Where a process is seen on a partition, the GPU that it is a part of has the same bytes.
std::set<pid_on_device> counted_on_partitions(const std::vector<process_row>& rows) {
  std::set<pid_on_device> counted;
  for (const auto& each : rows)
    if (has(each.on->device, HMN_DEVICE_HAS_PARENT))
      counted.insert({each.usage.pid, each.on->device.parent_index});
  return counted;
}

struct tally {
  std::uint64_t bytes = 0;
  std::size_t unknown_size = 0;
  std::size_t nameless = 0;
  std::optional<std::uint32_t> accounting;
  bool one_accounting = true;
};

bool could_be_named(const process_row& row) {
  return (row.usage.notes & HMN_NOTE_FOREIGN_PID) == 0 &&
         (row.usage.name_state == HMN_NAME_UNKNOWN || row.usage.name_state == HMN_NAME_PROTECTED);
}

void count(tally& so_far, const process_row& row) {
  if (!row.name && could_be_named(row)) ++so_far.nameless;
  if (!row.vram()) {
    ++so_far.unknown_size;
    return;
  }
  so_far.bytes = saturating_sum(so_far.bytes, *row.vram());
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
  const auto kind = all.one_accounting ? accounting_word(all.accounting.value_or(0)) : word{};
  auto text = size_text(all.bytes) + " ";
  if (kind) text.append(*kind).append(" ");
  text += "total";
  if (all.unknown_size > 0) text += fmt::format("; {} of unknown size", all.unknown_size);
  if (all.nameless > 0) text += fmt::format("; {} protected, run as root for names", all.nameless);
  return text;
}

}  // namespace

std::optional<std::uint64_t> process_row::vram() const {
  return known(usage, HMN_USAGE_HAS_USED, usage.used_bytes);
}

std::optional<std::uint64_t> process_row::shared() const {
  return known(usage, HMN_USAGE_HAS_HOST_POOL, usage.host_pool_bytes);
}

std::optional<std::uint64_t> process_row::total() const {
  if (!vram() && !shared()) return std::nullopt;
  return saturating_sum(vram().value_or(0), shared().value_or(0));
}

std::optional<std::uint64_t> process_row::ram() const {
  return known(usage, HMN_USAGE_HAS_HOST_RESIDENT, usage.host_resident_bytes);
}

void sort_rows(std::vector<process_row>& rows, sort_key by) {
  std::stable_sort(rows.begin(), rows.end(), [by](const process_row& a, const process_row& b) {
    if (by == sort_key::pid) return by_pid(a, b);
    if (by == sort_key::name) return by_name_and_pid(a, b);
    const auto left = size_of(a, by);
    const auto right = size_of(b, by);
    return left != right ? left > right : by_name_and_pid(a, b);
  });
}

std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter) {
  tally all;
  const auto counted = counted_on_partitions(rows);
  for (const auto& each : rows)
    if (!counted.contains({each.usage.pid, each.usage.device_index})) count(all, each);
  return fmt::format("{} GPU {} found{}{}.", rows.size(),
                     rows.size() == 1 ? "process" : "processes", filter_text(filter),
                     rows.empty() ? "" : fmt::format(" ({})", total_text(all)));
}

}  // namespace hmn::cli
