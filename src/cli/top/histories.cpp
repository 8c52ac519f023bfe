// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/histories.hpp"

#include <algorithm>

#include "cli/measure/freshness.hpp"
#include "cli/measure/gpu_status.hpp"

namespace hmn::cli::top {
namespace {

// A stale value is no sample.
template <class Record, class Value>
std::optional<double> fresh(const std::optional<Record>& of, std::optional<Value> Record::*which) {
  if (!of || !is_fresh(*of) || !((*of).*which)) return std::nullopt;
  return static_cast<double>(*((*of).*which));
}

template <class Value>
std::optional<double> number_if(bool is_known, const std::optional<Value>& value) {
  if (!is_known || !value) return std::nullopt;
  return static_cast<double>(*value);
}

void add_gpu(gpu_history& to, const gpu_reading& now, std::uint64_t at_ns) {
  using hypomnesis::telemetry;
  to.load.add(at_ns, fresh(now.values, &telemetry::gpu_busy_percent));
  const bool has_memory = now.of.memory && is_fresh(*now.of.memory);
  to.memory.add(at_ns, number_if(has_memory, used_bytes_of(now.of)));
  to.power.add(at_ns, fresh(now.values, &telemetry::power_watts));
  to.temperature.add(at_ns, fresh(now.values, &telemetry::temperature_celsius));
  const bool is_new = now.values && is_fresh(*now.values);
  to.received.add(at_ns, is_new ? now.received_rate : std::nullopt);
  to.sent.add(at_ns, is_new ? now.sent_rate : std::nullopt);
}

void add_process(process_history& to, const process_reading& now, std::uint64_t at_ns) {
  const bool is_new = is_fresh(now.usage);
  to.load.add(at_ns, number_if(is_new, now.usage.busy_percent));
  to.vram.add(at_ns, number_if(is_new, now.usage.used_bytes));
  to.ram.add(at_ns, number_if(true, now.usage.host_resident_bytes));
  to.cpu.add(at_ns, now.cpu_percent);
  to.last_ns = at_ns;
}

}  // namespace

process_history* histories::kept_for(const process_identity& who, std::uint64_t now_ns) {
  if (const auto found = processes_.find(who); found != processes_.end()) return &found->second;
  if (processes_.size() >= most_processes) {
    const auto oldest = std::min_element(
        processes_.begin(), processes_.end(),
        [](const auto& a, const auto& b) { return a.second.last_ns < b.second.last_ns; });
    if (oldest->second.last_ns == now_ns) return nullptr;
    processes_.erase(oldest);
  }
  return &processes_[who];
}

void histories::add_processes(const machine_reading& now) {
  // First those that are known, so that all that are gone are the oldest.
  for (const auto& row : *now.processes)
    if (const auto found = processes_.find(row.identity()); found != processes_.end())
      add_process(found->second, row, now.at_ns);
  for (const auto& row : *now.processes) {
    if (processes_.contains(row.identity())) continue;
    auto* const kept = kept_for(row.identity(), now.at_ns);
    if (kept == nullptr) break;
    add_process(*kept, row, now.at_ns);
  }
}

void histories::add(const machine_reading& now) {
  for (const auto& each : now.gpus) add_gpu(gpus_[each.of.device.index], each, now.at_ns);
  if (now.has_processes) add_processes(now);
}

const gpu_history* histories::of_gpu(std::uint32_t index) const {
  const auto found = gpus_.find(index);
  return found != gpus_.end() ? &found->second : nullptr;
}

const process_history* histories::of_process(const process_identity& who) const {
  const auto found = processes_.find(who);
  return found != processes_.end() ? &found->second : nullptr;
}

}  // namespace hmn::cli::top
