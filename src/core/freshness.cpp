// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/freshness.hpp"

namespace hmn {

bool is_answered(const device_answer& d, const plan& p, std::uint64_t since) noexcept {
  const bool has_telemetry =
      d.telemetry.tried_ns >= since && (p.telemetry & ~d.telemetry_asked) == 0;
  const bool has_process = d.process.tried_ns >= since && d.process.value.pid == p.pid;
  const bool has_metrics = d.metrics.tried_ns >= since && (d.slow_asked || !p.slow);
  return (!p.pools || d.pools.tried_ns >= since) && (!p.self || d.self.tried_ns >= since) &&
         (!p.processes || d.processes.tried_ns >= since) && (p.pid == 0 || has_process) &&
         (p.telemetry == 0 || has_telemetry) && (!p.metrics || has_metrics);
}

}  // namespace hmn
