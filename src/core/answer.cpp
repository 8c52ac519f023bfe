// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/answer.hpp"

#include <algorithm>
#include <utility>

namespace hmn {
namespace {

template <class T>
void update(CachedValue<T>& current, CachedValue<T>& fresh) {
  if (fresh.attempt_ns <= current.attempt_ns) return;
  if (!fresh.failure) {
    current.value = std::move(fresh.value);
    current.read_ns = fresh.read_ns;
  }
  current.attempt_ns = fresh.attempt_ns;
  current.failure = fresh.failure;
  current.is_stale = fresh.is_stale;
  current.is_quick = fresh.is_quick;
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

void SourceCache::update_list(const SourceCache& fresh) {
  for (DeviceCache& device : devices) device.is_listed = false;
  for (const DeviceCache& fresh_device : fresh.devices) {
    DeviceCache& device = find_or_add_device(fresh_device.identity.slot);
    device.identity = fresh_device.identity;
    device.is_listed = fresh_device.is_listed;
  }
  list_ns = fresh.list_ns;
  refusal.reset();
}

void SourceCache::update_device(DeviceCache& fresh) {
  DeviceCache& device = find_or_add_device(fresh.identity.slot);
  device.identity.state = fresh.identity.state;
  update(device.pools, fresh.pools);
  update(device.telemetry, fresh.telemetry);
  device.telemetry_fields = fresh.telemetry_fields;
  update(device.self, fresh.self);
  update(device.process, fresh.process);
  update(device.processes, fresh.processes);
  update(device.metrics, fresh.metrics);
  device.has_slow_metrics = fresh.has_slow_metrics;
}

void SourceCache::finish(SourceCache& fresh) noexcept {
  diagnostics.swap(fresh.diagnostics);
  refusal = fresh.refusal;
  is_conclusive = fresh.is_conclusive;
  is_suspended = fresh.is_suspended;
  source_state = std::move(fresh.source_state);
}

bool is_answered(const DeviceCache& device, const Plan& plan, std::uint64_t since_ns) noexcept {
  const auto is_attempted = [&](const auto& part) {
    return part.attempt_ns >= since_ns && (plan.is_quick || !part.is_quick);
  };
  const bool has_telemetry =
      is_attempted(device.telemetry) && (plan.telemetry & ~device.telemetry_fields) == 0;
  const bool has_process = is_attempted(device.process) && device.process.value.pid == plan.pid;
  const bool has_metrics = is_attempted(device.metrics) && (device.has_slow_metrics || !plan.includes_slow);
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
