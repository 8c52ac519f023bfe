// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/cpu_times.hpp"

#include <utility>

#include "cli/system/process_facts.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

void cpu_times::add_to(process_readings& rows, std::uint64_t at_ns) {
  std::map<process, counter_rate> now;
  for (auto& row : rows) {
    if (has(row.usage.notes, hypomnesis::note::foreign_pid)) continue;
    const auto who = row.identity();
    const process key{who.pid, who.start};
    auto entry = now.extract(key);
    if (entry.empty()) entry = all_.extract(key);
    auto& rate = entry.empty() ? now[key] : now.insert(std::move(entry)).position->second;
    const auto spent = rate.add(process_cpu_ns(roots_, who.pid), at_ns);
    if (spent) row.cpu_percent = *spent / ns_per_s * 100;
  }
  all_ = std::move(now);
}

}  // namespace hmn::cli::top
