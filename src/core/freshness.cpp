// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/freshness.hpp"

#include <algorithm>

namespace hmn {

bool is_answered(const device_cache& d, const plan& p, std::uint64_t since) noexcept {
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

bool is_answered(const source_cache& known, const plan& p, std::uint64_t since) noexcept {
  if (known.listed_ns == 0 || (p.list && known.listed_ns < since)) return false;
  return std::ranges::all_of(known.devices, [&](const device_cache& d) {
    const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
    return !wanted || is_answered(d, p, since);
  });
}

bool is_served(const plan& p, const source_cache& known, const std::optional<plan>& last,
               std::uint64_t since, std::uint64_t arrived) {
  if (p.describe || !last) return false;
  plan same = p;
  same.begun_ns = last->begun_ns;
  const bool is_like_last = same == *last;
  if (known.refused) return is_like_last && last->begun_ns >= arrived;
  return (is_like_last || (p.only && !p.metrics)) && is_answered(known, p, since);
}

}  // namespace hmn
