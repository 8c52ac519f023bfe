// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/cpu_times.hpp"

#include <utility>

#include "cli/system/process.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

void cpu_times::count(kept& of, std::uint32_t pid, std::uint64_t at_ns) const {
  // Until there is a rate, a shorter time is better than none.
  if (of.is_counted && of.percent && at_ns - of.counted_ns < least_window_ns) return;
  const auto spent = of.rate.add(process_cpu_ns(roots_, pid), at_ns);
  of.percent = spent ? std::optional(*spent / ns_per_s * 100) : std::nullopt;
  of.counted_ns = at_ns;
  of.is_counted = true;
}

void cpu_times::add_to(process_readings& rows, std::uint64_t at_ns) {
  std::map<process, kept> now;
  for (auto& row : rows) {
    if (has(row.usage.notes, hypomnesis::note::foreign_pid)) continue;
    const process key{row.usage.pid, row.identity().start};
    const auto [entry, is_new] = now.try_emplace(key);
    if (is_new) {
      if (const auto before = all_.find(key); before != all_.end()) entry->second = before->second;
      count(entry->second, key.first, at_ns);
    }
    row.cpu_percent = entry->second.percent;
  }
  all_ = std::move(now);
}

}  // namespace hmn::cli::top
