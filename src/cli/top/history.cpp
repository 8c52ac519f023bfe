// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/measure/gpu_status.hpp"
#include "cli/measure/snapshot_records.hpp"

namespace hmn::cli::top {
namespace {

constexpr float unknown_value = std::numeric_limits<float>::quiet_NaN();

void widen(History::Range& to, const History::Range& by) {
  to = {std::min(to.low, by.low), std::max(to.high, by.high)};
}

bool is_known(const History::Range& of) {
  return !std::isnan(of.low);
}

}  // namespace

void History::Ring::add(std::uint64_t at_ns, float value) {
  const auto number = static_cast<std::uint32_t>(number_at(at_ns));
  const bool is_gap = std::isnan(value);
  if (!slots_.empty()) {
    auto& last = slots_[(first_ + slots_.size() - 1) % slots_.size()];
    const bool was_gap = !is_known(last.values);
    // A gap lasts until the next value, and one shorter than a slot is not kept.
    if (is_gap && (was_gap || last.number == number)) return;
    if (last.number == number) {
      if (was_gap)
        last.values = {value, value};
      else
        widen(last.values, {value, value});
      return;
    }
  }
  const Slot fresh{number, {value, value}};
  if (slots_.size() < capacity_) return slots_.push_back(fresh);
  slots_[first_] = fresh;
  first_ = (first_ + 1) % capacity_;
}

std::size_t History::Ring::position_of(std::uint64_t number) const {
  std::size_t low = 0, high = slots_.size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (at(middle).number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

History::History(std::size_t slots) {
  for (const auto& each : all_spans) rings_.emplace_back(slots, each.ns / slots);
}

void History::add(std::uint64_t at_ns, std::optional<double> value) {
  const auto kept = value ? static_cast<float>(*value) : unknown_value;
  for (auto& each : rings_) each.add(at_ns, kept);
}

std::optional<History::Range> History::between(Span which, std::uint64_t from_ns,
                                               std::uint64_t to_ns, std::uint64_t hold_ns) const {
  const auto& in = of(which);
  const auto begin = in.position_of(in.number_at(from_ns));
  const auto last = in.number_at(std::max(to_ns, from_ns + 1) - 1);
  std::optional<Range> found;
  bool begins_gap = false;
  for (auto i = begin; i < in.size() && in.at(i).number <= last; ++i) {
    const auto& values = in.at(i).values;
    begins_gap = begins_gap || !is_known(values);
    if (!is_known(values)) continue;
    if (found)
      widen(*found, values);
    else
      found = values;
  }
  if (found || begins_gap || begin == 0) return found;
  const auto& before = in.at(begin - 1);
  const auto ends_ns = (before.number + std::uint64_t{1}) * in.width_ns() + hold_ns;
  return is_known(before.values) && from_ns < ends_ns ? std::optional(before.values) : std::nullopt;
}

std::optional<float> History::highest(const TimeWindow& in) const {
  const auto& slots = of(in.of);
  const auto length = facts_of(in.of).ns;
  const auto begin = in.now_ns > length ? in.now_ns - length : 0;
  std::optional<float> found;
  for (auto i = slots.position_of(slots.number_at(begin)); i < slots.size(); ++i)
    if (is_known(slots.at(i).values))
      found = std::max(found.value_or(slots.at(i).values.high), slots.at(i).values.high);
  return found;
}

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

void add_gpu(GpuHistory& to, const GpuReading& now, std::uint64_t at_ns) {
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

void add_process(ProcessHistory& to, const ProcessReading& now, std::uint64_t at_ns) {
  const bool is_new = is_fresh(now.usage);
  to.load.add(at_ns, number_if(is_new, now.usage.busy_percent));
  to.vram.add(at_ns, number_if(is_new, now.usage.used_bytes));
  to.ram.add(at_ns, number_if(true, now.usage.host_resident_bytes));
  to.cpu.add(at_ns, now.cpu_percent);
  to.last_ns = at_ns;
}

}  // namespace

ProcessHistory* Histories::kept_for(const ProcessIdentity& who, std::uint64_t now_ns) {
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

void Histories::add_processes(const MachineReading& now) {
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

void Histories::add(const MachineReading& now) {
  for (const auto& each : now.gpus) add_gpu(gpus_[each.of.device.index], each, now.at_ns);
  if (now.has_processes) add_processes(now);
}

const GpuHistory* Histories::of_gpu(std::uint32_t index) const {
  const auto found = gpus_.find(index);
  return found != gpus_.end() ? &found->second : nullptr;
}

const ProcessHistory* Histories::of_process(const ProcessIdentity& who) const {
  const auto found = processes_.find(who);
  return found != processes_.end() ? &found->second : nullptr;
}

}  // namespace hmn::cli::top
