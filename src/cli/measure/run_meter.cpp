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

constexpr std::size_t max_processes_per_device = 16384;
// Limit of queries for processes never seen on the device: each costs the driver its lists, without
// a result where it keeps no accounts.
constexpr std::size_t max_idle_reads = 64;
constexpr std::size_t max_idle_tries = 8;

constexpr const char* no_accounts = "the driver keeps no account of a process's peak";
constexpr const char* incomplete_accounts =
    "a process that was seen has no account, or it could not be read";

bool is_alive(const std::vector<ProcessTree::Member>& members, std::uint32_t pid) {
  return std::any_of(members.begin(), members.end(),
                     [pid](const auto& member) { return member.pid == pid; });
}

}  // namespace

bool is_account_only(const hypomnesis::usage& row) noexcept {
  return row.peak_used_bytes && !row.used_bytes && !row.kinds;
}

void ProcessPeaks::add(const ProcessTree::Member& member, const hypomnesis::usage* row) {
  const auto it = processes_.find(member.pid);
  if (it == processes_.end() && processes_.size() >= max_processes_per_device) {
    is_partial_ = is_partial_ || row != nullptr;
    return;
  }
  SeenProcess& process = processes_[member.pid];
  if (it != processes_.end() && process.start != member.start) {
    is_partial_ = is_partial_ || process.has_used;
    process = SeenProcess();
  }
  process.start = member.start;
  if (row == nullptr) return;
  process.has_used = true;
  process.has_account = process.has_account || row->peak_used_bytes;
  if (is_fresh(*row))
    process.used_bytes = std::max(process.used_bytes, row->used_bytes.value_or(0));
}

// Rejects accounts of another process with the same pid.
ProcessPeaks::Account ProcessPeaks::find_account(const Request& request,
                                                 const hypomnesis::usage& row,
                                                 const SeenProcess& process) {
  if (!is_fresh(row)) return {};
  const bool may_have_ended =
      row.name_state == name_status::exited || row.name_state == name_status::unknown;
  const bool began_with_command = row.start_unix_ns
                                      ? has_started_by(request.started_unix_ns, *row.start_unix_ns)
                                      : !is_account_only(row);
  if (!began_with_command || !(may_have_ended || is_alive(request.members, row.pid)))
    return missing_account(process);
  if (!row.peak_used_bytes || *row.peak_used_bytes < process.used_bytes) return {};
  return {Kind::bytes, *row.peak_used_bytes, row.backend, {}};
}

ProcessPeaks::Account ProcessPeaks::read_account(const Request& request, std::uint32_t pid,
                                                 const SeenProcess& process) {
  try {
    return find_account(request, request.session.library().usage(request.device_index, pid),
                        process);
  } catch (const hypomnesis::error& error) {
    if (error.status() == status_code::no_process) return missing_account(process);
    Account account;
    if (error.status() != status_code::unsupported) account.reason = error.what();
    return account;
  }
}

DriverPeak ProcessPeaks::finish(const Request& request) const {
  DriverPeak peak;
  const auto has_used = [](const auto& entry) { return entry.second.has_used; };
  const bool was_used = std::any_of(processes_.begin(), processes_.end(), has_used);
  const bool has_accounts = std::any_of(processes_.begin(), processes_.end(),
                                        [](const auto& entry) { return entry.second.has_account; });
  peak.reason = no_accounts;
  if (was_used && !has_accounts) return peak;
  bool is_whole = !is_partial_;
  std::size_t idle_count = 0;
  const std::size_t max_idle = has_accounts ? max_idle_reads : max_idle_tries;
  for (auto it = processes_.begin(); it != processes_.end() && is_whole; ++it) {
    const auto& [pid, process] = *it;
    const bool is_read = (process.has_used || ++idle_count <= max_idle) &&
                         std::chrono::steady_clock::now() < request.deadline;
    const Account account = is_read ? read_account(request, pid, process) : Account();
    is_whole = account.kind != Kind::unknown;
    if (!account.reason.empty()) peak.reason = account.reason;
    if (account.kind != Kind::bytes) continue;
    ++peak.processes;
    peak.backend = account.backend;
    peak.largest_bytes = std::max(peak.largest_bytes.value_or(0), account.bytes);
  }
  if (is_whole) return peak;
  peak.largest_bytes.reset();
  if (peak.reason == no_accounts && (has_accounts || peak.processes > 0))
    peak.reason = incomplete_accounts;
  return peak;
}

namespace {

using hypomnesis::note;
using hypomnesis::part;

constexpr auto device_parts = part::devices | part::pools | part::telemetry;
// Limit up to which processes are queried one by one, which costs a driver less than a full list.
constexpr std::size_t max_single_queries = 4;

constexpr MemoryField resident{hypomnesis::process_memory_field::resident,
                               &hypomnesis::process_memory::resident_bytes};
constexpr MemoryField peak_resident{hypomnesis::process_memory_field::peak_resident,
                                    &hypomnesis::process_memory::peak_resident_bytes};
constexpr MemoryField proportional{hypomnesis::process_memory_field::proportional,
                                   &hypomnesis::process_memory::proportional_bytes};

// Returns the values with the diagnostics by device: those of none first.
hypomnesis::snapshot_values sort_by_device(const hypomnesis::snapshot& snapshot) {
  auto values = snapshot.values();
  std::ranges::stable_sort(values.diagnostics, {}, &hypomnesis::diagnostic::device_index);
  return values;
}

auto filter_diagnostics(const hypomnesis::snapshot_values& snapshot, std::uint32_t index) {
  return filter_by_device(
      snapshot.diagnostics, index, [](const hypomnesis::diagnostic& diagnostic) {
        return diagnostic.device_index ? std::int64_t{*diagnostic.device_index} : -1;
      });
}

const hypomnesis::snapshot_device* find_snapshot_device(const hypomnesis::snapshot_values& snapshot,
                                                        std::uint32_t index) {
  return find_by_index(snapshot.devices, index, [](const hypomnesis::snapshot_device& record) {
    return record.device.index;
  });
}

// Returns why everything of a subject is missing; empty: it is not, or no reason is known.
std::string explain_missing_subject(const hypomnesis::snapshot_values& snapshot, part subject,
                                    std::uint32_t index) {
  for (const auto& diagnostic : filter_diagnostics(snapshot, index))
    if (diagnostic.subject == subject && !diagnostic.field && !is_trace(diagnostic))
      return diagnostic.message;
  return {};
}

EnergyReading read_energy(const hypomnesis::snapshot_values& snapshot, std::uint32_t index) {
  const auto* const device = find_snapshot_device(snapshot, index);
  if (device == nullptr || !device->telemetry)
    return {std::nullopt, explain_missing_subject(snapshot, part::telemetry, index)};
  const auto& values = *device->telemetry;
  if (!is_fresh(values)) return {std::nullopt, format_stale_age(values.age_ns)};
  if (values.energy_joules) return {values.energy_joules, {}};
  for (const auto& diagnostic : filter_diagnostics(snapshot, index))
    if (diagnostic.subject == part::telemetry && !is_trace(diagnostic) &&
        (diagnostic.field.value_or(0) & HMN_TELEMETRY_HAS_ENERGY) != 0)
      return {std::nullopt, diagnostic.message};
  return {std::nullopt, {}};
}

void add_used(const hypomnesis::pool& pool, DeviceSample& sample) {
  if (!is_fresh(pool)) {
    sample.used_reason = format_stale_age(pool.age_ns);
    return;
  }
  sample.used_bytes = pool.used_bytes;
  sample.is_used_lower_bound = has(pool.notes, note::lower_bound);
  sample.age_ns = std::max(sample.age_ns, pool.age_ns);
}

void add_device(const hypomnesis::snapshot_values& snapshot, std::uint32_t index,
                DeviceSample& sample) {
  sample.used_reason = explain_missing_subject(snapshot, part::pools, index);
  const auto* const device = find_snapshot_device(snapshot, index);
  if (device == nullptr) return;
  sample.is_asleep = device->device.state == hypomnesis::run_state::asleep;
  for (const auto& pool : device->pools)
    if (pool.is_main) add_used(pool, sample);
  if (!device->telemetry || !is_fresh(*device->telemetry)) return;
  sample.busy_percent = device->telemetry->gpu_busy_percent;
  sample.power_watts = device->telemetry->power_watts;
  sample.energy_joules = device->telemetry->energy_joules;
}

// Adds what a process uses of the pool whose use by all processes is shown.
void add_row(const hypomnesis::usage& row, const Gpu& gpu, UsageSum& sum, DeviceSample& sample) {
  const auto used = split_use(row, gpu).main;
  if (!is_fresh(row)) sample.reason = format_stale_age(row.age_ns);
  if (!is_fresh(row) || !used) {
    sample.is_lower_bound = true;
    return;
  }
  add_usage(sum, row, *used);
  // Use was read at another time: the device's total is the limit.
  const auto total = gpu.memory ? gpu.memory->total_bytes : std::nullopt;
  if (total && sum.lower_bound() > *total &&
      row.accounting != hypomnesis::accounting_kind::committed) {
    sample.command_bytes.reset();
    sample.reason = "its processes add up to more than the device has";
    sample.is_lower_bound = true;
    return;
  }
  sample.command_bytes = sum.lower_bound();
  sample.age_ns = std::max(sample.age_ns, row.age_ns);
  if (!sum.is_exact() || has(row.notes, note::lower_bound)) sample.is_lower_bound = true;
}

// Stores 0 for an unseen command where that is certain.
void finish_sample(const WatchedDevice& device, bool was_read, DeviceSample& sample) {
  if (!device.lists_children) sample.is_lower_bound = true;
  if (sample.command_bytes) return;
  if (was_read && device.lists_children && !sample.is_lower_bound)
    sample.command_bytes = 0;
  else if (sample.reason.empty())
    sample.reason = device.reason.empty() ? "not reported by the driver" : device.reason;
}

void probe_process_list(const Session& session, WatchedDevice& device) {
  device.lists_children = device.needs_own_usage = false;
  device.reason.clear();
  try {
    session.library().own_usage(device.before.device.index);
    device.lists_children = true;
  } catch (const hypomnesis::error& error) {
    device.needs_own_usage = error.status() == status_code::asleep;
    device.reason = error.what();
  }
}

const ProcessTree::Member* find_member(const std::vector<ProcessTree::Member>& members,
                                       std::uint32_t pid) {
  const auto it = std::find_if(members.begin(), members.end(),
                               [pid](const auto& member) { return member.pid == pid; });
  return it != members.end() ? &*it : nullptr;
}

// Returns the processor time of the whole program, with all its threads.
std::chrono::nanoseconds read_processor_time() noexcept {
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
  const auto elapsed = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
}

void RunMeter::find_devices() {
  hypomnesis::snapshot_options options;
  options.collect = device_parts;
  options.device_index = device_index_;
  session_.device_list();
  const auto snapshot = session_.take_briefly(options);
  add_devices(snapshot);
  if (no_devices_reason_ && !is_searching_) print_diagnostics(snapshot);
}

void RunMeter::add_devices(const hypomnesis::snapshot& snapshot) {
  const auto values = sort_by_device(snapshot);
  for (auto& gpu : list_gpus(session_, snapshot)) {
    const auto index = gpu.device.index;
    if (std::ranges::any_of(
            devices_, [&](const auto& device) { return device.before.device.index == index; }))
      continue;
    WatchedDevice device;
    device.before = std::move(gpu);
    device.energy = read_energy(values, index);
    if (tree_ != nullptr) {
      if (device.before.memory) device.before.memory->used_bytes.reset();
      device.energy = {std::nullopt, "the driver answered only after the command had been started"};
    }
    devices_.push_back(std::move(device));
    peaks_.emplace_back();
  }
  no_devices_reason_ = explain_search_failure(snapshot);
  is_searching_ = !device_index_ && is_late(snapshot);
  if (tree_ != nullptr) record_members();
}

void RunMeter::watch(ProcessTree& tree, std::uint32_t pid, CommandGroup* group) {
  tree_ = &tree;
  group_ = group;
  start_ = Clock::now();
  record_members();
  // The command may have ended before the first reading, or not be readable yet.
  if (tree.members().empty())
    for (auto& device_peaks : peaks_) device_peaks.add({pid, 0}, nullptr);
}

void RunMeter::record_members() {
  for (auto& device_peaks : peaks_)
    for (const auto& member : tree_->members()) device_peaks.add(member, nullptr);
}

RunMeter::Clock::time_point RunMeter::next() const {
  return devices_.empty() && !is_searching_ ? host_pace_.next()
                                            : std::min(host_pace_.next(), device_pace_.next());
}

std::optional<hypomnesis::snapshot_values> RunMeter::take_snapshot(hypomnesis::part parts,
                                                                   Cost cost, std::string& reason) {
  hypomnesis::snapshot_options options;
  options.collect = parts;
  options.quick = cost == Cost::quick;
  options.deadline = deadline_;
  if (devices_.size() == 1 && !is_searching_)
    options.device_index = devices_.front().before.device.index;
  const auto snapshot = attempt([&] { return session_.library().take(options); }, &reason);
  if (!snapshot) return std::nullopt;
  if (is_searching_) add_devices(*snapshot);
  return sort_by_device(*snapshot);
}

void RunMeter::refresh_members() {
  tree_->refresh(group_ != nullptr ? group_->processes() : std::vector<std::uint32_t>{});
  if (group_ != nullptr) group_->check_members(tree_->members());
}

// Sums without processes that end in the meantime; nothing if one cannot be read.
RunMeter::ProcessSum RunMeter::sum_members(const MemoryField& memory, std::string* reason) const {
  ProcessSum sum;
  for (const auto& member : tree_->members()) {
    std::optional<std::uint64_t> bytes;
    try {
      bytes = session_.library().process_memory(member.pid, memory.field).*memory.bytes;
    } catch (const hypomnesis::error& error) {
      if (reason != nullptr) *reason = error.what();
      if (error.status() != status_code::no_process) return {};
    }
    if (!bytes) continue;
    sum.bytes = sum.bytes.value_or(0) + *bytes;
    sum.largest_bytes = std::max(sum.largest_bytes, *bytes);
  }
  return sum;
}

HostSample RunMeter::read_host() {
  HostSample sample;
  if (group_ != nullptr) sample.group_bytes = group_->current_bytes();
  refresh_members();
  sample.reason = tree_->error();
  if (!sample.reason.empty()) return sample;
  record_members();
  sample.processes = static_cast<std::uint32_t>(tree_->members().size());
  sample.reason = ended_too_early;
  const auto sum = sum_members(resident, &sample.reason);
  sample.resident_bytes = sum.bytes;
  sample.largest_bytes = sum.largest_bytes;
  if (sample.resident_bytes) {
    sample.reason.clear();
    return sample;
  }
  tree_->refresh();
  if (tree_->members().empty() && tree_->error().empty()) sample.reason = ended_too_early;
  return sample;
}

// Reads rarely: the kernel walks the page tables, which delays a large process.
void RunMeter::add_proportional(Clock::time_point now, HostSample& sample) {
  // Continue with a single process, as the peak would otherwise be that of the beginning.
  had_several_processes_ = had_several_processes_ || sample.processes.value_or(0) > 1;
  if (!had_several_processes_ || !proportional_pace_.is_due(now)) return;
  const auto before = read_processor_time();
  sample.proportional_bytes = sum_members(proportional, nullptr).bytes;
  proportional_pace_.add_cost(now, read_processor_time() - before);
}

// Returns false where only the list shows what the processes share: a client that a child inherited
// is in the row of each.
bool RunMeter::add_one_by_one(std::size_t position, DeviceSample& sample) {
  bool was_read = true;
  std::size_t sharing_count = 0;
  UsageSum sum;
  DeviceSample result = sample;
  for (const auto& member : tree_->members()) {
    try {
      const auto row = session_.library().usage(devices_[position].before.device.index, member.pid);
      if (is_account_only(row)) continue;
      peaks_[position].add(member, &row);
      add_row(row, devices_[position].before, sum, result);
      if (row.accounting != hypomnesis::accounting_kind::allocated && ++sharing_count > 1) {
        devices_[position].needs_list = true;
        return false;
      }
    } catch (const hypomnesis::error& error) {
      if (error.status() == status_code::no_process) continue;
      was_read = false;
      result.is_lower_bound = true;
      result.reason = error.what();
    }
  }
  finish_sample(devices_[position], was_read, result);
  sample = std::move(result);
  return true;
}

void RunMeter::add_from_list(const hypomnesis::snapshot_values& snapshot, std::size_t position,
                             DeviceSample& sample) {
  UsageSum sum;
  const auto index = devices_[position].before.device.index;
  for (const auto& row : filter_by_device(snapshot.usages, index)) {
    if (has(row.notes, note::foreign_pid)) continue;
    const auto* const member = find_member(tree_->members(), row.pid);
    if (member == nullptr) continue;
    peaks_[position].add(*member, &row);
    add_row(row, devices_[position].before, sum, sample);
  }
  bool was_read = true;
  for (const auto& diagnostic : filter_diagnostics(snapshot, index)) {
    if (!hides_processes(diagnostic)) continue;
    was_read = false;
    sample.reason = diagnostic.message;
  }
  // A stale list without rows of the command has no row with its age.
  const auto* const device = find_snapshot_device(snapshot, index);
  if (device != nullptr && device->device.state == hypomnesis::run_state::hung) {
    was_read = false;
    if (sample.reason.empty()) sample.reason = "the device does not answer";
  }
  finish_sample(devices_[position], was_read, sample);
}

std::vector<DeviceSample> RunMeter::read_devices() {
  const bool reads_one_by_one =
      tree_->members().size() <= max_single_queries &&
      std::none_of(devices_.begin(), devices_.end(), [](const auto& d) { return d.needs_list; });
  std::string snapshot_reason;
  std::string list_reason;
  std::optional<hypomnesis::snapshot_values> list_snapshot;  // one for all devices that need it
  const auto snapshot =
      take_snapshot(reads_one_by_one ? device_parts : device_parts | part::processes, Cost::quick,
                    snapshot_reason);
  for (auto& device : devices_)
    if (device.needs_own_usage) probe_process_list(session_, device);
  std::vector<DeviceSample> samples(devices_.size());
  const std::string process_reason =
      tree_->members().empty() && tree_->error().empty() ? ended_too_early : tree_->error();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].used_reason = snapshot_reason;
    if (snapshot) add_device(*snapshot, devices_[i].before.device.index, samples[i]);
    samples[i].reason = process_reason.empty() ? snapshot_reason : process_reason;
    if (!process_reason.empty()) {
      finish_sample(devices_[i], false, samples[i]);
      continue;
    }
    if (reads_one_by_one && add_one_by_one(i, samples[i])) continue;
    if (reads_one_by_one && !list_snapshot && list_reason.empty())
      list_snapshot = take_snapshot(device_parts | part::processes, Cost::quick, list_reason);
    if (!list_reason.empty()) samples[i].reason = list_reason;
    if (const auto& list = reads_one_by_one ? list_snapshot : snapshot)
      add_from_list(*list, i, samples[i]);
    else
      finish_sample(devices_[i], false, samples[i]);
  }
  return samples;
}

RunSample RunMeter::read(Extent extent) {
  const bool is_all = extent == Extent::all;
  RunSample sample;
  const auto now = Clock::now();
  sample.offset_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - start_).count());
  sample.unix_time_ns = unix_time_ns();
  if (is_all || host_pace_.is_due(now)) {
    const auto before = read_processor_time();
    sample.host = read_host();
    host_pace_.add_cost(now, read_processor_time() - before);
    add_proportional(now, *sample.host);
  }
  if (now - start_ > longest_search) is_searching_ = false;
  if (is_searching_ || (!devices_.empty() && (is_all || device_pace_.is_due(now)))) {
    const auto before = read_processor_time();
    sample.devices = read_devices();
    device_pace_.add_cost(now, read_processor_time() - before);
  }
  return sample;
}

RemainingProcesses RunMeter::find_remaining() {
  refresh_members();
  if (!tree_->error().empty()) return {};
  RemainingProcesses remaining;
  remaining.count = static_cast<std::uint32_t>(tree_->members().size());
  if (*remaining.count > 0)
    remaining.largest_bytes = sum_members(peak_resident, nullptr).largest_bytes;
  return remaining;
}

std::vector<EnergyReading> RunMeter::finish() {
  is_searching_ = false;
  std::vector<EnergyReading> all(devices_.size());
  if (devices_.empty()) return all;
  std::string reason;
  const auto snapshot = take_snapshot(device_parts, Cost::with_energy, reason);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = snapshot ? read_energy(*snapshot, devices_[i].before.device.index)
                      : EnergyReading{std::nullopt, reason};
  return all;
}

std::vector<DriverPeak> RunMeter::read_peaks(std::uint64_t started_unix_ns) {
  tree_->refresh();
  if (const auto& reason = tree_->error(); !reason.empty())
    return std::vector<DriverPeak>(devices_.size(), {std::nullopt, 0, {}, reason});
  std::vector<DriverPeak> all;
  const auto deadline = std::chrono::steady_clock::now() + longest_peaks;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    all.push_back(peaks_[i].finish(
        {session_, devices_[i].before.device.index, started_unix_ns, tree_->members(), deadline}));
  return all;
}

}  // namespace hmn::cli
