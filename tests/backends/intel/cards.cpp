// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cards.hpp"

namespace intel_test {

hmn_fake::PciDevice intel_card(const char* driver, const char* address) {
  hmn_fake::PciDevice d;
  d.address = address;
  d.vendor = 0x8086;
  d.device = 0x56a5;
  d.device_class = 0x030000;
  d.driver = driver;
  d.power_control = "auto";
  d.runtime_status = "active";
  return d;
}

hmn_fake::PciDevice arc_card(const char* address) {
  hmn_fake::PciDevice d = intel_card("i915", address);
  // The chip of one GT counts what the card's counts too.
  d.files = {{"hwmon/hwmon2/name", "i915_gt0\n"},
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
  return d;
}

MemoryReading read_memory(Machine& m) {
  MemoryReading all;
  m.devices(all.r);
  all.result = m.source().memory(0, all.pools, all.r);
  return all;
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

TelemetryReading read_telemetry(Machine& m, std::uint64_t fields) {
  TelemetryReading all;
  m.devices(all.r);
  all.result = m.source().telemetry(0, fields, all.value, all.r);
  return all;
}

std::vector<hmn::Metric> read_metrics(Machine& m) {
  PlainReading r;
  return read_metrics(m, r);
}

std::vector<hmn::Metric> read_metrics(Machine& m, PlainReading& r) {
  std::vector<hmn::Metric> all;
  m.devices(r);
  REQUIRE(m.source().metrics(0, true, all, r));
  return all;
}

std::optional<double> value_of(const std::vector<hmn::Metric>& all, hmn::MetricId id,
                               std::uint32_t instance) {
  std::optional<double> found;
  for (const hmn::Metric& m : all) {
    if (m.id != id || m.instance != instance) continue;
    CHECK_FALSE(found);
    found = m.value;
  }
  return found;
}

}  // namespace intel_test
