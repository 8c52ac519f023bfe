// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/answer.hpp"

#include <algorithm>
#include <utility>

namespace hmn {
namespace {

template <class T>
void update(Cached<T>& known, Cached<T>& fresh) {
  if (fresh.tried_ns <= known.tried_ns) return;
  if (!fresh.why) {
    known.value = std::move(fresh.value);
    known.taken_ns = fresh.taken_ns;
  }
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
  known.stands = fresh.stands;
  known.is_quick = fresh.is_quick;
}

}  // namespace

void DeviceCache::forget_reading() noexcept {
  pools.tried_ns = telemetry.tried_ns = self.tried_ns = 0;
  process.tried_ns = processes.tried_ns = metrics.tried_ns = 0;
  telemetry_asked = 0;
  slow_asked = false;
}

DeviceCache& SourceCache::entry_of(Slot number) {
  const auto known = std::ranges::find_if(
      devices, [number](const DeviceCache& d) { return d.identity.number == number; });
  if (known != devices.end()) return *known;
  DeviceCache& added = devices.emplace_back();
  added.identity.number = number;
  return added;
}

void SourceCache::update_list(const SourceCache& fresh) {
  for (DeviceCache& known : devices) known.listed = false;
  for (const DeviceCache& d : fresh.devices) {
    DeviceCache& known = entry_of(d.identity.number);
    known.identity = d.identity;
    known.listed = d.listed;
  }
  listed_ns = fresh.listed_ns;
  refused.reset();
}

void SourceCache::update_device(DeviceCache& fresh) {
  DeviceCache& known = entry_of(fresh.identity.number);
  known.identity.state = fresh.identity.state;
  update(known.pools, fresh.pools);
  update(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  update(known.self, fresh.self);
  update(known.process, fresh.process);
  update(known.processes, fresh.processes);
  update(known.metrics, fresh.metrics);
  known.slow_asked = fresh.slow_asked;
}

void SourceCache::finish(SourceCache& fresh) noexcept {
  diagnostics.swap(fresh.diagnostics);
  refused = fresh.refused;
  conclusive = fresh.conclusive;
  rests = fresh.rests;
  condition = std::move(fresh.condition);
}

bool is_answered(const DeviceCache& d, const Plan& p, std::uint64_t since) noexcept {
  const auto has = [&](const auto& part) {
    return part.tried_ns >= since && (p.quick || !part.is_quick);
  };
  const bool has_telemetry = has(d.telemetry) && (p.telemetry & ~d.telemetry_asked) == 0;
  const bool has_process = has(d.process) && d.process.value.pid == p.pid;
  const bool has_metrics = has(d.metrics) && (d.slow_asked || !p.slow);
  return (!p.pools || has(d.pools)) && (!p.self || has(d.self)) &&
         (!p.processes || has(d.processes)) && (p.pid == 0 || has_process) &&
         (p.telemetry == 0 || has_telemetry) && (!p.metrics || has_metrics);
}

bool is_answered(const SourceCache& known, const Plan& p, std::uint64_t since) noexcept {
  if (known.listed_ns == 0 || (p.list && known.listed_ns < since)) return false;
  return std::ranges::all_of(known.devices, [&](const DeviceCache& d) {
    const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
    return !wanted || is_answered(d, p, since);
  });
}

bool is_served(const Plan& p, const SourceCache& known, const std::optional<Plan>& last,
               std::uint64_t since, std::uint64_t arrived) {
  if (p.describe || !last) return false;
  Plan same = p;
  same.begun_ns = last->begun_ns;
  const bool is_like_last = same == *last;
  if (known.refused) return is_like_last && last->begun_ns >= arrived;
  return (is_like_last || (p.only && !p.metrics)) && is_answered(known, p, since);
}

}  // namespace hmn
