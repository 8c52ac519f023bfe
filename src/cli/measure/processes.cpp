// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/processes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/measure/snapshot_records.hpp"
#include "cli/system/process.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::accounting_kind;
using hypomnesis::format_bytes;
using hypomnesis::name_status;
using hypomnesis::note;

// Values that not every driver has.
struct OptionalField {
  std::uint32_t field;
  bool (*is_known)(const hypomnesis::usage&);
};
constexpr OptionalField optional_fields[] = {
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

struct Tally {
  ProcessCount all;
  UsageTally total;
  ProcessCount nameless;
  ProcessCount stale;
  std::optional<accounting_kind> accounting;
  bool one_accounting = true;
};

bool could_be_named(const ProcessRow& row) {
  return !has(row.usage.notes, note::foreign_pid) &&
         row.usage.name_state == name_status::protected_process;
}

void count(Tally& so_far, const ProcessRow& row) {
  if (!row.usage.process_name && could_be_named(row)) so_far.nameless.add(row.usage);
  so_far.total.add(row);
  if (!row.usage.used_bytes) return;
  if (!is_fresh(row.usage)) so_far.stale.add(row.usage);
  if (so_far.accounting.value_or(row.usage.accounting) != row.usage.accounting)
    so_far.one_accounting = false;
  so_far.accounting = row.usage.accounting;
}

std::string filter_text(const ProcessFilter& filter) {
  std::string text;
  if (filter.pid) text += fmt::format(" pid={}", *filter.pid);
  if (!filter.devices.empty()) text += fmt::format(" device={}", fmt::join(filter.devices, ","));
  if (filter.user) text += fmt::format(" user={}", *filter.user);
  if (filter.match) text += fmt::format(" name={}", *filter.match);
  return text.empty() ? text : " matching" + text;
}

std::string total_text(const Tally& all) {
  const auto kind =
      all.one_accounting ? accounting_word(all.accounting.value_or(accounting_kind::none)) : Word{};
  auto text = all.total.why_none();
  if (!text.empty()) text = "total unknown: " + text;
  if (const auto bytes = all.total.bytes())
    text = fmt::format("{}{} {}{}total", all.total.is_at_least() ? "at least " : "",
                       format_bytes(*bytes), kind.value_or(""), kind ? " " : "");
  if (const auto host = all.total.host_bytes(); host && all.total.is_split())
    text += fmt::format("{}{}{} of host RAM", text.empty() ? "" : ", ",
                        all.total.is_host_at_least() ? "at least " : "", format_bytes(*host));
  if (const auto unknown = all.total.unknown_size(); unknown > 0)
    text += fmt::format("{}{} of unknown size", text.empty() ? "" : "; ", unknown);
  if (const auto stale = all.stale.size(); stale > 0) text += fmt::format("; {} stale", stale);
  if (const auto nameless = all.nameless.size(); nameless > 0)
    text += fmt::format("; {} protected, run as root for names", nameless);
  return text;
}

}  // namespace

// The start of an exited process is that of the accounting, which each device begins by itself.
void ProcessCount::add(const hypomnesis::usage& row) {
  if (row.pid == 0 && row.name_state != name_status::kernel) {
    ++without_pid_;
    return;
  }
  auto& known = starts_[{row.pid, has(row.notes, note::foreign_pid)}];
  if (row.name_state == name_status::exited) return;
  if (const auto start = row.process_key ? row.process_key : row.start_unix_ns)
    known.insert(*start);
}

std::size_t ProcessCount::size() const {
  auto count = without_pid_;
  for (const auto& [pid, known] : starts_) count += std::max<std::size_t>(known.size(), 1);
  return count;
}

UnsupportedUsage::UnsupportedUsage(const hypomnesis::snapshot& from,
                                   const std::vector<hypomnesis::usage>& all, std::uint32_t asked) {
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

std::uint32_t UnsupportedUsage::of(const hypomnesis::usage& row) const {
  const auto found = by_device_.find(row.device_index);
  return found == by_device_.end() || explained_.contains({row.pid, row.device_index})
             ? 0
             : found->second;
}

std::string sign_of_missing_name(const hypomnesis::usage& row) {
  if (has(row.notes, note::foreign_pid)) return "? other namespace";
  const auto state = name_state_word(row.name_state);
  return state ? fmt::format("? {}", *state) : "?";
}

std::string short_container(std::string_view id) {
  constexpr std::size_t id_length = 64, shown = 12;
  const auto start = id.find(':') + 1;
  return std::string(id.size() - start == id_length ? id.substr(0, start + shown) : id);
}

void sort_rows(std::vector<ProcessRow>& rows, SortKey by) {
  std::stable_sort(rows.begin(), rows.end(), [by](const ProcessRow& a, const ProcessRow& b) {
    if (by == SortKey::user && a.user != b.user) return a.user && (!b.user || *a.user < *b.user);
    return comes_before(a, b, by);
  });
}

std::string count_sentence(const std::vector<ProcessRow>& rows, const ProcessFilter& filter,
                           bool is_partial) {
  Tally all;
  if (is_partial) all.total.set_partial();
  const RepeatedRows repeated(list_of(rows));
  for (const auto& each : rows) {
    all.all.add(each.usage);
    if (!repeated.contains(each)) count(all, each);
  }
  const auto processes = all.all.size();
  return fmt::format("{}{} GPU {} found{}{}.", is_partial ? "at least " : "", processes,
                     processes == 1 ? "process" : "processes", filter_text(filter),
                     rows.empty() ? "" : fmt::format(" ({})", total_text(all)));
}

namespace {

std::optional<std::uint64_t> size_of(const ProcessRow& row, SortKey by) noexcept {
  if (by == SortKey::shared) return row.usage.host_pool_bytes;
  if (by == SortKey::total) return total_of(row);
  if (by == SortKey::ram) return row.usage.host_resident_bytes;
  return row.usage.used_bytes;
}

}  // namespace

Expected<SortKey> parse_sort_key(std::string_view text, std::span<const std::string_view> among) {
  if (text == "dedicated" || text == "committed") return SortKey::vram;  // of the predecessor
  const auto found = choose_word("--sort", text, among);
  return found ? Expected<SortKey>(static_cast<SortKey>(*found)) : found.why();
}

std::string_view name_of(SortKey key) noexcept {
  if (key == SortKey::vram) return "VRAM";
  if (key == SortKey::ram) return "RAM";
  return sort_words[static_cast<std::size_t>(key)];
}

void show_pool(ProcessRow& row, std::optional<std::uint64_t> PoolUse::*shown) noexcept {
  row.use = split_use(row.usage, *row.on);
  row.is_split = row.use.own != row.usage.used_bytes;
  row.usage.used_bytes = row.use.*shown;
}

std::optional<std::uint64_t> total_of(const ProcessRow& row) noexcept {
  const auto& [used, shared] = std::tie(row.usage.used_bytes, row.usage.host_pool_bytes);
  if (!used || !shared) return used ? used : shared;
  return saturating_sum(*used, *shared);
}

bool comes_before(const ProcessRow& first, const ProcessRow& second, SortKey by) {
  const auto& a = first.usage;
  const auto& b = second.usage;
  if (by == SortKey::load && a.busy_percent != b.busy_percent)
    return a.busy_percent > b.busy_percent;
  if (by != SortKey::name && by != SortKey::pid) {
    const auto left = size_of(first, by);
    const auto right = size_of(second, by);
    if (left != right) return left > right;
  }
  if (by != SortKey::pid && a.process_name != b.process_name)
    return a.process_name < b.process_name;
  return std::tie(a.pid, a.device_index) < std::tie(b.pid, b.device_index);
}

namespace {

constexpr std::array<std::string_view, 7> words = {"process", "user", "container", "pod",
                                                   "job",     "unit", "device"};

// Returns whether a row without a container is of a process in none: of a foreign, exited or
// protected one it is not known.
bool has_known_container(const ProcessRow& row) {
  const auto state = row.usage.name_state;
  return row.usage.process_container ||
         (!has(row.usage.notes, note::foreign_pid) && state != name_status::exited &&
          state != name_status::protected_process);
}

// Returns the name of the pod, job or unit of a process; empty: it is in none.
const std::string& name_in(const procfs::Workload& of, Grouping by) {
  if (by == Grouping::pod) return of.pod;
  return by == Grouping::job ? of.job : of.unit;
}

// Identity of a group: a name, or the index of a device.
struct GroupId {
  bool is_known = true;
  std::optional<std::string> name;
  std::uint32_t device = 0;

  bool operator<(const GroupId& other) const {
    return std::tie(is_known, name, device) < std::tie(other.is_known, other.name, other.device);
  }
};

GroupId id_of(const ProcessRow& row, Grouping by) {
  if (by == Grouping::device) return {true, std::nullopt, row.usage.device_index};
  if (by == Grouping::user) return {row.user.has_value(), row.user, 0};
  if (by == Grouping::container) return {has_known_container(row), row.usage.process_container, 0};
  if (!row.in) return {false, std::nullopt, 0};
  const auto& name = name_in(*row.in, by);
  return {true, name.empty() ? std::nullopt : std::optional(name), 0};
}

bool is_greater(const UsageGroup& a, const UsageGroup& b) {
  if (a.is_known != b.is_known) return a.is_known;
  const auto left = a.total.bytes();
  const auto right = b.total.bytes();
  return std::tie(left, b.name) > std::tie(right, a.name);
}

}  // namespace

void UsageTally::add(const ProcessRow& row) {
  add(row.usage, row.usage.used_bytes, row.is_split);
  compare(row.usage, row.use.main, most_used(*row.on));
}

void UsageTally::compare(const hypomnesis::usage& row, std::optional<std::uint64_t> used,
                         std::optional<std::uint64_t> most) {
  // Committed memory is not used memory.
  if (!used || !most || row.accounting == accounting_kind::committed || !is_fresh(row)) return;
  add_usage(main_sums_[row.device_index], row, *used);
  most_[row.device_index] = *most;
}

void UsageTally::add(const hypomnesis::usage& row, std::optional<std::uint64_t> used,
                     bool is_split) {
  is_split_ = is_split_ || is_split;
  if (row.busy_percent)
    busy_percent_ = busy_percent_.value_or(0) + *row.busy_percent;
  else
    lacks_busy_ = true;
  if (has(row.notes, note::lower_bound)) is_lower_bound_ = true;
  if (row.host_pool_bytes)
    (is_split ? add_usage : add_apart)(host_sums_[row.device_index], row, *row.host_pool_bytes);
  else
    lacks_host_ = true;
  if (!used)
    unknown_size_.add(row);
  else
    add_usage(sums_[row.device_index], row, *used);
}

std::optional<std::uint64_t> UsageTally::total(const Sums& all) {
  if (all.empty()) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const auto& [device, sum] : all) bytes = saturating_sum(bytes, sum.at_least());
  return bytes;
}

bool UsageTally::is_exact(const Sums& all) {
  return std::all_of(all.begin(), all.end(),
                     [](const auto& each) { return each.second.is_exact(); });
}

std::string UsageTally::why_none() const {
  for (const auto& [device, most] : most_) {
    const auto sum = main_sums_.find(device);
    if (sum != main_sums_.end() && sum->second.at_least() > most)
      return fmt::format("processes of GPU {} add up to {}, more than can be in use ({})", device,
                         format_bytes(sum->second.at_least()), format_bytes(most));
  }
  return {};
}

std::optional<std::uint64_t> UsageTally::bytes() const {
  return why_none().empty() ? total(sums_) : std::nullopt;
}

bool UsageTally::is_at_least() const {
  return is_partial_ || is_lower_bound_ || unknown_size() > 0 || !is_exact(sums_);
}

bool UsageTally::is_host_at_least() const {
  return is_partial_ || is_lower_bound_ || lacks_host_ || !is_exact(host_sums_);
}

std::string_view word_of(Grouping by) noexcept {
  return words[static_cast<std::size_t>(by)];
}

Expected<Grouping> parse_grouping(std::string_view option, std::string_view text,
                                  std::span<const Grouping> known) {
  std::vector<std::string_view> known_words;
  for (const auto each : known) known_words.push_back(word_of(each));
  const auto found = choose_word(option, text, known_words);
  return found ? Expected<Grouping>(known[*found]) : found.why();
}

RowList list_of(const std::vector<ProcessRow>& rows) {
  RowList all;
  for (const auto& each : rows) all.push_back(&each);
  return all;
}

RepeatedRows::RepeatedRows(const RowList& all) {
  for (const auto* each : all) add(each->usage, each->on->device);
}

void RepeatedRows::add(const hypomnesis::usage& row, const hypomnesis::device& on) {
  if (on.parent_index && on.vendor != hypomnesis::vendor_id::amd)
    on_partitions_.insert({row.pid, *on.parent_index});
}

std::vector<UsageGroup> group_rows(const RowList& rows, Grouping by, const PartialLists& partial) {
  const RepeatedRows repeated(rows);
  std::map<GroupId, UsageGroup> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = *rows[i];
    const bool is_repeated = repeated.contains(row);
    if (is_repeated && by == Grouping::device) continue;
    const auto id = id_of(row, by);
    auto& to = groups[id];
    to.name = id.name;
    to.is_known = id.is_known;
    to.on = row.on;
    to.uid = row.usage.uid;
    to.processes.add(row.usage);
    to.rows.push_back(i);
    if (is_repeated) continue;
    to.total.add(row);
    to.devices.insert(row.usage.device_index);
  }
  const bool has_unknown = std::any_of(groups.begin(), groups.end(),
                                       [](const auto& each) { return !each.first.is_known; });
  std::vector<UsageGroup> sorted;
  for (auto& [id, group] : groups) {
    const bool lacks_rows = by == Grouping::device
                                ? partial.all || partial.devices.contains(id.device)
                                : partial.any() || (has_unknown && id.is_known);
    if (lacks_rows) group.total.set_partial();
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), is_greater);
  return sorted;
}

bool UserFilter::matches(const ProcessRow& row) const {
  return (uid && row.usage.uid == uid) || row.user == given;
}

Expected<UserFilter> find_user(const std::string& given, bool is_simulated,
                               std::chrono::steady_clock::time_point until) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(given.data(), given.data() + given.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == given.data() + given.size())
    return UserFilter{given, number};
  if (given == "root") return UserFilter{given, 0};
  if (is_simulated)
    return failed(fmt::format(
        "--user \"{}\": no such user: a simulated machine has root and numbers", given));
  // On a thread: the name may come over a network that hangs.
  const auto answer = std::make_shared<std::promise<UserSearch>>();
  auto answered = answer->get_future();
  start_thread([answer, given] { answer->set_value(find_uid(given)); }).detach();
  if (answered.wait_until(until) != std::future_status::ready) return UserFilter{given, {}};
  const auto found = answered.get();
  if (found.is_answered && !found.uid)
    return failed(fmt::format("--user \"{}\": no such user", given));
  return UserFilter{given, found.uid};
}

struct UserNames::Shared {
  // Where users have no numbers, they are known by their processes.
  using Key = std::pair<std::optional<std::uint32_t>, std::uint64_t>;
  struct SearchFor {
    Key of;
    std::uint32_t pid;
  };

  void search() {
    std::unique_lock lock(mutex);
    while (!wanted.empty()) {
      const auto [of, pid] = wanted.back();
      wanted.pop_back();
      lock.unlock();
      auto name = process_user(pid, of.first);
      lock.lock();
      names[of] = std::move(name);
    }
    is_searching = false;
    is_done.notify_all();
  }

  std::mutex mutex;
  std::condition_variable is_done;
  std::map<Key, std::optional<std::string>> names;
  std::vector<SearchFor> wanted;
  bool is_searching = false;
};

UserNames::UserNames(bool is_simulated)
    : shared_(is_simulated ? nullptr : std::make_shared<Shared>()) {}

std::optional<std::string> UserNames::of(const hypomnesis::usage& row, Clock::time_point until) {
  const auto number = row.uid ? std::optional(std::to_string(*row.uid)) : std::nullopt;
  if (!shared_ || has(row.notes, hypomnesis::note::foreign_pid)) return number;
  const Shared::Key key{row.uid, row.uid ? 0 : row.process_key.value_or(row.pid)};
  constexpr std::size_t most_names = 1000;
  std::unique_lock lock(shared_->mutex);
  if (shared_->names.size() > most_names) shared_->names.clear();
  const auto [at, is_new] = shared_->names.try_emplace(key, number);
  if (!is_new) return at->second;
  shared_->wanted.push_back({key, row.pid});
  if (shared_->is_searching) return number;  // the one before is late
  try {
    std::thread([in = shared_] { in->search(); }).detach();
  } catch (const std::system_error&) {
    return number;
  }
  shared_->is_searching = true;
  shared_->is_done.wait_until(lock, until, [this] { return !shared_->is_searching; });
  return shared_->names[key];
}

}  // namespace hmn::cli
