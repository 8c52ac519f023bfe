// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/process_row.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/measure/freshness.hpp"
#include "cli/measure/usage_groups.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

using hypomnesis::accounting_kind;
using hypomnesis::name_status;
using hypomnesis::note;

// Values that not every driver has.
struct optional_field {
  std::uint32_t field;
  bool (*is_known)(const hypomnesis::usage&);
};
constexpr optional_field optional_fields[] = {
    {HMN_USAGE_HAS_USED, [](const auto& of) { return of.used_bytes.has_value(); }},
    {HMN_USAGE_HAS_RESIDENT, [](const auto& of) { return of.resident_bytes.has_value(); }},
    {HMN_USAGE_HAS_COMMITTED, [](const auto& of) { return of.committed_bytes.has_value(); }},
    {HMN_USAGE_HAS_ALLOCATED, [](const auto& of) { return of.allocated_bytes.has_value(); }},
    {HMN_USAGE_HAS_EVICTED, [](const auto& of) { return of.evicted_bytes.has_value(); }},
    {HMN_USAGE_HAS_HOST_POOL, [](const auto& of) { return of.host_pool_bytes.has_value(); }},
    // A share of time that counters will give is only not known yet.
    {HMN_USAGE_HAS_BUSY_PERCENT, [](const auto& of) { return of.busy_percent || of.busy_ns; }},
    {HMN_USAGE_HAS_KINDS, [](const auto& of) { return of.kinds.has_value(); }},
    {HMN_USAGE_HAS_PEAK_USED, [](const auto& of) { return of.peak_used_bytes.has_value(); }}};

std::uint32_t known_fields(const hypomnesis::usage& of) {
  std::uint32_t fields = 0;
  for (const auto& each : optional_fields)
    if (each.is_known(of)) fields |= each.field;
  return fields;
}

struct tally {
  process_count all;
  usage_tally total;
  process_count nameless;
  process_count stale;
  std::optional<accounting_kind> accounting;
  bool one_accounting = true;
};

bool could_be_named(const process_row& row) {
  return !has(row.usage.notes, note::foreign_pid) &&
         row.usage.name_state == name_status::protected_process;
}

void count(tally& so_far, const process_row& row) {
  if (!row.usage.process_name && could_be_named(row)) so_far.nameless.add(row.usage);
  so_far.total.add(row.usage);
  if (!row.usage.used_bytes) return;
  if (!is_fresh(row.usage)) so_far.stale.add(row.usage);
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
  std::string text;
  if (const auto bytes = all.total.bytes())
    text = fmt::format("{}{} {}{}total", all.total.is_at_least() ? "at least " : "",
                       format_bytes(*bytes), kind.value_or(""), kind ? " " : "");
  if (const auto unknown = all.total.unknown_size(); unknown > 0)
    text += fmt::format("{}{} of unknown size", text.empty() ? "" : "; ", unknown);
  if (const auto stale = all.stale.size(); stale > 0) text += fmt::format("; {} stale", stale);
  if (const auto nameless = all.nameless.size(); nameless > 0)
    text += fmt::format("; {} protected, run as root for names", nameless);
  return text;
}

}  // namespace

// The start of an exited process is that of the accounting, which each device begins by itself.
void process_count::add(const hypomnesis::usage& row) {
  if (row.pid == 0 && row.name_state != name_status::kernel) {
    ++without_pid_;
    return;
  }
  auto& known = starts_[{row.pid, has(row.notes, note::foreign_pid)}];
  if (row.name_state == name_status::exited) return;
  if (const auto start = row.process_key ? row.process_key : row.start_unix_ns)
    known.insert(*start);
}

std::size_t process_count::size() const {
  auto count = without_pid_;
  for (const auto& [pid, known] : starts_) count += std::max<std::size_t>(known.size(), 1);
  return count;
}

unsupported_usage::unsupported_usage(const hypomnesis::snapshot& from,
                                     const std::vector<hypomnesis::usage>& all,
                                     std::uint32_t asked) {
  std::map<std::uint32_t, std::uint32_t> known;
  for (const auto& each : all) known[each.device_index] |= known_fields(each);
  for (const auto& [device, fields] : known)
    for (const auto& [field, is_known] : optional_fields) {
      if ((fields & field) != 0 || (asked & field) == 0) continue;
      const auto why = from.reason(device, hypomnesis::part::processes, field);
      if (why && why->status == hypomnesis::status_code::unsupported) by_device_[device] |= field;
    }
  for (const auto& each : from.diagnostics())
    if (each.subject == hypomnesis::part::processes && each.pid && each.device_index)
      explained_.emplace(*each.pid, *each.device_index);
}

std::uint32_t unsupported_usage::of(const hypomnesis::usage& row) const {
  const auto found = by_device_.find(row.device_index);
  return found == by_device_.end() || explained_.contains({row.pid, row.device_index})
             ? 0
             : found->second;
}

std::string short_container(std::string_view id) {
  constexpr std::size_t id_length = 64, shown = 12;
  const auto start = id.find(':') + 1;
  return std::string(id.size() - start == id_length ? id.substr(0, start + shown) : id);
}

void sort_rows(std::vector<process_row>& rows, sort_key by) {
  std::stable_sort(rows.begin(), rows.end(), [by](const process_row& a, const process_row& b) {
    return comes_before(a.usage, b.usage, by);
  });
}

std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter,
                           bool is_partial) {
  tally all;
  if (is_partial) all.total.set_partial();
  const repeated_rows repeated(list_of(rows));
  for (const auto& each : rows) {
    all.all.add(each.usage);
    if (!repeated.contains(each)) count(all, each);
  }
  const auto processes = all.all.size();
  return fmt::format("{}{} GPU {} found{}{}.", is_partial ? "at least " : "", processes,
                     processes == 1 ? "process" : "processes", filter_text(filter),
                     rows.empty() ? "" : fmt::format(" ({})", total_text(all)));
}

}  // namespace hmn::cli
