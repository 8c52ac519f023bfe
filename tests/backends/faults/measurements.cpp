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

std::string text_of(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  return digits;
}
template <std::integral T>
std::string text_of(T value) {
  return std::to_string(value);
}

class Painter {
 public:
  Painter(Measurements& to, const Device& of)
      : to_(to), place_(std::string(of.pci_bus_id.view()) + " ") {}

  template <class T>
  void put(const std::string& name, const std::optional<T>& value) {
    if (value) to_.values[place_ + name].text = text_of(*value);
  }
  template <class E>
  void put_kind(const std::string& name, E kind) {
    if (kind != E{}) put(name, std::optional(static_cast<std::uint64_t>(kind)));
  }
  void put_text(const std::string& name, std::string_view value) {
    if (!value.empty()) to_.values[place_ + name].text = value;
  }
  void put_bytes(const std::string& name, const std::optional<std::uint64_t>& value,
                 std::uint32_t notes = 0) {
    put(name, value);
    if (!value) return;
    Measurements::Value& f = to_.values[place_ + name];
    f.bytes = value;
    f.is_lower_bound = (notes & note::lower_bound) != 0;
  }

 private:
  Measurements& to_;
  const std::string place_;
};

void paint(Painter& to, const Device& d) {
  to.put_text("name", d.name.view());
  to.put_text("uuid", d.uuid.view());
  to.put("device", d.pci_device);
  to.put("subsystem", d.pci_subsystem);
  to.put("render minor", d.render_minor);
  to.put("numa node", d.numa_node);
  to.put_kind("form", d.form);
  to.put_kind("memory kind", d.memory_kind);
  if (d.vendor != vendor::unknown) to.put("vendor", std::optional(d.vendor));
}

void paint(Painter& to, const Pools& all) {
  for (const Pool& p : all.all()) {
    const std::string name = "pool " + std::to_string(static_cast<int>(p.kind));
    to.put_bytes(name + " total", p.total);
    to.put_bytes(name + " used", p.used, p.notes);
    to.put_bytes(name + " free", p.free);
    to.put_bytes(name + " reserved", p.reserved);
  }
}

// Without what is a difference of two readings: load from counters, power from energy.
void paint(Painter& to, const Telemetry& t) {
  to.put("memory load", t.memory_busy_percent);
  to.put("temperature", t.temperature_celsius);
  to.put("hotspot", t.hotspot_celsius);
  to.put("memory temperature", t.memory_celsius);
  to.put("power limit", t.power_limit_watts);
  to.put("energy", t.energy_joules);
  to.put("core clock", t.core_clock_mhz);
  to.put("memory clock", t.memory_clock_mhz);
  to.put("fan percent", t.fan_percent);
  to.put("fan rpm", t.fan_rpm);
  to.put("PCIe generation", t.pcie_generation);
  to.put("PCIe width", t.pcie_width);
  to.put("throttle", t.throttle);
}

void paint(Painter& to, const Metric& m) {
  const bool is_of_two = m.window_ns || m.id == MetricId::engine_busy_ns ||
                         m.id == MetricId::engine_capacity || m.id == MetricId::engine_percent;
  if (is_of_two) return;
  const auto* const words = words_of_metric(static_cast<std::uint32_t>(m.id));
  REQUIRE(words != nullptr);
  const std::string name = std::string(words->name) + " " + std::to_string(m.instance);
  to.put(name, m.value);
  to.put(name, m.count);
}

void take_device(DeviceSource& from, const Device& d, std::uint32_t own, drm_test::PlainReading& r,
                 Measurements& p) {
  Painter to(p, d);
  paint(to, d);
  const auto judge = [&](const Result<void>& done) {
    if (!done && done.why().code != Status::unsupported) p.has_failed = true;
    return static_cast<bool>(done);
  };
  Pools memory;
  if (judge(from.memory(d.number, memory, r))) paint(to, memory);
  Telemetry load;
  if (judge(from.telemetry(d.number, telemetry_field::all, load, r))) {
    judge(keep_plausible(load, d.number, r));
    paint(to, load);
  }
  std::vector<Metric> numbers;
  if (judge(from.metrics(d.number, true, numbers, r))) {
    keep_plausible(numbers, d.number, r);
    for (const Metric& m : numbers) paint(to, m);
  }
  std::vector<Usage> rows;
  if (judge(from.processes(d.number, rows, r))) {
    for (const Usage& u : rows) {
      to.put_bytes("process " + std::to_string(u.pid), u.used, u.notes);
    }
  }
  Usage self;
  if (judge(from.process(d.number, own, true, self, r))) {
    to.put_bytes("own", self.used, self.notes);
  }
}

bool is_right(const Measurements::Value& seen, const Measurements::Value& truth) {
  if (seen.text == truth.text) return true;
  return seen.is_lower_bound && seen.bytes && truth.bytes && *seen.bytes < *truth.bytes;
}

}  // namespace

Measurements take(DeviceSource& from, std::uint32_t own, drm_test::PlainReading& r) {
  Measurements p;
  std::vector<Device> found;
  p.has_failed = !from.probe() || !from.prepare(r) || !from.devices(found, r);
  for (const Device& d : found) take_device(from, d, own, r, p);
  return p;
}

std::string wrong_in(const Measurements& seen, const Measurements& truth) {
  for (const auto& [name, value] : seen.values) {
    const auto real = truth.values.find(name);
    if (real == truth.values.end()) return name + " is not there, and was told as " + value.text;
    if (!is_right(value, real->second)) {
      return name + " is " + real->second.text + ", and was told as " + value.text;
    }
  }
  return {};
}

std::string missing_in(const Measurements& seen, const Measurements& truth) {
  for (const auto& [name, value] : truth.values) {
    if (!seen.values.contains(name)) return name;
  }
  return {};
}

}  // namespace faults_test
