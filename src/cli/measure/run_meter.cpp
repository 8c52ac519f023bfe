// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_meter.hpp"

#include <algorithm>
#include <ctime>

#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::name_status;
using hypomnesis::status_code;

constexpr std::size_t most_kept = 16384;
// Limit of queries for processes never seen on the device: each costs the driver its lists, without
// a result where it keeps no accounts.
constexpr std::size_t most_idle_read = 64;
constexpr std::size_t most_idle_tried = 8;

constexpr const char* no_accounts = "the driver keeps no account of a process's peak";
constexpr const char* not_all = "a process that was seen has no account, or it could not be read";

bool is_alive(const std::vector<ProcessTree::Member>& members, std::uint32_t pid) {
  return std::any_of(members.begin(), members.end(),
                     [pid](const auto& each) { return each.pid == pid; });
}

}  // namespace

bool is_account_only(const hypomnesis::usage& row) noexcept {
  return row.peak_used_bytes && !row.used_bytes && !row.kinds;
}

void ProcessPeaks::add(const ProcessTree::Member& who, const hypomnesis::usage* row) {
  const auto found = all_.find(who.pid);
  if (found == all_.end() && all_.size() >= most_kept) {
    is_partial_ = is_partial_ || row != nullptr;
    return;
  }
  Seen& known = all_[who.pid];
  if (found != all_.end() && known.start != who.start) {
    is_partial_ = is_partial_ || known.has_used;
    known = Seen();
  }
  known.start = who.start;
  if (row == nullptr) return;
  known.has_used = true;
  known.has_account = known.has_account || row->peak_used_bytes;
  if (is_fresh(*row)) known.used_bytes = std::max(known.used_bytes, row->used_bytes.value_or(0));
}

// Rejects accounts of another process with the same pid.
ProcessPeaks::Account ProcessPeaks::account_in(const Request& of, const hypomnesis::usage& row,
                                               const Seen& known) {
  if (!is_fresh(row)) return {};
  const bool may_have_ended =
      row.name_state == name_status::exited || row.name_state == name_status::unknown;
  const bool began_with_command = row.start_unix_ns
                                      ? has_started_by(of.started_unix_ns, *row.start_unix_ns)
                                      : !is_account_only(row);
  if (!began_with_command || !(may_have_ended || is_alive(of.members, row.pid)))
    return none_of(known);
  if (!row.peak_used_bytes || *row.peak_used_bytes < known.used_bytes) return {};
  return {Kind::bytes, *row.peak_used_bytes, row.backend, {}};
}

ProcessPeaks::Account ProcessPeaks::read(const Request& of, std::uint32_t pid, const Seen& known) {
  try {
    return account_in(of, of.in.library().usage(of.device_index, pid), known);
  } catch (const hypomnesis::error& why) {
    if (why.status() == status_code::no_process) return none_of(known);
    Account failed;
    if (why.status() != status_code::unsupported) failed.why = why.what();
    return failed;
  }
}

KeptPeak ProcessPeaks::end(const Request& of) const {
  KeptPeak out;
  const auto uses = [](const auto& each) { return each.second.has_used; };
  const bool was_used = std::any_of(all_.begin(), all_.end(), uses);
  const bool has_accounts = std::any_of(all_.begin(), all_.end(),
                                        [](const auto& each) { return each.second.has_account; });
  out.why = no_accounts;
  if (was_used && !has_accounts) return out;
  bool is_whole = !is_partial_;
  std::size_t idle = 0;
  const std::size_t most_idle = has_accounts ? most_idle_read : most_idle_tried;
  for (auto each = all_.begin(); each != all_.end() && is_whole; ++each) {
    const auto& [pid, known] = *each;
    const bool is_read =
        (known.has_used || ++idle <= most_idle) && std::chrono::steady_clock::now() < of.until;
    const Account one = is_read ? read(of, pid, known) : Account();
    is_whole = one.what != Kind::unknown;
    if (!one.why.empty()) out.why = one.why;
    if (one.what != Kind::bytes) continue;
    ++out.processes;
    out.backend = one.backend;
    out.largest_bytes = std::max(out.largest_bytes.value_or(0), one.bytes);
  }
  if (is_whole) return out;
  out.largest_bytes.reset();
  if (out.why == no_accounts && (has_accounts || out.processes > 0)) out.why = not_all;
  return out;
}

namespace {

using hypomnesis::note;
using hypomnesis::part;

constexpr auto of_devices = part::devices | part::pools | part::telemetry;
// Limit up to which processes are queried one by one, which costs a driver less than a full list.
constexpr std::size_t few = 4;

constexpr MemoryField resident{hypomnesis::process_memory_field::resident,
                               &hypomnesis::process_memory::resident_bytes};
constexpr MemoryField peak_resident{hypomnesis::process_memory_field::peak_resident,
                                    &hypomnesis::process_memory::peak_resident_bytes};
constexpr MemoryField proportional{hypomnesis::process_memory_field::proportional,
                                   &hypomnesis::process_memory::proportional_bytes};

// Returns the values with the diagnostics by device: those of none first.
hypomnesis::snapshot_values values_by_device(const hypomnesis::snapshot& from) {
  auto values = from.values();
  std::ranges::stable_sort(values.diagnostics, {}, &hypomnesis::diagnostic::device_index);
  return values;
}

auto diagnostics_of(const hypomnesis::snapshot_values& from, std::uint32_t index) {
  return part_of(from.diagnostics, index, [](const hypomnesis::diagnostic& each) {
    return each.device_index ? std::int64_t{*each.device_index} : -1;
  });
}

const hypomnesis::snapshot_device* device_of(const hypomnesis::snapshot_values& from,
                                             std::uint32_t index) {
  return find_device_in(from.devices, index,
                        [](const hypomnesis::snapshot_device& each) { return each.device.index; });
}

// Returns why everything of a subject is missing; empty: it is not, or no reason is known.
std::string why_missing(const hypomnesis::snapshot_values& from, part subject,
                        std::uint32_t index) {
  for (const auto& each : diagnostics_of(from, index))
    if (each.subject == subject && !each.field && !is_trace(each)) return each.message;
  return {};
}

EnergyReading energy_of(const hypomnesis::snapshot_values& from, std::uint32_t index) {
  const auto* const found = device_of(from, index);
  if (found == nullptr || !found->telemetry)
    return {std::nullopt, why_missing(from, part::telemetry, index)};
  const auto& values = *found->telemetry;
  if (!is_fresh(values)) return {std::nullopt, stale_text(values.age_ns)};
  if (values.energy_joules) return {values.energy_joules, {}};
  for (const auto& each : diagnostics_of(from, index))
    if (each.subject == part::telemetry && !is_trace(each) &&
        (each.field.value_or(0) & HMN_TELEMETRY_HAS_ENERGY) != 0)
      return {std::nullopt, each.message};
  return {std::nullopt, {}};
}

void add_used(const hypomnesis::pool& pool, DeviceSample& to) {
  if (!is_fresh(pool)) {
    to.why_used = stale_text(pool.age_ns);
    return;
  }
  to.used_bytes = pool.used_bytes;
  to.is_used_lower_bound = has(pool.notes, note::lower_bound);
  to.age_ns = std::max(to.age_ns, pool.age_ns);
}

void add_device(const hypomnesis::snapshot_values& from, std::uint32_t index, DeviceSample& to) {
  to.why_used = why_missing(from, part::pools, index);
  const auto* const found = device_of(from, index);
  if (found == nullptr) return;
  to.is_asleep = found->device.state == hypomnesis::run_state::asleep;
  for (const auto& pool : found->pools)
    if (pool.is_main) add_used(pool, to);
  if (!found->telemetry || !is_fresh(*found->telemetry)) return;
  to.busy_percent = found->telemetry->gpu_busy_percent;
  to.power_watts = found->telemetry->power_watts;
  to.energy_joules = found->telemetry->energy_joules;
}

// Adds what a process uses of the pool whose use by all processes is shown.
void add_row(const hypomnesis::usage& row, const Gpu& on, UsageSum& sum, DeviceSample& to) {
  const auto used = split_use(row, on).main;
  if (!is_fresh(row)) to.why = stale_text(row.age_ns);
  if (!is_fresh(row) || !used) {
    to.is_lower_bound = true;
    return;
  }
  add_usage(sum, row, *used);
  // In use is of another moment: what the device has is the limit.
  const auto total = on.memory ? on.memory->total_bytes : std::nullopt;
  if (total && sum.at_least() > *total &&
      row.accounting != hypomnesis::accounting_kind::committed) {
    to.command_bytes.reset();
    to.why = "its processes add up to more than the device has";
    to.is_lower_bound = true;
    return;
  }
  to.command_bytes = sum.at_least();
  to.age_ns = std::max(to.age_ns, row.age_ns);
  if (!sum.is_exact() || has(row.notes, note::lower_bound)) to.is_lower_bound = true;
}

// Stores 0 for an unseen command where that is certain.
void settle(const WatchedDevice& of, bool was_read, DeviceSample& to) {
  if (!of.lists_children) to.is_lower_bound = true;
  if (to.command_bytes) return;
  if (was_read && of.lists_children && !to.is_lower_bound)
    to.command_bytes = 0;
  else if (to.why.empty())
    to.why = of.why_not.empty() ? "not reported by the driver" : of.why_not;
}

void find_list(const Session& in, WatchedDevice& of) {
  of.lists_children = of.needs_own = false;
  of.why_not.clear();
  try {
    in.library().own_usage(of.before.device.index);
    of.lists_children = true;
  } catch (const hypomnesis::error& why) {
    of.needs_own = why.status() == status_code::asleep;
    of.why_not = why.what();
  }
}

const ProcessTree::Member* find(const std::vector<ProcessTree::Member>& members,
                                std::uint32_t pid) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [pid](const auto& each) { return each.pid == pid; });
  return found != members.end() ? &*found : nullptr;
}

// Returns the processor time of the whole program, with all its threads.
std::chrono::nanoseconds processor_time() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// Longest search for devices while the command runs.
constexpr std::chrono::seconds longest_search{5};
// Time limit for all processes of the command together.
constexpr std::chrono::seconds longest_peaks{2};

}  // namespace

std::uint64_t unix_time_ns() noexcept {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void RunMeter::find_devices() {
  hypomnesis::snapshot_options what;
  what.collect = of_devices;
  what.device_index = only_;
  in_.listed();
  const auto snapshot = in_.take_briefly(what);
  add_devices(snapshot);
  if (why_no_devices_ && !is_searching_) print_diagnostics(snapshot);
}

void RunMeter::add_devices(const hypomnesis::snapshot& from) {
  const auto values = values_by_device(from);
  for (auto& each : gpus_of(in_, from)) {
    const auto index = each.device.index;
    if (std::ranges::any_of(devices_,
                            [&](const auto& of) { return of.before.device.index == index; }))
      continue;
    WatchedDevice one;
    one.before = std::move(each);
    one.energy = energy_of(values, index);
    if (tree_ != nullptr) {
      if (one.before.memory) one.before.memory->used_bytes.reset();
      one.energy = {std::nullopt, "the driver answered only after the command had been started"};
    }
    devices_.push_back(std::move(one));
    peaks_.emplace_back();
  }
  why_no_devices_ = why_search_failed(from);
  is_searching_ = !only_ && is_late(from);
  if (tree_ != nullptr) record_members();
}

void RunMeter::watch(ProcessTree& tree, std::uint32_t pid, CommandGroup* group) {
  tree_ = &tree;
  group_ = group;
  begun_ = Clock::now();
  record_members();
  // The command may have ended before the first reading, or not be readable yet.
  if (tree.members().empty())
    for (auto& each : peaks_) each.add({pid, 0}, nullptr);
}

void RunMeter::record_members() {
  for (auto& each : peaks_)
    for (const auto& member : tree_->members()) each.add(member, nullptr);
}

RunMeter::Clock::time_point RunMeter::next() const {
  return devices_.empty() && !is_searching_ ? host_pace_.next()
                                            : std::min(host_pace_.next(), device_pace_.next());
}

std::optional<hypomnesis::snapshot_values> RunMeter::take(hypomnesis::part collect, Cost how,
                                                          std::string& why) {
  hypomnesis::snapshot_options what;
  what.collect = collect;
  what.quick = how == Cost::quick;
  what.deadline = deadline_;
  if (devices_.size() == 1 && !is_searching_)
    what.device_index = devices_.front().before.device.index;
  const auto taken = attempt([&] { return in_.library().take(what); }, &why);
  if (!taken) return std::nullopt;
  if (is_searching_) add_devices(*taken);
  return values_by_device(*taken);
}

void RunMeter::refresh_members() {
  tree_->refresh(group_ != nullptr ? group_->processes() : std::vector<std::uint32_t>{});
  if (group_ != nullptr) group_->compare(tree_->members());
}

// Sums without processes that end in the meantime; nothing if one cannot be read.
RunMeter::ProcessSum RunMeter::sum_of(const MemoryField& of, std::string* why) const {
  ProcessSum sum;
  for (const auto& each : tree_->members()) {
    std::optional<std::uint64_t> bytes;
    try {
      bytes = in_.library().process_memory(each.pid, of.field).*of.bytes;
    } catch (const hypomnesis::error& failed) {
      if (why != nullptr) *why = failed.what();
      if (failed.status() != status_code::no_process) return {};
    }
    if (!bytes) continue;
    sum.bytes = sum.bytes.value_or(0) + *bytes;
    sum.largest_bytes = std::max(sum.largest_bytes, *bytes);
  }
  return sum;
}

HostSample RunMeter::read_host() {
  HostSample out;
  if (group_ != nullptr) out.group_bytes = group_->current_bytes();
  refresh_members();
  out.why = tree_->why_not();
  if (!out.why.empty()) return out;
  record_members();
  out.processes = static_cast<std::uint32_t>(tree_->members().size());
  out.why = ended_too_early;
  const auto sum = sum_of(resident, &out.why);
  out.resident_bytes = sum.bytes;
  out.largest_bytes = sum.largest_bytes;
  if (out.resident_bytes) {
    out.why.clear();
    return out;
  }
  tree_->refresh();
  if (tree_->members().empty() && tree_->why_not().empty()) out.why = ended_too_early;
  return out;
}

// Reads rarely: the kernel walks the page tables, which delays a large process.
void RunMeter::add_proportional(Clock::time_point now, HostSample& to) {
  // Continue with a single process, as the peak would otherwise be that of the beginning.
  have_shared_ = have_shared_ || to.processes.value_or(0) > 1;
  if (!have_shared_ || !proportional_pace_.is_due(now)) return;
  const auto before = processor_time();
  to.proportional_bytes = sum_of(proportional, nullptr).bytes;
  proportional_pace_.count(now, processor_time() - before);
}

// Returns false where only the list shows what the processes share: a client that a child inherited
// is in the row of each.
bool RunMeter::add_one_by_one(std::size_t i, DeviceSample& to) {
  bool was_read = true;
  std::size_t may_share = 0;
  UsageSum sum;
  DeviceSample read = to;
  for (const auto& each : tree_->members()) {
    try {
      const auto row = in_.library().usage(devices_[i].before.device.index, each.pid);
      if (is_account_only(row)) continue;
      peaks_[i].add(each, &row);
      add_row(row, devices_[i].before, sum, read);
      if (row.accounting != hypomnesis::accounting_kind::allocated && ++may_share > 1) {
        devices_[i].needs_list = true;
        return false;
      }
    } catch (const hypomnesis::error& why) {
      if (why.status() == status_code::no_process) continue;
      was_read = false;
      read.is_lower_bound = true;
      read.why = why.what();
    }
  }
  settle(devices_[i], was_read, read);
  to = std::move(read);
  return true;
}

void RunMeter::add_from_list(const hypomnesis::snapshot_values& from, std::size_t i,
                             DeviceSample& to) {
  UsageSum sum;
  const auto index = devices_[i].before.device.index;
  for (const auto& row : part_of(from.usages, index)) {
    if (has(row.notes, note::foreign_pid)) continue;
    const auto* const who = find(tree_->members(), row.pid);
    if (who == nullptr) continue;
    peaks_[i].add(*who, &row);
    add_row(row, devices_[i].before, sum, to);
  }
  bool was_read = true;
  for (const auto& each : diagnostics_of(from, index)) {
    if (!hides_processes(each)) continue;
    was_read = false;
    to.why = each.message;
  }
  // A stale list without rows of the command has no row with its age.
  const auto* const found = device_of(from, index);
  if (found != nullptr && found->device.state == hypomnesis::run_state::hung) {
    was_read = false;
    if (to.why.empty()) to.why = "the device does not answer";
  }
  settle(devices_[i], was_read, to);
}

std::vector<DeviceSample> RunMeter::read_devices() {
  const bool are_few =
      tree_->members().size() <= few &&
      std::none_of(devices_.begin(), devices_.end(), [](const auto& d) { return d.needs_list; });
  std::string why_no_snapshot;
  std::string why_no_list;
  std::optional<hypomnesis::snapshot_values> listed;  // one for all devices that need it
  const auto snapshot =
      take(are_few ? of_devices : of_devices | part::processes, Cost::quick, why_no_snapshot);
  for (auto& each : devices_)
    if (each.needs_own) find_list(in_, each);
  std::vector<DeviceSample> all(devices_.size());
  const std::string why_no_processes =
      tree_->members().empty() && tree_->why_not().empty() ? ended_too_early : tree_->why_not();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].why_used = why_no_snapshot;
    if (snapshot) add_device(*snapshot, devices_[i].before.device.index, all[i]);
    all[i].why = why_no_processes.empty() ? why_no_snapshot : why_no_processes;
    if (!why_no_processes.empty()) {
      settle(devices_[i], false, all[i]);
      continue;
    }
    if (are_few && add_one_by_one(i, all[i])) continue;
    if (are_few && !listed && why_no_list.empty())
      listed = take(of_devices | part::processes, Cost::quick, why_no_list);
    if (!why_no_list.empty()) all[i].why = why_no_list;
    if (const auto& from = are_few ? listed : snapshot)
      add_from_list(*from, i, all[i]);
    else
      settle(devices_[i], false, all[i]);
  }
  return all;
}

RunSample RunMeter::read(Extent wanted) {
  const bool is_all = wanted == Extent::all;
  RunSample out;
  const auto now = Clock::now();
  out.offset_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - begun_).count());
  out.unix_time_ns = unix_time_ns();
  if (is_all || host_pace_.is_due(now)) {
    const auto before = processor_time();
    out.host = read_host();
    host_pace_.count(now, processor_time() - before);
    add_proportional(now, *out.host);
  }
  if (now - begun_ > longest_search) is_searching_ = false;
  if (is_searching_ || (!devices_.empty() && (is_all || device_pace_.is_due(now)))) {
    const auto before = processor_time();
    out.devices = read_devices();
    device_pace_.count(now, processor_time() - before);
  }
  return out;
}

RemainingProcesses RunMeter::find_remaining() {
  refresh_members();
  if (!tree_->why_not().empty()) return {};
  RemainingProcesses out;
  out.count = static_cast<std::uint32_t>(tree_->members().size());
  if (*out.count > 0) out.largest_bytes = sum_of(peak_resident, nullptr).largest_bytes;
  return out;
}

std::vector<EnergyReading> RunMeter::end() {
  is_searching_ = false;
  std::vector<EnergyReading> all(devices_.size());
  if (devices_.empty()) return all;
  std::string why;
  const auto snapshot = take(of_devices, Cost::with_energy, why);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = snapshot ? energy_of(*snapshot, devices_[i].before.device.index)
                      : EnergyReading{std::nullopt, why};
  return all;
}

std::vector<KeptPeak> RunMeter::peaks(std::uint64_t started_unix_ns) {
  tree_->refresh();
  if (const auto& why = tree_->why_not(); !why.empty())
    return std::vector<KeptPeak>(devices_.size(), {std::nullopt, 0, {}, why});
  std::vector<KeptPeak> all;
  const auto until = std::chrono::steady_clock::now() + longest_peaks;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    all.push_back(peaks_[i].end(
        {in_, devices_[i].before.device.index, started_unix_ns, tree_->members(), until}));
  return all;
}

}  // namespace hmn::cli
