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

void widen(History::Range& range, const History::Range& addition) {
  range = {std::min(range.low, addition.low), std::max(range.high, addition.high)};
}

bool is_known(const History::Range& range) {
  return !std::isnan(range.low);
}

}  // namespace

void History::Ring::add(std::uint64_t time_ns, float value) {
  const auto number = static_cast<std::uint32_t>(slot_number(time_ns));
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
  const Slot new_slot{number, {value, value}};
  if (slots_.size() < capacity_) return slots_.push_back(new_slot);
  slots_[first_] = new_slot;
  first_ = (first_ + 1) % capacity_;
}

std::size_t History::Ring::find_position(std::uint64_t number) const {
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
  for (const auto& facts : all_spans) rings_.emplace_back(slots, facts.ns / slots);
}

void History::add(std::uint64_t time_ns, std::optional<double> value) {
  const auto sample = value ? static_cast<float>(*value) : unknown_value;
  for (auto& ring : rings_) ring.add(time_ns, sample);
}

std::optional<History::Range> History::find_range(TimeSpan span, std::uint64_t start_ns,
                                                  std::uint64_t end_ns,
                                                  std::uint64_t hold_ns) const {
  const auto& ring = find_ring(span);
  const auto begin = ring.find_position(ring.slot_number(start_ns));
  const auto last = ring.slot_number(std::max(end_ns, start_ns + 1) - 1);
  std::optional<Range> result;
  bool has_gap = false;
  for (auto i = begin; i < ring.size() && ring.at(i).number <= last; ++i) {
    const auto& values = ring.at(i).values;
    has_gap = has_gap || !is_known(values);
    if (!is_known(values)) continue;
    if (result)
      widen(*result, values);
    else
      result = values;
  }
  if (result || has_gap || begin == 0) return result;
  const auto& previous = ring.at(begin - 1);
  const auto hold_end_ns = (previous.number + std::uint64_t{1}) * ring.width_ns() + hold_ns;
  return is_known(previous.values) && start_ns < hold_end_ns ? std::optional(previous.values)
                                                             : std::nullopt;
}

std::optional<float> History::highest(const TimeWindow& window) const {
  const auto& ring = find_ring(window.span);
  const auto length = span_facts(window.span).ns;
  const auto begin = window.now_ns > length ? window.now_ns - length : 0;
  std::optional<float> result;
  for (auto i = ring.find_position(ring.slot_number(begin)); i < ring.size(); ++i)
    if (is_known(ring.at(i).values))
      result = std::max(result.value_or(ring.at(i).values.high), ring.at(i).values.high);
  return result;
}

namespace {

// A stale value is no sample.
template <class Record, class Value>
std::optional<double> fresh_value(const std::optional<Record>& record,
                                  std::optional<Value> Record::*member) {
  if (!record || !is_fresh(*record) || !((*record).*member)) return std::nullopt;
  return static_cast<double>(*((*record).*member));
}

template <class Value>
std::optional<double> number_if(bool is_known, const std::optional<Value>& value) {
  if (!is_known || !value) return std::nullopt;
  return static_cast<double>(*value);
}

void add_gpu(GpuHistory& history, const GpuReading& reading, std::uint64_t time_ns) {
  using hypomnesis::telemetry;
  history.load.add(time_ns, fresh_value(reading.values, &telemetry::gpu_busy_percent));
  const bool has_memory = reading.gpu.memory && is_fresh(*reading.gpu.memory);
  history.memory.add(time_ns, number_if(has_memory, get_used_bytes(reading.gpu)));
  history.power.add(time_ns, fresh_value(reading.values, &telemetry::power_watts));
  history.temperature.add(time_ns, fresh_value(reading.values, &telemetry::temperature_celsius));
  const bool is_new = reading.values && is_fresh(*reading.values);
  history.received.add(time_ns, is_new ? reading.received_rate : std::nullopt);
  history.sent.add(time_ns, is_new ? reading.sent_rate : std::nullopt);
}

void add_process(ProcessHistory& history, const ProcessReading& reading, std::uint64_t time_ns) {
  const bool is_new = is_fresh(reading.usage);
  history.load.add(time_ns, number_if(is_new, reading.usage.busy_percent));
  history.vram.add(time_ns, number_if(is_new, reading.usage.used_bytes));
  history.ram.add(time_ns, number_if(true, reading.usage.host_resident_bytes));
  history.cpu.add(time_ns, reading.cpu_percent);
  history.last_ns = time_ns;
}

}  // namespace

ProcessHistory* Histories::find_or_create(const ProcessIdentity& identity, std::uint64_t now_ns) {
  if (const auto it = processes_.find(identity); it != processes_.end()) return &it->second;
  if (processes_.size() >= max_processes) {
    const auto oldest = std::min_element(
        processes_.begin(), processes_.end(),
        [](const auto& a, const auto& b) { return a.second.last_ns < b.second.last_ns; });
    if (oldest->second.last_ns == now_ns) return nullptr;
    processes_.erase(oldest);
  }
  return &processes_[identity];
}

void Histories::add_processes(const MachineReading& machine) {
  // First the known processes, so that those that are gone are the oldest.
  for (const auto& row : *machine.processes)
    if (const auto it = processes_.find(row.identity()); it != processes_.end())
      add_process(it->second, row, machine.time_ns);
  for (const auto& row : *machine.processes) {
    if (processes_.contains(row.identity())) continue;
    auto* const history = find_or_create(row.identity(), machine.time_ns);
    if (history == nullptr) break;
    add_process(*history, row, machine.time_ns);
  }
}

void Histories::add(const MachineReading& machine) {
  for (const auto& reading : machine.gpus)
    add_gpu(gpus_[reading.gpu.device.index], reading, machine.time_ns);
  if (machine.has_new_processes) add_processes(machine);
}

const GpuHistory* Histories::find_gpu(std::uint32_t index) const {
  const auto it = gpus_.find(index);
  return it != gpus_.end() ? &it->second : nullptr;
}

const ProcessHistory* Histories::find_process(const ProcessIdentity& identity) const {
  const auto it = processes_.find(identity);
  return it != processes_.end() ? &it->second : nullptr;
}

}  // namespace hmn::cli::top
