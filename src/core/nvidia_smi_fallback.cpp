// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads from nvidia-smi the subjects of a GPU that NVML failed to read.
#include <algorithm>

#include "core/context.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

// Maximum age of the tool's answer, since each new one starts a program, and maximum wait for one:
// other values need not wait for a command that hangs.
constexpr std::uint64_t max_age_ns = platform::ns_per_second;
constexpr std::uint64_t max_wait_ns = 5 * platform::ns_per_second;

// Returns whether no source could serve the subject, for a reason that need not hold for another
// one. For a process that is not listed, a device that sleeps or hangs, or a value that the device
// does not have, the reason is the answer.
bool has_failed(const MergedDevice& device, std::uint32_t subject_bit) noexcept {
  const std::optional<Failure>& failure = device.subject_failure(subject_bit);
  if (!failure || failure->is_permanent || (device.complete_subjects & subject_bit) != 0)
    return false;
  return failure->code == Status::backend || failure->code == Status::unsupported ||
         failure->code == Status::permission;
}

// The tool lists processes that compute; accounts of processes that have ended have no current
// usage.
bool lacks_usage(const Usage& row) noexcept {
  const bool computes = (row.kinds.value_or(usage_kind::compute) & usage_kind::compute) != 0;
  return !row.used && computes && !row.accounted_since_ns && !is_stale(row.notes);
}

bool lacks_usage(const MergedDevice& device, const std::optional<Usage>& row,
                 std::uint32_t subject_bit) noexcept {
  return row ? lacks_usage(*row) : has_failed(device, subject_bit);
}

// Returns whether one of the lists that the row is from could not be read.
bool comes_from_partial_list(const Usage& row) noexcept {
  return (row.notes & note::lower_bound) != 0 && !is_stale(row.notes);
}

// Returns the subjects of the plan that the device lacks although its source was queried; none for
// a source that is suspended, is late or has lost the device.
std::uint32_t find_unserved(const MergedDevice& device, const Plan& plan) noexcept {
  std::uint32_t subjects = 0;
  if (plan.pools && has_failed(device, subject::pools)) subjects |= subject::pools;
  if (plan.telemetry != 0 && has_failed(device, subject::telemetry)) subjects |= subject::telemetry;
  // Processes of a divided device are listed under its partitions.
  if (is_divided(device.identity)) return subjects;
  if (plan.self && lacks_usage(device, device.self, subject::self)) subjects |= subject::self;
  const bool lacks_rows =
      (plan.pid != 0 && lacks_usage(device, device.process, subject::processes)) ||
      (plan.processes && (has_failed(device, subject::processes) ||
                          std::ranges::any_of(device.processes, [](const Usage& r) {
                            return lacks_usage(r) || comes_from_partial_list(r);
                          })));
  if (lacks_rows) subjects |= subject::processes;
  return subjects;
}

// A pool without a total adds nothing where NVML failed.
void add_pools(MergedDevice& device, const hmn::PoolList& pools) {
  for (Pool pool : pools.all()) {
    if (!pool.total) continue;
    pool.device_index = device.identity.index;
    device.pools.add(pool);
    device.complete_subjects |= subject::pools;
  }
}

void add_telemetry(MergedDevice& device, hmn::Telemetry reading, const Plan& plan) {
  if (present_bits(reading, plan.telemetry) == 0) return;
  reading.device_index = device.identity.index;
  device.telemetry = reading;
  device.complete_subjects |= subject::telemetry;
}

void add_usage(Usage& row, const Usage& addition) {
  const bool is_alike =
      row.accounting == Accounting::allocated && addition.accounting == row.accounting;
  if (!lacks_usage(row) || !addition.used || !is_alike) return;
  row.used = row.allocated = addition.used;
  row.notes |= note::mixed | addition.notes;
  row.age_ns = std::max(row.age_ns, addition.age_ns);
}

void add_row(MergedDevice& device, std::optional<Usage>& row, std::uint32_t subject_bit,
             const Usage& addition) {
  if (!addition.used || (addition.notes & note::foreign_pid) != 0) return;
  if (row) {
    add_usage(*row, addition);
  } else {
    row = addition;
  }
  if (row->used) device.complete_subjects |= subject_bit;
}

// Adds processes that are not listed yet. The tool does not list graphics processes, so the list
// stays partial.
void add_rows(std::vector<Usage>& listed_rows, std::vector<Usage>& rows) {
  const std::size_t listed_count = listed_rows.size();
  for (Usage& candidate : rows) {
    const auto end = listed_rows.begin() + static_cast<std::ptrdiff_t>(listed_count);
    if (std::any_of(listed_rows.begin(), end,
                    [&](const Usage& row) { return row.pid == candidate.pid; }))
      continue;
    mark_lower_bound(candidate);
    listed_rows.push_back(std::move(candidate));
  }
}

// Adds the usage of processes.
void add_processes(MergedDevice& device, const Plan& plan, std::vector<Usage>& rows) {
  for (Usage& candidate : rows) {
    candidate.device_index = device.identity.index;
    if (plan.self && candidate.pid == plan.own_pid)
      add_row(device, device.self, subject::self, candidate);
    if (plan.pid == candidate.pid) add_row(device, device.process, subject::processes, candidate);
    for (Usage& row : device.processes) {
      if (row.pid == candidate.pid) add_usage(row, candidate);
    }
  }
  if (!plan.processes) return;
  const bool is_partial = has_failed(device, subject::processes) ||
                          std::ranges::any_of(device.processes, comes_from_partial_list);
  if (is_partial) add_rows(device.processes, rows);
  device.can_be_summed = !is_partial && std::ranges::all_of(device.processes, is_whole);
}

// Adds the tool's answer for the `missing` subjects of a device.
void add(MergedDevice& device, const DeviceCache& answer, const Plan& plan, std::uint32_t missing,
         const Freshness& freshness, const Limits& limits) {
  const auto read_if_missing = [&](std::uint32_t subjects, const auto& part, auto& out) {
    return (missing & subjects) != 0 &&
           copy_part(part, freshness, limits, answer.identity.source, out);
  };
  hmn::PoolList pools;
  if (read_if_missing(subject::pools, answer.pools, pools)) add_pools(device, pools);
  hmn::Telemetry telemetry;
  if (read_if_missing(subject::telemetry, answer.telemetry, telemetry))
    add_telemetry(device, telemetry, plan);
  std::vector<Usage> rows;
  if (read_if_missing(subject::self | subject::processes, answer.processes, rows))
    add_processes(device, plan, rows);
  device.served_subjects |= device.complete_subjects;
}

// Returns whether the part was read, or does not exist.
template <class T>
bool is_final(const CachedValue<T>& part, const Freshness& freshness) {
  return part.attempt_ns >= freshness.since_ns &&
         (!part.failure || part.failure->code == Status::unsupported);
}

// Returns the subjects that need not be requested again if they are still unserved: all for a GPU
// that the tool does not list, else those that it has answered.
std::uint32_t find_final_subjects(const SourceCache& cache, const DeviceCache* answer,
                                  const Freshness& freshness) {
  if (answer == nullptr) return subject::all;
  std::uint32_t subjects = 0;
  if (is_final(answer->pools, freshness)) subjects |= subject::pools;
  if (is_final(answer->telemetry, freshness)) subjects |= subject::telemetry;
  // A process that is not listed now may be later.
  const CachedValue<std::vector<Usage>>& processes = answer->processes;
  const bool has_unknown_usage =
      processes.failure ||
      std::ranges::any_of(processes.value, [](const Usage& row) { return !row.used; });
  if (is_final(processes, freshness) && has_unknown_usage)
    subjects |= subject::self | subject::processes;
  for (const Diagnostic& diagnostic : cache.diagnostics) {
    if (diagnostic.device != answer->identity.slot ||
        diagnostic.failure.code == Status::unsupported)
      continue;
    subjects &= ~diagnostic.subject;
    if (diagnostic.subject == subject::processes) subjects &= ~subject::self;
  }
  return subjects;
}

}  // namespace

// Returns the subjects of the plan that are to be read from nvidia-smi.
std::uint32_t Context::find_remaining_subjects(const MergedDevice& device, const Plan& plan) {
  const Device& identity = device.identity;
  const bool is_fallback = (nvidia_smi_->fallback_for() & source_bit(identity.source)) != 0;
  if (!is_fallback || identity.state != State::ready || identity.is_partition) return 0;
  const std::uint32_t missing = find_unserved(device, plan);
  if (missing == 0) return 0;
  const std::lock_guard lock(table_mutex_);
  return missing & ~table_.unobtainable(identity.index);
}

void Context::complete_from_nvidia_smi(MergedDevice& device, const Plan& plan,
                                       const SourceCache& cache, const Freshness& freshness) {
  const std::uint32_t missing = find_remaining_subjects(device, plan);
  if (missing == 0) return;
  const auto match = std::ranges::find_if(cache.devices, [&](const DeviceCache& entry) {
    return entry.is_listed && is_same(entry.identity, device.identity);
  });
  const DeviceCache* const answer = match != cache.devices.end() ? &*match : nullptr;
  if (answer != nullptr) add(device, *answer, plan, missing, freshness, limits_);
  const std::uint32_t left = find_remaining_subjects(device, plan);
  device.fallback_subjects |= missing & ~left;
  if (freshness.is_late) return;
  const std::uint32_t unobtainable = left & find_final_subjects(cache, answer, freshness);
  const std::lock_guard lock(table_mutex_);
  table_.unobtainable(device.identity.index) |= unobtainable;
}

Result<void> Context::complete_from_nvidia_smi(std::span<MergedDevice> devices, const Plan& plan,
                                               Deadline& deadline, AnswerVisitor visit_answer) {
  if (nvidia_smi_ == nullptr) return {};
  std::uint32_t missing = 0;
  for (const MergedDevice& device : devices) missing |= find_remaining_subjects(device, plan);
  if (missing == 0 || (suspended_sources_ & nvidia_smi_->fallback_for()) != 0) return {};
  // Reads all devices and all values, which costs no more than one.
  Plan tool_plan = make_plan();
  tool_plan.wants_trace = plan.wants_trace;
  tool_plan.max_age_ns = max_age_ns;
  tool_plan.list = tool_plan.pools = true;
  tool_plan.telemetry = telemetry_field::all;
  tool_plan.processes = (missing & (subject::self | subject::processes)) != 0;
  const auto visit = [&](const SourceCache& cache, const Freshness& freshness) {
    if (!freshness.is_late) visit_answer(cache);
    if (cache.refusal && !is_late(*cache.refusal)) return;
    for (MergedDevice& device : devices) complete_from_nvidia_smi(device, plan, cache, freshness);
  };
  deadline.reserve_for_next(Deadline::Share::none);
  const std::uint64_t now = platform::monotonic_ns();
  if (now >= deadline.end_ns()) {
    nvidia_smi_->visit_cache(visit, {platform::continuous_ns(), true});
    return {};
  }
  deadline.limit_end(platform::add_duration(now, max_wait_ns));
  Result<void> outcome = nvidia_smi_->run(tool_plan, deadline, visit);
  return !outcome && hmn::is_cancelled(outcome.failure()) ? outcome : Result<void>();
}

}  // namespace hmn
