// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/answer.hpp"

#include <algorithm>
#include <utility>

namespace hmn {
namespace {

template <class T>
void update(CachedValue<T>& current, CachedValue<T>& newer) {
  if (newer.attempt_ns <= current.attempt_ns) return;
  if (!newer.failure) {
    current.value = std::move(newer.value);
    current.read_ns = newer.read_ns;
  }
  current.attempt_ns = newer.attempt_ns;
  current.failure = newer.failure;
  current.is_stale = newer.is_stale;
  current.is_quick = newer.is_quick;
}

}  // namespace

void DeviceCache::forget_reading() noexcept {
  pools.attempt_ns = telemetry.attempt_ns = self.attempt_ns = 0;
  process.attempt_ns = processes.attempt_ns = metrics.attempt_ns = 0;
  telemetry_fields = 0;
  has_slow_metrics = false;
}

DeviceCache& SourceCache::find_or_add_device(Slot slot) {
  const auto it = std::ranges::find_if(
      devices, [slot](const DeviceCache& d) { return d.identity.slot == slot; });
  if (it != devices.end()) return *it;
  DeviceCache& device = devices.emplace_back();
  device.identity.slot = slot;
  return device;
}

void SourceCache::update_list(const SourceCache& newer) {
  for (DeviceCache& device : devices) device.is_listed = false;
  for (const DeviceCache& newer_device : newer.devices) {
    DeviceCache& device = find_or_add_device(newer_device.identity.slot);
    device.identity = newer_device.identity;
    device.is_listed = newer_device.is_listed;
  }
  list_ns = newer.list_ns;
  refusal.reset();
}

void SourceCache::update_device(DeviceCache& newer) {
  DeviceCache& device = find_or_add_device(newer.identity.slot);
  device.identity.state = newer.identity.state;
  update(device.pools, newer.pools);
  update(device.telemetry, newer.telemetry);
  device.telemetry_fields = newer.telemetry_fields;
  update(device.self, newer.self);
  update(device.process, newer.process);
  update(device.processes, newer.processes);
  update(device.metrics, newer.metrics);
  device.has_slow_metrics = newer.has_slow_metrics;
}

void SourceCache::finish(SourceCache& newer) noexcept {
  diagnostics.swap(newer.diagnostics);
  refusal = newer.refusal;
  is_conclusive = newer.is_conclusive;
  is_suspended = newer.is_suspended;
  source_state = std::move(newer.source_state);
}

bool is_answered(const DeviceCache& device, const Plan& plan, std::uint64_t since_ns) noexcept {
  const auto is_attempted = [&](const auto& part) {
    return part.attempt_ns >= since_ns && (plan.is_quick || !part.is_quick);
  };
  const bool has_telemetry =
      is_attempted(device.telemetry) && (plan.telemetry & ~device.telemetry_fields) == 0;
  const bool has_process = is_attempted(device.process) && device.process.value.pid == plan.pid;
  const bool has_metrics =
      is_attempted(device.metrics) && (device.has_slow_metrics || !plan.includes_slow);
  return (!plan.pools || is_attempted(device.pools)) && (!plan.self || is_attempted(device.self)) &&
         (!plan.processes || is_attempted(device.processes)) && (plan.pid == 0 || has_process) &&
         (plan.telemetry == 0 || has_telemetry) && (!plan.metrics || has_metrics);
}

bool is_answered(const SourceCache& cache, const Plan& plan, std::uint64_t since_ns) noexcept {
  if (cache.list_ns == 0 || (plan.list && cache.list_ns < since_ns)) return false;
  return std::ranges::all_of(cache.devices, [&](const DeviceCache& device) {
    const bool is_requested =
        plan.only_device ? device.identity.slot == *plan.only_device : device.is_listed;
    return !is_requested || is_answered(device, plan, since_ns);
  });
}

bool is_served(const Plan& plan, const SourceCache& cache, const std::optional<Plan>& last_plan,
               std::uint64_t since_ns, std::uint64_t arrival_ns) {
  if (plan.source_to_describe || !last_plan) return false;
  Plan copy = plan;
  copy.start_ns = last_plan->start_ns;
  const bool is_same_plan = copy == *last_plan;
  if (cache.refusal) return is_same_plan && last_plan->start_ns >= arrival_ns;
  return (is_same_plan || (plan.only_device && !plan.metrics)) &&
         is_answered(cache, plan, since_ns);
}

}  // namespace hmn
