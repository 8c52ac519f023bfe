// SPDX-License-Identifier: MIT OR Apache-2.0
#include "measurements.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <cstdio>
#include <vector>

#include "core/query.hpp"
#include "model/words.hpp"

using namespace hmn;

namespace faults_test {
namespace {

std::string format_value(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  return digits;
}
template <std::integral T>
std::string format_value(T value) {
  return std::to_string(value);
}

class Recorder {
 public:
  Recorder(Measurements& measurements, const Device& device)
      : measurements_(measurements), prefix_(std::string(device.pci_bus_id.view()) + " ") {}

  template <class T>
  void put(const std::string& name, const std::optional<T>& value) {
    if (value) measurements_.values[prefix_ + name].text = format_value(*value);
  }
  template <class E>
  void put_kind(const std::string& name, E kind) {
    if (kind != E{}) put(name, std::optional(static_cast<std::uint64_t>(kind)));
  }
  void put_text(const std::string& name, std::string_view value) {
    if (!value.empty()) measurements_.values[prefix_ + name].text = value;
  }
  void put_bytes(const std::string& name, const std::optional<std::uint64_t>& value,
                 std::uint32_t notes = 0) {
    put(name, value);
    if (!value) return;
    Measurements::Value& entry = measurements_.values[prefix_ + name];
    entry.bytes = value;
    entry.is_lower_bound = (notes & note::lower_bound) != 0;
  }

 private:
  Measurements& measurements_;
  const std::string prefix_;
};

void record(Recorder& recorder, const Device& device) {
  recorder.put_text("name", device.name.view());
  recorder.put_text("uuid", device.uuid.view());
  recorder.put("device", device.pci_device);
  recorder.put("subsystem", device.pci_subsystem);
  recorder.put("render minor", device.render_minor);
  recorder.put("numa node", device.numa_node);
  recorder.put_kind("form", device.form);
  recorder.put_kind("memory kind", device.memory_kind);
  if (device.vendor != vendor::unknown) recorder.put("vendor", std::optional(device.vendor));
}

void record(Recorder& recorder, const PoolList& all) {
  for (const Pool& pool : all.all()) {
    const std::string name = "pool " + std::to_string(static_cast<int>(pool.kind));
    recorder.put_bytes(name + " total", pool.total);
    recorder.put_bytes(name + " used", pool.used, pool.notes);
    recorder.put_bytes(name + " free", pool.free);
    recorder.put_bytes(name + " reserved", pool.reserved);
  }
}

// Omits values derived from two readings: load from counters, power from energy.
void record(Recorder& recorder, const Telemetry& telemetry) {
  recorder.put("memory load", telemetry.memory_busy_percent);
  recorder.put("temperature", telemetry.temperature_celsius);
  recorder.put("hotspot", telemetry.hotspot_celsius);
  recorder.put("memory temperature", telemetry.memory_celsius);
  recorder.put("power limit", telemetry.power_limit_watts);
  recorder.put("energy", telemetry.energy_joules);
  recorder.put("core clock", telemetry.core_clock_mhz);
  recorder.put("memory clock", telemetry.memory_clock_mhz);
  recorder.put("fan percent", telemetry.fan_percent);
  recorder.put("fan rpm", telemetry.fan_rpm);
  recorder.put("PCIe generation", telemetry.pcie_generation);
  recorder.put("PCIe width", telemetry.pcie_width);
  recorder.put("throttle", telemetry.throttle);
}

void record(Recorder& recorder, const Metric& metric) {
  const bool is_derived = metric.window_ns || metric.id == MetricId::engine_busy_ns ||
                          metric.id == MetricId::engine_capacity ||
                          metric.id == MetricId::engine_percent;
  if (is_derived) return;
  const auto* const words = find_metric_info(static_cast<std::uint32_t>(metric.id));
  REQUIRE(words != nullptr);
  const std::string name = std::string(words->name) + " " + std::to_string(metric.instance);
  recorder.put(name, metric.value);
  recorder.put(name, metric.count);
}

void measure_device(DeviceSource& source, const Device& device, std::uint32_t own_pid,
                    drm_test::PlainReading& reading, Measurements& measurements) {
  Recorder recorder(measurements, device);
  record(recorder, device);
  const auto check_result = [&](const Result<void>& result) {
    if (!result && result.failure().code != Status::unsupported) measurements.has_failed = true;
    return static_cast<bool>(result);
  };
  PoolList memory;
  if (check_result(source.memory(device.slot, memory, reading))) record(recorder, memory);
  Telemetry load;
  if (check_result(source.telemetry(device.slot, telemetry_field::all, load, reading))) {
    check_result(keep_plausible(load, device.slot, reading));
    record(recorder, load);
  }
  std::vector<Metric> metrics;
  if (check_result(source.metrics(device.slot, true, metrics, reading))) {
    keep_plausible(metrics, device.slot, reading);
    for (const Metric& metric : metrics) record(recorder, metric);
  }
  std::vector<Usage> rows;
  if (check_result(source.processes(device.slot, rows, reading))) {
    for (const Usage& usage : rows) {
      recorder.put_bytes("process " + std::to_string(usage.pid), usage.used, usage.notes);
    }
  }
  Usage self;
  if (check_result(source.process(device.slot, own_pid, true, self, reading))) {
    recorder.put_bytes("own", self.used, self.notes);
  }
}

bool is_correct(const Measurements::Value& actual, const Measurements::Value& truth) {
  if (actual.text == truth.text) return true;
  return actual.is_lower_bound && actual.bytes && truth.bytes && *actual.bytes < *truth.bytes;
}

}  // namespace

Measurements measure(DeviceSource& source, std::uint32_t own_pid, drm_test::PlainReading& reading) {
  Measurements measurements;
  std::vector<Device> devices;
  measurements.has_failed =
      !source.probe() || !source.prepare(reading) || !source.devices(devices, reading);
  for (const Device& device : devices)
    measure_device(source, device, own_pid, reading, measurements);
  return measurements;
}

std::string find_wrong(const Measurements& actual, const Measurements& truth) {
  for (const auto& [name, value] : actual.values) {
    const auto real = truth.values.find(name);
    if (real == truth.values.end()) return name + " is not there, and was told as " + value.text;
    if (!is_correct(value, real->second)) {
      return name + " is " + real->second.text + ", and was told as " + value.text;
    }
  }
  return {};
}

std::string find_missing(const Measurements& actual, const Measurements& truth) {
  for (const auto& [name, value] : truth.values) {
    if (!actual.values.contains(name)) return name;
  }
  return {};
}

}  // namespace faults_test
