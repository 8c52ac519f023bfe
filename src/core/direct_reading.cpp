// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads one subject of one device on the path of a snapshot, without its allocations.
#include <algorithm>

#include "core/context.hpp"
#include "core/reason.hpp"
#include "core/usable.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

// Returns the most specific of several failures: an error rather than an absence.
template <class Refusals>
Failure most_specific(const Refusals& refusals) {
  for (const auto& refusal : refusals) {
    if (refusal.failure.code != Status::no_source) return refusal.failure;
  }
  return refusals.front().failure;
}

// Returns whether the driver's account of an unlisted process is really its own. Accounts are kept
// by pid, and pids are reused.
bool is_own_account(Usage& row) {
  if (!row.accounted_since_ns) return true;
  if (!row.start_unix_ns) row.start_unix_ns = row.accounted_since_ns;
  return platform::has_started_by(*row.start_unix_ns, *row.accounted_since_ns);
}

}  // namespace

Result<void> Context::read_device(std::uint32_t index, std::uint32_t subject_bit, const Plan& plan,
                                  const Selection& selection, MergedDevice& device,
                                  std::vector<Diagnostic>* diagnostics) {
  Deadline deadline = make_deadline();
  if (Result<void> ok = ensure_listed(index, deadline); !ok) return ok;
  bool is_identified = false;
  const auto visit = [&](Worker& worker, const SourceCache& cache, const Freshness& freshness) {
    std::optional<Slot> slot;
    {
      const std::lock_guard lock(table_mutex_);
      slot = table_.find_slot(index, worker.id());
      if (!slot) return true;
      if (!is_identified) device.identity = table_.at(index);
    }
    is_identified = true;
    for (const DeviceCache& entry : cache.devices) {
      if (entry.identity.slot == *slot && (entry.is_listed || freshness.is_late))
        merge(device, entry, plan, freshness, limits_);
    }
    if (diagnostics != nullptr) {
      std::ranges::copy_if(cache.diagnostics, std::back_inserter(*diagnostics),
                           [&](const Diagnostic& diagnostic) { return diagnostic.device == slot; });
    }
    return !is_complete(device, plan, selection);
  };
  const Result<Refusals> refusals = query_sources(plan, index, deadline, visit);
  if (!refusals) return refusals.failure();
  if (Result<void> ok = complete_from_nvidia_smi({&device, 1}, plan, deadline, [](auto&&) {}); !ok)
    return ok;
  if ((device.served_subjects & subject_bit) != 0) {
    complete_ages(device, platform::continuous_ns());
    return {};
  }
  if (!refusals->empty()) return most_specific(*refusals);
  std::optional<Failure>& failure = device.subject_failure(subject_bit);
  if (!failure) {
    return make_failure(Status::device_lost, {"device ", index, " was here and is gone"});
  }
  if (failure->code == Status::device_lost) {
    const std::lock_guard lock(table_mutex_);
    table_.set_state(index, State::lost);
  }
  return std::move(*failure);
}

Result<Pool> Context::pool(std::uint32_t index, PoolKey key, FieldSet fields,
                           std::vector<Diagnostic>* diagnostics) {
  Plan plan = make_plan();
  plan.pools = true;
  MergedDevice device;
  const Selection selection{key, fields, nullptr};
  if (Result<void> ok = read_device(index, subject::pools, plan, selection, device, diagnostics);
      !ok) {
    return ok.failure();
  }
  const hmn::Pool* const pool = device.pools.find(key.kind, key.instance);
  if (pool == nullptr) {
    return make_failure(Status::unsupported, {"device ", index, " has no such memory pool"});
  }
  constexpr std::uint32_t needs_host = pool_field::total | pool_field::usable | pool_field::budget;
  if ((fields & needs_host) != 0) set_usable(device, pool->kind);
  if (present_bits(*pool, pool_field::readable) == 0) {
    return Failure{Status::unsupported,
                   pool->source,
                   {},
                   {"device ", index, ": no value of this memory pool is reported"}};
  }
  return *pool;
}

Result<std::uint64_t> Context::usable(std::uint32_t index) {
  std::vector<Diagnostic> diagnostics;
  const Result<hmn::Pool> main = pool(index, {}, pool_field::usable, &diagnostics);
  if (!main) return main.failure();
  if (main->usable) return *main->usable;
  if (const Diagnostic* const diagnostic =
          find_reason(diagnostics, subject::pools, pool_field::usable)) {
    return diagnostic->failure;
  }
  const std::lock_guard lock(table_mutex_);
  return unusable_failure(*main, table_.at(index));
}

Result<Telemetry> Context::telemetry(std::uint32_t index, FieldSet fields) {
  Plan plan = make_plan();
  plan.telemetry = fields != 0 ? fields : telemetry_field::all;
  plan.is_quick = fields == 0;
  MergedDevice device;
  if (Result<void> ok = read_device(index, subject::telemetry, plan, {}, device); !ok)
    return ok.failure();
  return *device.telemetry;
}

// Reads slow metrics only if no fast one matches.
Result<Metric> Context::metric(std::uint32_t index, MetricId id, std::uint32_t instance) {
  hmn::Metric request;
  request.id = id;
  request.instance = instance;
  Plan plan = make_plan();
  plan.metrics = true;
  for (;;) {
    MergedDevice device;
    std::vector<Diagnostic> diagnostics;
    const Result<void> ok =
        read_device(index, subject::metrics, plan, {{}, 0, &request}, device, &diagnostics);
    const auto it = std::ranges::find_if(
        device.metrics, [&](const hmn::Metric& m) { return is_same_metric(m, request); });
    if (it != device.metrics.end()) return *it;
    const Diagnostic* const reason =
        find_reason(diagnostics, subject::metrics, missing_metric(id, instance));
    Failure failure = !ok                 ? ok.failure()
                      : reason != nullptr ? reason->failure
                                          : Failure{Status::unsupported,
                                                    device.identity.source,
                                                    {},
                                                    "not supported by this device or driver"};
    if (plan.includes_slow || failure.code != Status::unsupported) return failure;
    plan.includes_slow = true;
  }
}

Result<Usage> Context::process(std::uint32_t index, std::uint32_t pid, FieldSet fields) {
  Plan plan = make_plan();
  plan.pid = pid;
  plan.is_quick = (fields & usage_field::busy_percent) == 0;
  MergedDevice device;
  if (Result<void> ok = read_device(index, subject::processes, plan, {}, device); !ok)
    return ok.failure();
  Usage& row = *device.process;
  if (row.pid != pid) return timeout_failure(row.source);
  if ((row.notes & note::foreign_pid) == 0) host_->describe(row);
  if (!is_own_account(row)) {
    return Failure{Status::no_process,
                   row.source,
                   {},
                   "the driver lists no such process on this device, and its account under this "
                   "pid is of an earlier one"};
  }
  return std::move(row);
}

Result<Usage> Context::own_usage(std::uint32_t index) {
  Plan plan = make_plan();
  plan.self = true;
  MergedDevice device;
  if (Result<void> ok = read_device(index, subject::self, plan, {}, device); !ok)
    return ok.failure();
  return std::move(*device.self);
}

}  // namespace hmn
