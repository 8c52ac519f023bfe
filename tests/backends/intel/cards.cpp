// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cards.hpp"

namespace intel_test {

hmn_fake::PciDevice intel_card(const char* driver, const char* address) {
  hmn_fake::PciDevice card;
  card.address = address;
  card.vendor = 0x8086;
  card.device = 0x56a5;
  card.device_class = 0x030000;
  card.driver = driver;
  card.power_control = "auto";
  card.runtime_status = "active";
  return card;
}

hmn_fake::PciDevice arc_card(const char* address) {
  hmn_fake::PciDevice card = intel_card("i915", address);
  // The chip of one GT counts energy that the card's chip includes.
  card.files = {{"hwmon/hwmon2/name", "i915_gt0\n"},
                {"hwmon/hwmon2/energy1_input", "1\n"},
                {"hwmon/hwmon3/name", "i915\n"},
                {"hwmon/hwmon3/temp1_input", "51000\n"},
                {"hwmon/hwmon3/fan1_input", "1210\n"},
                {"hwmon/hwmon3/energy1_input", "7000000\n"},
                {"hwmon/hwmon3/power1_max", "190000000\n"},
                {"hwmon/hwmon3/power1_rated_max", "225000000\n"},
                {"hwmon/hwmon3/in0_input", "750\n"},
                {"current_link_speed", "16.0 GT/s PCIe\n"},
                {"current_link_width", "8\n"}};
  return card;
}

MemoryReading read_memory(Machine& machine) {
  MemoryReading memory;
  machine.devices(memory.reading);
  memory.result = machine.source().memory(0, memory.pools, memory.reading);
  return memory;
}

std::string region(unsigned memory_class, unsigned instance, std::uint64_t size, std::uint64_t used,
                   std::uint64_t visible, std::uint64_t visible_used) {
  std::string line = "region renderD128";
  for (const std::uint64_t number :
       {std::uint64_t{memory_class}, std::uint64_t{instance}, size, used, visible, visible_used}) {
    line += " " + std::to_string(number);
  }
  return line + "\n";
}

TelemetryReading read_telemetry(Machine& machine, std::uint64_t fields) {
  TelemetryReading telemetry;
  machine.devices(telemetry.reading);
  telemetry.result = machine.source().telemetry(0, fields, telemetry.value, telemetry.reading);
  return telemetry;
}

std::vector<hmn::Metric> read_metrics(Machine& machine) {
  PlainReading reading;
  return read_metrics(machine, reading);
}

std::vector<hmn::Metric> read_metrics(Machine& machine, PlainReading& reading) {
  std::vector<hmn::Metric> metrics;
  machine.devices(reading);
  REQUIRE(machine.source().metrics(0, true, metrics, reading));
  return metrics;
}

std::optional<double> find_value(const std::vector<hmn::Metric>& metrics, hmn::MetricId id,
                                 std::uint32_t instance) {
  std::optional<double> value;
  for (const hmn::Metric& metric : metrics) {
    if (metric.id != id || metric.instance != instance) continue;
    CHECK_FALSE(value);
    value = metric.value;
  }
  return value;
}

}  // namespace intel_test
