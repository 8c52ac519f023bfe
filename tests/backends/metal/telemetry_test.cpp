// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "machine.hpp"

using namespace hmn;
using metal_test::Machine;
using metal_test::PlainReading;
namespace bit = telemetry_field;

namespace {

constexpr std::uint32_t reported_fields =
    bit::gpu_busy_percent | bit::temperature_celsius | bit::power_watts | bit::core_clock_mhz;

struct BusyMachine : Machine {
  BusyMachine() {
    hardware.clocks = {0, 0, 400'000'000, 700, 800'000'000, 900};
    hardware.channels = {
        {"Energy Model", "", "EACC_CPU", "mJ", 1'000'000, {}},
        {"Energy Model", "", "GPU Energy", "nJ", 1'000'000'000, {}},
        {"GPU Stats",
         "GPU Performance States",
         "GPUPH",
         "24Mticks",
         0,
         {{"OFF", 1000}, {"P1", 0}, {"P2", 0}}},
    };
    hardware.thermometers = {{"pACC MTR Temp Sensor1", 88},
                             {"GPU MTR Temp Sensor1", 51.5},
                             {"GPU MTR Temp Sensor2", 53.25},
                             {"NAND CH0 temp", 33}};
  }

  // Makes a second reading after the counters advanced.
  Telemetry read_later(PlainReading& reading, std::int64_t nanojoules = 20'000'000) {
    Telemetry telemetry;
    REQUIRE(devices(reading));
    (void)source.telemetry(0, reported_fields, telemetry, reading);
    reading.diagnostics.clear();
    platform::sleep_ns(20 * platform::ns_per_ms);
    for (auto& channel : hardware.channels) {
      if (channel.name == "GPU Energy") channel.value += nanojoules;
    }
    hardware.channels.back().states[1].ticks += 300;
    hardware.channels.back().states[2].ticks += 100;
    REQUIRE(devices(reading));
    REQUIRE(source.telemetry(0, reported_fields, telemetry, reading));
    return telemetry;
  }
};

}  // namespace

TEST_CASE("load and temperature are read at once, power and clock from the second reading on") {
  BusyMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry first;
  REQUIRE(machine.source.telemetry(0, reported_fields, first, reading));
  CHECK(first.gpu_busy_percent == 37.0);
  CHECK(first.temperature_celsius == 53.25);
  CHECK(first.notes == 0);
  CHECK_FALSE(first.power_watts);
  CHECK_FALSE(first.core_clock_mhz);
  REQUIRE(reading.find("no earlier reading") != nullptr);
  CHECK(reading.find("no earlier reading")->failure.code == Status::empty);

  const Telemetry telemetry = machine.read_later(reading);
  REQUIRE(telemetry.power_watts);
  // 20 mJ in 20 ms, or less when the machine is slow.
  CHECK(*telemetry.power_watts > 0);
  CHECK(*telemetry.power_watts <= 1.0);
  CHECK(telemetry.core_clock_mhz == 500u);
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("a wrapped energy counter yields no power, and the next reading does") {
  BusyMachine machine;
  PlainReading reading;
  const Telemetry telemetry = machine.read_later(reading, -500'000'000);
  CHECK_FALSE(telemetry.power_watts);
  CHECK(reading.find("started again") != nullptr);
  CHECK(telemetry.core_clock_mhz == 500u);
  CHECK(machine.read_later(reading).power_watts);
}

TEST_CASE("an energy channel that stays at 0 yields no power") {
  BusyMachine machine;
  machine.hardware.channels[1].value = 0;
  PlainReading reading;
  const Telemetry telemetry = machine.read_later(reading, 0);
  CHECK_FALSE(telemetry.power_watts);
  REQUIRE(reading.find("did not advance") != nullptr);
  CHECK(reading.find("did not advance")->field == bit::power_watts);
}

TEST_CASE("energy of several dies is summed, and read by its older name") {
  BusyMachine machine;
  PlainReading reading;
  SUBCASE("two dies") {
    machine.hardware.channels[0] = {"Energy Model", "", "DIE_1_GPU Energy", "nJ", 5, {}};
    CHECK(machine.read_later(reading).power_watts);
  }
  SUBCASE("older name") {
    machine.hardware.channels[1].name = "GPU";
    REQUIRE(machine.devices(reading));
    Telemetry telemetry;
    REQUIRE(machine.source.telemetry(0, reported_fields, telemetry, reading));
    platform::sleep_ns(20 * platform::ns_per_ms);
    machine.hardware.channels[1].value += 1'000'000;
    REQUIRE(machine.devices(reading));
    REQUIRE(machine.source.telemetry(0, reported_fields, telemetry, reading));
    CHECK(telemetry.power_watts);
  }
  SUBCASE("unknown unit") {
    machine.hardware.channels[1].unit = "kWh";
    CHECK_FALSE(machine.read_later(reading).power_watts);
    CHECK(reading.find("unit that is not known") != nullptr);
  }
}

TEST_CASE("without libIOReport and sensors, power and temperature have a reason") {
  BusyMachine machine;
  machine.hardware.has_report = machine.hardware.has_sensors = false;
  PlainReading reading;
  const Telemetry telemetry = machine.read_later(reading);
  CHECK(telemetry.gpu_busy_percent == 37.0);
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK_FALSE(telemetry.power_watts);
  REQUIRE(reading.find("no libIOReport") != nullptr);
  CHECK(reading.find("sensors") != nullptr);
  CHECK(reading.find("sensors")->field == bit::temperature_celsius);
}

TEST_CASE("without a GPU sensor the chip's temperature is used, marked estimated") {
  BusyMachine machine;
  machine.hardware.thermometers = {{"PMU tdie1", 47}, {"pACC MTR Temp Sensor1", 88}};
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source.telemetry(0, bit::temperature_celsius, telemetry, reading));
  CHECK(telemetry.temperature_celsius == 47.0);
  CHECK(telemetry.notes == note::estimated);
}

TEST_CASE("sensors that do not answer are reported as unsupported") {
  BusyMachine machine;
  for (auto& thermometer : machine.hardware.thermometers) thermometer.has_event = false;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  const auto result = machine.source.telemetry(0, bit::temperature_celsius, telemetry, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
}

TEST_CASE("only requested fields are read") {
  BusyMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source.telemetry(0, bit::gpu_busy_percent, telemetry, reading));
  CHECK_FALSE(telemetry.temperature_celsius);
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("values that no Mac has are reported as unsupported") {
  BusyMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source.telemetry(0, bit::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent);
  CHECK_FALSE(telemetry.memory_busy_percent);  // the GPU's load is not its memory's
  CHECK_FALSE(telemetry.energy_joules);
  const auto it = std::find_if(
      reading.diagnostics.begin(), reading.diagnostics.end(),
      [](const Diagnostic& diagnostic) { return (diagnostic.field & bit::fan_rpm) != 0; });
  REQUIRE(it != reading.diagnostics.end());
  CHECK(it->field == (bit::all & ~reported_fields));
  CHECK(it->failure.code == Status::unsupported);
}

TEST_CASE("metrics are read with their instances") {
  BusyMachine machine;
  machine.hardware.thermometers.push_back({"PMU tdie1", 47});
  PlainReading reading;
  (void)machine.read_later(reading);
  std::vector<Metric> all;
  REQUIRE(machine.source.metrics(0, true, all, reading));
  const auto value = [&](MetricId id, std::uint32_t instance) -> std::optional<double> {
    for (const Metric& metric : all) {
      if (metric.id == id && metric.instance == instance) return metric.value;
    }
    return std::nullopt;
  };
  CHECK(value(MetricId::engine_percent, metric_instance::engine::unknown) == 37.0);
  CHECK(value(MetricId::engine_percent, metric_instance::engine::graphics) == 30.0);
  CHECK(value(MetricId::engine_percent, metric_instance::engine::other) == 12.0);
  CHECK(value(MetricId::temperature, metric_instance::sensor::core) == 53.25);
  CHECK(value(MetricId::temperature, metric_instance::sensor::package) == 47.0);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::average));
  CHECK(value(MetricId::clock_mhz, metric_instance::clock::core) == 500.0);
  CHECK(value(MetricId::clock_limit_mhz, metric_instance::clock::core) == 800.0);
  CHECK(all.size() == 8);
}

TEST_CASE("clocks in kHz are converted") {
  BusyMachine machine;
  machine.hardware.clocks = {0, 0, 400'000, 700, 800'000, 900};
  PlainReading reading;
  CHECK(machine.read_later(reading).core_clock_mhz == 500u);
}
