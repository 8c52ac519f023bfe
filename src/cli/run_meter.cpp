// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/run_meter.hpp"

#include <algorithm>

#include "cli/clocks.hpp"
#include "cli/diagnostics.hpp"
#include "cli/no_gpu.hpp"

namespace hmn::cli {
namespace {

constexpr hmn_flags figures_wanted =
    HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY;
// Up to so many processes are asked for one by one, which costs a driver less than a list of all.
constexpr std::size_t few = 4;

std::optional<hmn_telemetry> telemetry_of(const snapshot& picture, std::uint32_t index) {
  const auto devices = picture.devices();
  for (std::uint32_t i = 0; i < devices.size(); ++i)
    if (devices[i].index == index) return picture.telemetry(i);
  return std::nullopt;
}

std::optional<double> energy_of(const snapshot& picture, std::uint32_t index) {
  const auto found = telemetry_of(picture, index);
  return found ? known(*found, HMN_TELEMETRY_HAS_ENERGY, found->energy_joules) : std::nullopt;
}

void add_figures(const snapshot& picture, std::uint32_t index, device_sample& to) {
  for (const auto& pool : picture.pools())
    if (pool.device_index == index && pool.is_main != 0)
      to.used_bytes = known(pool, HMN_POOL_HAS_USED, pool.used_bytes);
  const auto found = telemetry_of(picture, index);
  if (!found) return;
  to.busy_percent = known(*found, HMN_TELEMETRY_HAS_GPU_BUSY, found->gpu_busy_percent);
  to.power_watts = known(*found, HMN_TELEMETRY_HAS_POWER, found->power_watts);
  to.energy_joules = known(*found, HMN_TELEMETRY_HAS_ENERGY, found->energy_joules);
}

void add_row(const hmn_usage& row, device_sample& to) {
  if (!has(row, HMN_USAGE_HAS_USED)) {
    to.is_lower_bound = true;
    return;
  }
  to.command_bytes = to.command_bytes.value_or(0) + row.used_bytes;
  if ((row.notes & HMN_NOTE_LOWER_BOUND) != 0) to.is_lower_bound = true;
}

// Nothing was found: 0 where that is sure.
void settle(const watched_device& of, bool was_asked, device_sample& to) {
  if (!of.lists_children) to.is_lower_bound = true;
  if (to.command_bytes) return;
  if (was_asked && of.lists_children && !to.is_lower_bound)
    to.command_bytes = 0;
  else if (to.why.empty())
    to.why = of.why_not.empty() ? "the driver did not tell" : of.why_not;
}

// The list of that device's processes failed, not one row of it, nor another figure of them.
bool hides_list(const hmn_diagnostic& each, std::uint32_t index) {
  const bool is_of_others =
      has(each, HMN_DIAGNOSTIC_HAS_FIELD) && (each.field & HMN_USAGE_HAS_USED) == 0;
  return !is_of_others && each.subject == HMN_COLLECT_PROCESSES &&
         (each.notes & HMN_NOTE_TRACE) == 0 && has(each, HMN_DIAGNOSTIC_HAS_DEVICE) &&
         each.device_index == index && !has(each, HMN_DIAGNOSTIC_HAS_PID);
}

void look_for_list(const context& in, watched_device& of) {
  auto own = sized<hmn_usage>();
  auto why = sized<hmn_error>();
  const auto status = hmn_usage_read_self(in.native(), of.before.device.index, &own, &why);
  of.lists_children = status == HMN_OK;
  of.was_asleep = status == HMN_E_ASLEEP;
  of.why_not = why.message;
}

const process_tree::member* find(const std::vector<process_tree::member>& members,
                                 std::uint32_t pid) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [pid](const auto& each) { return each.pid == pid; });
  return found != members.end() ? &*found : nullptr;
}

// All processes of the command together.
constexpr std::chrono::seconds longest_asking{2};

}  // namespace

void run_meter::watch(process_tree& tree, std::uint32_t pid, const command_group* group) {
  tree_ = &tree;
  group_ = group;
  begun_ = clock::now();
  note_members();
  // It may have ended before it was looked at.
  if (tree.members().empty())
    for (auto& each : peaks_) each.add({pid, 0}, nullptr);
}

void run_meter::note_members() {
  for (auto& each : peaks_)
    for (const auto& member : tree_->members()) each.add(member, nullptr);
}

run_meter::clock::time_point run_meter::next() const {
  return devices_.empty() ? host_pace_.next() : std::min(host_pace_.next(), device_pace_.next());
}

std::optional<snapshot> run_meter::take(hmn_flags collect) const {
  auto what = sized<hmn_snapshot_options>();
  what.collect = collect;
  what.deadline_ms = deadline_ms_;
  if (devices_.size() == 1) {
    what.flags = HMN_SNAPSHOT_ONE_DEVICE;
    what.device_index = devices_.front().before.device.index;
  }
  auto taken = in_.take_by_deadline(what);
  if (!taken) return std::nullopt;
  return *std::move(taken);
}

// Processes end while they are counted: those are left out.
std::optional<std::uint64_t> run_meter::sum_of(hmn_flags field, std::string* why) const {
  std::optional<std::uint64_t> sum;
  for (const auto& each : tree_->members()) {
    auto memory = sized<hmn_process_memory>();
    auto error = sized<hmn_error>();
    if (hmn_process_memory_read(in_.native(), each.pid, field, &memory, &error) != HMN_OK ||
        !has(memory, field)) {
      if (why != nullptr) *why = error.message;
      continue;
    }
    sum = sum.value_or(0) + (field == HMN_PROCESS_MEMORY_HAS_RESIDENT ? memory.resident_bytes
                                                                      : memory.proportional_bytes);
  }
  return sum;
}

host_sample run_meter::read_host() {
  host_sample out;
  tree_->refresh(group_ != nullptr ? group_->processes() : std::vector<std::uint32_t>{});
  note_members();
  out.processes = static_cast<std::uint32_t>(tree_->members().size());
  out.resident_bytes = sum_of(HMN_PROCESS_MEMORY_HAS_RESIDENT, &out.why);
  if (group_ != nullptr) out.group_bytes = group_->current_bytes();
  return out;
}

// The kernel walks the page tables for it, which holds a large process up.
void run_meter::add_proportional(clock::time_point now, host_sample& to) {
  // Once begun it goes on when one process is left: else its peak would be that of the beginning.
  have_shared_ = have_shared_ || to.processes > 1;
  if (!have_shared_ || !proportional_pace_.is_due(now)) return;
  const auto before = processor_time();
  to.proportional_bytes = sum_of(HMN_PROCESS_MEMORY_HAS_PROPORTIONAL, nullptr);
  proportional_pace_.count(now, processor_time() - before);
}

void run_meter::add_one_by_one(std::size_t i, device_sample& to) {
  bool was_asked = true;
  for (const auto& each : tree_->members()) {
    auto row = sized<hmn_usage>();
    auto why = sized<hmn_error>();
    const auto status =
        hmn_usage_read(in_.native(), devices_[i].before.device.index, each.pid, &row, &why);
    const bool is_listed = status == HMN_OK && !is_account_only(row);
    if (is_listed) {
      peaks_[i].add(each, &row);
      add_row(row, to);
    } else if (status != HMN_OK && status != HMN_E_NO_PROCESS) {
      was_asked = false;
      to.is_lower_bound = true;
      to.why = why.message;
    }
  }
  settle(devices_[i], was_asked, to);
}

void run_meter::add_from_list(const snapshot& picture, std::size_t i, device_sample& to) {
  const auto index = devices_[i].before.device.index;
  for (const auto& row : picture.usages()) {
    if (row.device_index != index || (row.notes & HMN_NOTE_FOREIGN_PID) != 0) continue;
    const auto* const who = find(tree_->members(), row.pid);
    if (who == nullptr) continue;
    peaks_[i].add(*who, &row);
    add_row(row, to);
  }
  bool was_asked = true;
  for (const auto& each : picture.diagnostics()) {
    if (!hides_list(each, index)) continue;
    was_asked = false;
    to.why = each.message;
  }
  settle(devices_[i], was_asked, to);
}

std::vector<device_sample> run_meter::read_devices() {
  std::vector<device_sample> all(devices_.size());
  for (auto& each : devices_)
    if (each.was_asleep) look_for_list(in_, each);
  const bool are_few = tree_->members().size() <= few;
  const auto picture = take(are_few ? figures_wanted : figures_wanted | HMN_COLLECT_PROCESSES);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (picture) add_figures(*picture, devices_[i].before.device.index, all[i]);
    if (are_few)
      add_one_by_one(i, all[i]);
    else if (picture)
      add_from_list(*picture, i, all[i]);
    else
      settle(devices_[i], false, all[i]);
  }
  return all;
}

run_sample run_meter::read() {
  run_sample out;
  const auto now = clock::now();
  out.offset_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - begun_).count());
  out.unix_time_ns = unix_time_ns();
  if (host_pace_.is_due(now)) {
    const auto before = processor_time();
    out.host = read_host();
    host_pace_.count(now, processor_time() - before);
    add_proportional(now, *out.host);
  }
  if (!devices_.empty() && device_pace_.is_due(now)) {
    const auto before = processor_time();
    out.devices = read_devices();
    device_pace_.count(now, processor_time() - before);
  }
  return out;
}

std::vector<std::optional<double>> run_meter::end() {
  for (auto* each : {&host_pace_, &device_pace_, &proportional_pace_}) each->end(clock::now());
  std::vector<std::optional<double>> all(devices_.size());
  if (devices_.empty()) return all;
  const auto picture = take(figures_wanted);
  for (std::size_t i = 0; picture && i < all.size(); ++i)
    all[i] = energy_of(*picture, devices_[i].before.device.index);
  return all;
}

std::vector<kept_peak> run_meter::peaks(std::uint64_t started_unix_ns) {
  std::vector<kept_peak> all;
  tree_->refresh();
  const auto until = std::chrono::steady_clock::now() + longest_asking;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    all.push_back(peaks_[i].end(
        {in_, devices_[i].before.device.index, started_unix_ns, tree_->members(), until}));
  return all;
}

expected<std::vector<watched_device>> devices_to_watch(const context& in,
                                                       std::optional<std::uint32_t> only) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = figures_wanted;
  if (only) {
    what.flags = HMN_SNAPSHOT_ONE_DEVICE;
    what.device_index = *only;
  }
  const auto picture = in.take(what);
  if (!picture) return picture.why();
  if (search_failed(*picture)) print_diagnostics(*picture);
  std::vector<watched_device> all;
  for (auto& each : gpus_of(*picture)) {
    watched_device one;
    one.before = std::move(each);
    one.energy_joules = energy_of(*picture, one.before.device.index);
    look_for_list(in, one);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace hmn::cli
