// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <algorithm>

#include "model/plausible.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

constexpr std::uint32_t percentages =
    telemetry_field::gpu_busy_percent | telemetry_field::memory_busy_percent |
    telemetry_field::encoder_busy_percent | telemetry_field::decoder_busy_percent;

template <class T>
bool copy_if_known(T& target, const T& source) {
  if (target != T{} || source == T{}) return false;
  target = source;
  return true;
}

// Copies the subject's value in this reading, or stores the reason for its absence.
template <class T>
bool read_subject(MergedDevice& device, std::uint32_t subject_bit, const CachedValue<T>& part,
                  Source source, const Freshness& freshness, const Limits& limits, T& out) {
  Result<void> ok = copy_part(part, freshness, limits, source, out);
  if (ok) {
    device.served_subjects |= subject_bit;
    return true;
  }
  std::optional<Failure>& failure = device.subject_failure(subject_bit);
  if (!failure && (device.served_subjects & subject_bit) == 0) failure = ok.failure();
  return false;
}

// Adds pools and fields that the preferred sources lack.
void add_pool(MergedDevice& device, Pool addition) {
  addition.device_index = device.identity.index;
  for (Pool& pool : device.pools.all()) {
    if (pool.source == addition.source) continue;
    if (pool.kind == addition.kind && pool.instance == addition.instance)
      return merge(pool, addition);
    if (pool.kind == PoolKind::unified) return;
    addition.is_main = addition.is_main && !pool.is_main;
  }
  device.pools.add(addition);
}

void add_pools(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
               const Limits& limits) {
  hmn::PoolList pools;
  if (!read_subject(device, subject::pools, answer.pools, answer.identity.source, freshness, limits,
                    pools))
    return;
  for (const Pool& addition : pools.all()) {
    add_pool(device, addition);
    device.complete_subjects |= subject::pools;
  }
}

void add_self(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
              const Limits& limits) {
  if ((device.complete_subjects & subject::self) != 0) return;
  Usage own;
  if (!read_subject(device, subject::self, answer.self, answer.identity.source, freshness, limits,
                    own))
    return;
  const bool is_known = own.used.has_value();
  if (!device.self || is_known) device.self = std::move(own);
  device.self->device_index = device.identity.index;
  if (is_known) device.complete_subjects |= subject::self;
}

void add_process(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
                 const Limits& limits) {
  if (device.process) return;
  Usage row;
  if (!read_subject(device, subject::processes, answer.process, answer.identity.source, freshness,
                    limits, row))
    return;
  device.process = std::move(row);
  device.process->device_index = device.identity.index;
  device.complete_subjects |= subject::processes;
}

void add_processes(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
                   const Limits& limits) {
  if ((device.complete_subjects & subject::processes) != 0) return;
  std::vector<Usage> rows;
  if (!read_subject(device, subject::processes, answer.processes, answer.identity.source, freshness,
                    limits, rows))
    return;
  for (Usage& row : rows) {
    row.device_index = device.identity.index;
    device.can_be_summed = device.can_be_summed && is_whole(row);
  }
  device.processes = std::move(rows);
  device.complete_subjects |= subject::processes;
}

void add_telemetry(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
                   const Limits& limits) {
  hmn::Telemetry telemetry;
  if (!read_subject(device, subject::telemetry, answer.telemetry, answer.identity.source, freshness,
                    limits, telemetry))
    return;
  telemetry.device_index = device.identity.index;
  if (device.telemetry) {
    merge(*device.telemetry, telemetry);
  } else {
    device.telemetry = telemetry;
  }
  device.complete_subjects |= subject::telemetry;
}

// Adds metrics; the first source that has a number provides it.
void add_metrics(MergedDevice& device, const DeviceCache& answer, const Freshness& freshness,
                 const Limits& limits) {
  std::vector<Metric> metrics;
  if (!read_subject(device, subject::metrics, answer.metrics, answer.identity.source, freshness,
                    limits, metrics))
    return;
  device.complete_subjects |= subject::metrics;
  const std::span<const Metric> known_metrics(device.metrics.data(), device.metrics.size());
  std::erase_if(metrics, [&](const Metric& metric) {
    return std::ranges::any_of(known_metrics,
                               [&](const Metric& known) { return is_same_metric(known, metric); });
  });
  for (Metric& metric : metrics) metric.device_index = device.identity.index;
  device.metrics.insert(device.metrics.end(), metrics.begin(), metrics.end());
}

bool has_pool(const hmn::PoolList& pools, const Selection& selection) noexcept {
  const Pool* const pool = pools.find(selection.pool.kind, selection.pool.instance);
  return pool != nullptr && missing_bits(*pool, selection.pool_fields) == 0;
}

bool has_metric(const std::vector<Metric>& metrics, const Metric* request) noexcept {
  return request != nullptr && std::ranges::any_of(metrics, [request](const Metric& m) {
           return is_same_metric(m, *request);
         });
}

}  // namespace

void merge(Device& best, const Device& other) {
  constexpr std::uint32_t excluded_fields = device_field::instance | device_field::parent_index;
  bool is_changed = copy_if_known(best.form, other.form);
  is_changed |= copy_if_known(best.vendor, other.vendor);
  is_changed |= copy_if_known(best.memory_kind, other.memory_kind);
  is_changed |= fill_missing(~excluded_fields, best, other) != 0;
  if (!is_changed) return;
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

void merge(Telemetry& best, const Telemetry& other) {
  const FieldSet new_fields = fill_missing(~telemetry_field::window_ns, best, other);
  if (new_fields == 0) return;
  if ((new_fields & percentages) != 0) fill_missing(telemetry_field::window_ns, best, other);
  best.sources |= other.sources | source_bit(other.source);
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

// Merges pools. Used and free bytes come from one source, or from sources that count alike.
void merge(Pool& best, const Pool& other) {
  FieldSet new_fields = fill_missing(pool_field::total | pool_field::budget, best, other);
  if ((new_fields & pool_field::budget) != 0) best.budget_left = other.budget_left;
  const bool is_alike = best.accounting == other.accounting && best.accounting != Accounting::none;
  if (!best.used && other.used && (!best.free || is_alike)) {
    Pool combined = best;
    bool fits = true;  // other's total may be larger, and its values are of another time
    new_fields |=
        fill_missing(pool_field::used | pool_field::free | pool_field::reserved, combined, other);
    combined.accounting = other.accounting;
    drop_implausible(combined, [&](auto&&...) { fits = false; });
    if (fits) best = combined;
  }
  if (new_fields == 0) return;
  best.notes |= note::mixed | other.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

void merge(MergedDevice& device, const DeviceCache& answer, const Plan& plan,
           const Freshness& freshness, const Limits& limits) {
  if (plan.pools) add_pools(device, answer, freshness, limits);
  if (plan.telemetry != 0) add_telemetry(device, answer, freshness, limits);
  if (plan.metrics) add_metrics(device, answer, freshness, limits);
  if (plan.self) add_self(device, answer, freshness, limits);
  if (plan.pid != 0) add_process(device, answer, freshness, limits);
  if (plan.processes) add_processes(device, answer, freshness, limits);
}

bool is_complete(const MergedDevice& device, const Plan& plan,
                 const Selection& selection) noexcept {
  const FieldSet no_telemetry =
      device.telemetry ? missing_bits(*device.telemetry, plan.telemetry) : plan.telemetry;
  return (!plan.pools || has_pool(device.pools, selection)) &&
         (!plan.self || (device.complete_subjects & subject::self) != 0) &&
         (plan.pid == 0 || device.process) && no_telemetry == 0 && !plan.processes &&
         (!plan.metrics || has_metric(device.metrics, selection.metric));
}

void complete_ages(MergedDevice& device, std::uint64_t now_ns) {
  complete_ages(device.pools, now_ns);
  complete_ages(device.telemetry, now_ns);
  complete_ages(device.self, now_ns);
  complete_ages(device.process, now_ns);
  complete_ages(device.metrics, now_ns);
}

void drop_served_failures(MergedDevice& device) noexcept {
  for (std::size_t n = 0; n < device.failures.size(); ++n) {
    if ((device.complete_subjects >> n & 1U) != 0) device.failures[n].reset();
  }
}

}  // namespace hmn
