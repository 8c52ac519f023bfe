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
    {HMN_USAGE_HAS_USED, [](const auto& usage) { return usage.used_bytes.has_value(); }},
    {HMN_USAGE_HAS_RESIDENT, [](const auto& usage) { return usage.resident_bytes.has_value(); }},
    {HMN_USAGE_HAS_COMMITTED, [](const auto& usage) { return usage.committed_bytes.has_value(); }},
    {HMN_USAGE_HAS_ALLOCATED, [](const auto& usage) { return usage.allocated_bytes.has_value(); }},
    {HMN_USAGE_HAS_EVICTED, [](const auto& usage) { return usage.evicted_bytes.has_value(); }},
    {HMN_USAGE_HAS_HOST_POOL, [](const auto& usage) { return usage.host_pool_bytes.has_value(); }},
    // A share of time that counters will give is only not known yet.
    {HMN_USAGE_HAS_BUSY_PERCENT,
     [](const auto& usage) { return usage.busy_percent || usage.busy_ns; }},
    {HMN_USAGE_HAS_KINDS, [](const auto& usage) { return usage.kinds.has_value(); }},
    {HMN_USAGE_HAS_PEAK_USED, [](const auto& usage) { return usage.peak_used_bytes.has_value(); }}};

std::uint32_t find_known_fields(const hypomnesis::usage& usage) {
  std::uint32_t fields = 0;
  for (const auto& entry : optional_fields)
    if (entry.is_known(usage)) fields |= entry.field;
  return fields;
}

struct ListSummary {
  ProcessCount processes;
  UsageTally total;
  ProcessCount nameless;
  ProcessCount stale;
  std::optional<accounting_kind> accounting;
  bool has_one_accounting = true;
};

bool could_be_named(const ProcessRow& row) {
  return !has(row.usage.notes, note::foreign_pid) &&
         row.usage.name_state == name_status::protected_process;
}

void count_row(ListSummary& tally, const ProcessRow& row) {
  if (!row.usage.process_name && could_be_named(row)) tally.nameless.add(row.usage);
  tally.total.add(row);
  if (!row.usage.used_bytes) return;
  if (!is_fresh(row.usage)) tally.stale.add(row.usage);
  if (tally.accounting.value_or(row.usage.accounting) != row.usage.accounting)
    tally.has_one_accounting = false;
  tally.accounting = row.usage.accounting;
}

std::string format_filter(const ProcessFilter& filter) {
  std::string text;
  if (filter.pid) text += fmt::format(" pid={}", *filter.pid);
  if (!filter.devices.empty()) text += fmt::format(" device={}", fmt::join(filter.devices, ","));
  if (filter.user) text += fmt::format(" user={}", *filter.user);
  if (filter.match) text += fmt::format(" name={}", *filter.match);
  return text.empty() ? text : " matching" + text;
}

std::string format_total(const ListSummary& tally) {
  const auto kind = tally.has_one_accounting
                        ? accounting_word(tally.accounting.value_or(accounting_kind::none))
                        : Word{};
  auto text = tally.total.explain_missing();
  if (!text.empty()) text = "total unknown: " + text;
  if (const auto bytes = tally.total.bytes())
    text = fmt::format("{}{} {}{}total", tally.total.is_at_least() ? "at least " : "",
                       format_bytes(*bytes), kind.value_or(""), kind ? " " : "");
  if (const auto host = tally.total.host_bytes(); host && tally.total.is_split())
    text += fmt::format("{}{}{} of host RAM", text.empty() ? "" : ", ",
                        tally.total.is_host_at_least() ? "at least " : "", format_bytes(*host));
  if (const auto unknown = tally.total.unknown_count(); unknown > 0)
    text += fmt::format("{}{} of unknown size", text.empty() ? "" : "; ", unknown);
  if (const auto stale = tally.stale.size(); stale > 0) text += fmt::format("; {} stale", stale);
  if (const auto nameless = tally.nameless.size(); nameless > 0)
    text += fmt::format("; {} protected, run as root for names", nameless);
  return text;
}

}  // namespace

// The start of an exited process is that of the accounting, which each device begins by itself.
void ProcessCount::add(const hypomnesis::usage& row) {
  if (row.pid == 0 && row.name_state != name_status::kernel) {
    ++pidless_rows_;
    return;
  }
  auto& starts = starts_[{row.pid, has(row.notes, note::foreign_pid)}];
  if (row.name_state == name_status::exited) return;
  if (const auto start = row.process_key ? row.process_key : row.start_unix_ns)
    starts.insert(*start);
}

std::size_t ProcessCount::size() const {
  auto count = pidless_rows_;
  for (const auto& [pid, starts] : starts_) count += std::max<std::size_t>(starts.size(), 1);
  return count;
}

UnsupportedUsage::UnsupportedUsage(const hypomnesis::snapshot& snapshot,
                                   const std::vector<hypomnesis::usage>& all,
                                   std::uint32_t requested_fields) {
  std::map<std::uint32_t, std::uint32_t> device_fields;
  for (const auto& usage : all) device_fields[usage.device_index] |= find_known_fields(usage);
  for (const auto& [device, fields] : device_fields)
    for (const auto& [field, is_known] : optional_fields) {
      if ((fields & field) != 0 || (requested_fields & field) == 0) continue;
      const auto reason = snapshot.reason(device, hypomnesis::part::processes, field);
      if (reason && reason->status == hypomnesis::status_code::unsupported)
        fields_by_device_[device] |= field;
    }
  for (const auto& diagnostic : snapshot.diagnostics())
    if (diagnostic.subject == hypomnesis::part::processes && diagnostic.pid &&
        diagnostic.device_index)
      explained_.emplace(*diagnostic.pid, *diagnostic.device_index);
}

std::uint32_t UnsupportedUsage::missing_fields(const hypomnesis::usage& row) const {
  const auto it = fields_by_device_.find(row.device_index);
  return it == fields_by_device_.end() || explained_.contains({row.pid, row.device_index})
             ? 0
             : it->second;
}

std::string format_missing_name(const hypomnesis::usage& row) {
  if (has(row.notes, note::foreign_pid)) return "? other namespace";
  const auto state = name_state_word(row.name_state);
  return state ? fmt::format("? {}", *state) : "?";
}

std::string shorten_container(std::string_view id) {
  constexpr std::size_t id_length = 64, short_length = 12;
  const auto start = id.find(':') + 1;
  return std::string(id.size() - start == id_length ? id.substr(0, start + short_length) : id);
}

void sort_rows(std::vector<ProcessRow>& rows, SortKey key) {
  std::stable_sort(rows.begin(), rows.end(), [key](const ProcessRow& a, const ProcessRow& b) {
    if (key == SortKey::user && a.user != b.user) return a.user && (!b.user || *a.user < *b.user);
    return comes_before(a, b, key);
  });
}

std::string format_count_sentence(const std::vector<ProcessRow>& rows, const ProcessFilter& filter,
                                  bool is_partial) {
  ListSummary tally;
  if (is_partial) tally.total.set_partial();
  const RepeatedRows repeated(make_row_list(rows));
  for (const auto& row : rows) {
    tally.processes.add(row.usage);
    if (!repeated.contains(row)) count_row(tally, row);
  }
  const auto processes = tally.processes.size();
  return fmt::format("{}{} GPU {} found{}{}.", is_partial ? "at least " : "", processes,
                     processes == 1 ? "process" : "processes", format_filter(filter),
                     rows.empty() ? "" : fmt::format(" ({})", format_total(tally)));
}

namespace {

std::optional<std::uint64_t> get_sort_size(const ProcessRow& row, SortKey key) noexcept {
  if (key == SortKey::shared) return row.usage.host_pool_bytes;
  if (key == SortKey::total) return compute_total_bytes(row);
  if (key == SortKey::ram) return row.usage.host_resident_bytes;
  return row.usage.used_bytes;
}

}  // namespace

Expected<SortKey> parse_sort_key(std::string_view text, std::span<const std::string_view> choices) {
  if (text == "dedicated" || text == "committed") return SortKey::vram;  // of the predecessor
  const auto index = choose_word("--sort", text, choices);
  return index ? Expected<SortKey>(static_cast<SortKey>(*index)) : index.error();
}

std::string_view format_sort_key(SortKey key) noexcept {
  if (key == SortKey::vram) return "VRAM";
  if (key == SortKey::ram) return "RAM";
  return sort_words[static_cast<std::size_t>(key)];
}

void select_pool(ProcessRow& row, std::optional<std::uint64_t> PoolUse::*field) noexcept {
  row.pool_use = split_use(row.usage, *row.gpu);
  row.is_split = row.pool_use.own != row.usage.used_bytes;
  row.usage.used_bytes = row.pool_use.*field;
}

std::optional<std::uint64_t> compute_total_bytes(const ProcessRow& row) noexcept {
  const auto& [used, shared] = std::tie(row.usage.used_bytes, row.usage.host_pool_bytes);
  if (!used || !shared) return used ? used : shared;
  return saturating_sum(*used, *shared);
}

bool comes_before(const ProcessRow& first, const ProcessRow& second, SortKey key) {
  const auto& a = first.usage;
  const auto& b = second.usage;
  if (key == SortKey::load && a.busy_percent != b.busy_percent)
    return a.busy_percent > b.busy_percent;
  if (key != SortKey::name && key != SortKey::pid) {
    const auto left = get_sort_size(first, key);
    const auto right = get_sort_size(second, key);
    if (left != right) return left > right;
  }
  if (key != SortKey::pid && a.process_name != b.process_name)
    return a.process_name < b.process_name;
  return std::tie(a.pid, a.device_index) < std::tie(b.pid, b.device_index);
}

namespace {

constexpr std::array<std::string_view, 7> grouping_words = {"process", "user", "container", "pod",
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
const std::string& get_group_name(const procfs::Workload& workload, Grouping grouping) {
  if (grouping == Grouping::pod) return workload.pod;
  return grouping == Grouping::job ? workload.job : workload.unit;
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

GroupId make_group_id(const ProcessRow& row, Grouping grouping) {
  if (grouping == Grouping::device) return {true, std::nullopt, row.usage.device_index};
  if (grouping == Grouping::user) return {row.user.has_value(), row.user, 0};
  if (grouping == Grouping::container)
    return {has_known_container(row), row.usage.process_container, 0};
  if (!row.workload) return {false, std::nullopt, 0};
  const auto& name = get_group_name(*row.workload, grouping);
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
  add_bounded(row.usage, row.pool_use.main, max_used_bytes(*row.gpu));
}

void UsageTally::add_bounded(const hypomnesis::usage& row, std::optional<std::uint64_t> used,
                             std::optional<std::uint64_t> max_bytes) {
  // Committed memory is not used memory.
  if (!used || !max_bytes || row.accounting == accounting_kind::committed || !is_fresh(row)) return;
  add_usage(main_sums_[row.device_index], row, *used);
  max_bytes_[row.device_index] = *max_bytes;
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
    (is_split ? add_usage : add_separate_usage)(host_sums_[row.device_index], row,
                                                *row.host_pool_bytes);
  else
    lacks_host_ = true;
  if (!used)
    unknown_processes_.add(row);
  else
    add_usage(sums_[row.device_index], row, *used);
}

std::optional<std::uint64_t> UsageTally::total(const Sums& all) {
  if (all.empty()) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const auto& [device, sum] : all) bytes = saturating_sum(bytes, sum.lower_bound());
  return bytes;
}

bool UsageTally::is_exact(const Sums& all) {
  return std::all_of(all.begin(), all.end(),
                     [](const auto& entry) { return entry.second.is_exact(); });
}

std::string UsageTally::explain_missing() const {
  for (const auto& [device, max_bytes] : max_bytes_) {
    const auto sum = main_sums_.find(device);
    if (sum != main_sums_.end() && sum->second.lower_bound() > max_bytes)
      return fmt::format("processes of GPU {} add up to {}, more than can be in use ({})", device,
                         format_bytes(sum->second.lower_bound()), format_bytes(max_bytes));
  }
  return {};
}

std::optional<std::uint64_t> UsageTally::bytes() const {
  return explain_missing().empty() ? total(sums_) : std::nullopt;
}

bool UsageTally::is_at_least() const {
  return is_partial_ || is_lower_bound_ || unknown_count() > 0 || !is_exact(sums_);
}

bool UsageTally::is_host_at_least() const {
  return is_partial_ || is_lower_bound_ || lacks_host_ || !is_exact(host_sums_);
}

std::string_view grouping_word(Grouping grouping) noexcept {
  return grouping_words[static_cast<std::size_t>(grouping)];
}

Expected<Grouping> parse_grouping(std::string_view option, std::string_view text,
                                  std::span<const Grouping> choices) {
  std::vector<std::string_view> choice_words;
  for (const auto choice : choices) choice_words.push_back(grouping_word(choice));
  const auto index = choose_word(option, text, choice_words);
  return index ? Expected<Grouping>(choices[*index]) : index.error();
}

RowList make_row_list(const std::vector<ProcessRow>& rows) {
  RowList all;
  for (const auto& row : rows) all.push_back(&row);
  return all;
}

RepeatedRows::RepeatedRows(const RowList& all) {
  for (const auto* row : all) add(row->usage, row->gpu->device);
}

void RepeatedRows::add(const hypomnesis::usage& row, const hypomnesis::device& device) {
  if (device.parent_index && device.vendor != hypomnesis::vendor_id::amd)
    partition_users_.insert({row.pid, *device.parent_index});
}

std::vector<UsageGroup> group_rows(const RowList& rows, Grouping grouping,
                                   const PartialLists& partial) {
  const RepeatedRows repeated(rows);
  std::map<GroupId, UsageGroup> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = *rows[i];
    const bool is_repeated = repeated.contains(row);
    if (is_repeated && grouping == Grouping::device) continue;
    const auto id = make_group_id(row, grouping);
    auto& group = groups[id];
    group.name = id.name;
    group.is_known = id.is_known;
    group.gpu = row.gpu;
    group.uid = row.usage.uid;
    group.processes.add(row.usage);
    group.rows.push_back(i);
    if (is_repeated) continue;
    group.total.add(row);
    group.devices.insert(row.usage.device_index);
  }
  const bool has_unknown = std::any_of(groups.begin(), groups.end(),
                                       [](const auto& entry) { return !entry.first.is_known; });
  std::vector<UsageGroup> sorted;
  for (auto& [id, group] : groups) {
    const bool lacks_rows = grouping == Grouping::device
                                ? partial.all || partial.devices.contains(id.device)
                                : partial.any() || (has_unknown && id.is_known);
    if (lacks_rows) group.total.set_partial();
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), is_greater);
  return sorted;
}

bool UserFilter::matches(const ProcessRow& row) const {
  return (uid && row.usage.uid == uid) || row.user == name;
}

Expected<UserFilter> find_user(const std::string& name, bool is_simulated,
                               std::chrono::steady_clock::time_point deadline) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size())
    return UserFilter{name, number};
  if (name == "root") return UserFilter{name, 0};
  if (is_simulated)
    return make_failure(
        fmt::format("--user \"{}\": no such user: a simulated machine has root and numbers", name));
  // On a thread: the name may come over a network that hangs.
  const auto promise = std::make_shared<std::promise<UserLookup>>();
  auto future = promise->get_future();
  start_thread([promise, name] { promise->set_value(find_uid(name)); }).detach();
  if (future.wait_until(deadline) != std::future_status::ready) return UserFilter{name, {}};
  const auto search = future.get();
  if (search.is_conclusive && !search.uid)
    return make_failure(fmt::format("--user \"{}\": no such user", name));
  return UserFilter{name, search.uid};
}

struct UserNames::SearchState {
  // Where users have no numbers, they are known by their processes.
  using Key = std::pair<std::optional<std::uint32_t>, std::uint64_t>;
  struct UserQuery {
    Key key;
    std::uint32_t pid;
  };

  void search() {
    std::unique_lock lock(mutex);
    while (!queue.empty()) {
      const auto [key, pid] = queue.back();
      queue.pop_back();
      lock.unlock();
      auto name = find_process_user(pid, key.first);
      lock.lock();
      names[key] = std::move(name);
    }
    is_searching = false;
    is_done.notify_all();
  }

  std::mutex mutex;
  std::condition_variable is_done;
  std::map<Key, std::optional<std::string>> names;
  std::vector<UserQuery> queue;
  bool is_searching = false;
};

UserNames::UserNames(bool is_simulated)
    : state_(is_simulated ? nullptr : std::make_shared<SearchState>()) {}

std::optional<std::string> UserNames::find(const hypomnesis::usage& row,
                                           Clock::time_point deadline) {
  const auto number = row.uid ? std::optional(std::to_string(*row.uid)) : std::nullopt;
  if (!state_ || has(row.notes, hypomnesis::note::foreign_pid)) return number;
  const SearchState::Key key{row.uid, row.uid ? 0 : row.process_key.value_or(row.pid)};
  constexpr std::size_t max_cached_names = 1000;
  std::unique_lock lock(state_->mutex);
  if (state_->names.size() > max_cached_names) state_->names.clear();
  const auto [entry, is_new] = state_->names.try_emplace(key, number);
  if (!is_new) return entry->second;
  state_->queue.push_back({key, row.pid});
  if (state_->is_searching) return number;  // the one before is late
  try {
    std::thread([state = state_] { state->search(); }).detach();
  } catch (const std::system_error&) {
    return number;
  }
  state_->is_searching = true;
  state_->is_done.wait_until(lock, deadline, [this] { return !state_->is_searching; });
  return state_->names[key];
}

}  // namespace hmn::cli
