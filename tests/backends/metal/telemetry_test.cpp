// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "machine.hpp"

using namespace hmn;
using metal_test::Machine;
using metal_test::PlainReading;
namespace bit = telemetry_field;

namespace {

constexpr std::uint32_t reported =
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

  // A second reading after the counters went on.
  Telemetry later(PlainReading& r, std::int64_t nanojoules = 20'000'000) {
    Telemetry t;
    REQUIRE(devices(r));
    (void)source.telemetry(0, reported, t, r);
    r.diagnostics.clear();
    platform::sleep_ns(20 * platform::ns_per_ms);
    for (auto& c : hardware.channels) {
      if (c.name == "GPU Energy") c.value += nanojoules;
    }
    hardware.channels.back().states[1].ticks += 300;
    hardware.channels.back().states[2].ticks += 100;
    REQUIRE(devices(r));
    REQUIRE(source.telemetry(0, reported, t, r));
    return t;
  }
};

}  // namespace

TEST_CASE("load and temperature at the first reading, power and clock from the second on") {
  BusyMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry first;
  REQUIRE(m.source.telemetry(0, reported, first, r));
  CHECK(first.gpu_busy_percent == 37.0);
  CHECK(first.temperature_celsius == 53.25);
  CHECK(first.notes == 0);
  CHECK_FALSE(first.power_watts);
  CHECK_FALSE(first.core_clock_mhz);
  REQUIRE(r.find("no earlier reading") != nullptr);
  CHECK(r.find("no earlier reading")->why.code == Status::empty);

  const Telemetry t = m.later(r);
  REQUIRE(t.power_watts);
  // 20 mJ in 20 ms, or less when the machine is slow.
  CHECK(*t.power_watts > 0);
  CHECK(*t.power_watts <= 1.0);
  CHECK(t.core_clock_mhz == 500u);
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a counter that wrapped gives no power, and the next reading does") {
  BusyMachine m;
  PlainReading r;
  const Telemetry t = m.later(r, -500'000'000);
  CHECK_FALSE(t.power_watts);
  CHECK(r.find("started again") != nullptr);
  CHECK(t.core_clock_mhz == 500u);
  CHECK(m.later(r).power_watts);
}

TEST_CASE("a channel that a release of macOS sets to zero") {
  BusyMachine m;
  m.hardware.channels[1].value = 0;
  PlainReading r;
  const Telemetry t = m.later(r, 0);
  CHECK_FALSE(t.power_watts);
  REQUIRE(r.find("stands still") != nullptr);
  CHECK(r.find("stands still")->field == bit::power_watts);
}

TEST_CASE("energy of several dies is summed, and older chips have another name for it") {
  BusyMachine m;
  PlainReading r;
  SUBCASE("two dies") {
    m.hardware.channels[0] = {"Energy Model", "", "DIE_1_GPU Energy", "nJ", 5, {}};
    CHECK(m.later(r).power_watts);
  }
  SUBCASE("another name") {
    m.hardware.channels[1].name = "GPU";
    REQUIRE(m.devices(r));
    Telemetry t;
    REQUIRE(m.source.telemetry(0, reported, t, r));
    platform::sleep_ns(20 * platform::ns_per_ms);
    m.hardware.channels[1].value += 1'000'000;
    REQUIRE(m.devices(r));
    REQUIRE(m.source.telemetry(0, reported, t, r));
    CHECK(t.power_watts);
  }
  SUBCASE("a unit that is not known") {
    m.hardware.channels[1].unit = "kWh";
    CHECK_FALSE(m.later(r).power_watts);
    CHECK(r.find("unit that is not known") != nullptr);
  }
}

TEST_CASE("no libIOReport, no sensors") {
  BusyMachine m;
  m.hardware.has_report = m.hardware.has_sensors = false;
  PlainReading r;
  const Telemetry t = m.later(r);
  CHECK(t.gpu_busy_percent == 37.0);
  CHECK_FALSE(t.temperature_celsius);
  CHECK_FALSE(t.power_watts);
  REQUIRE(r.find("no libIOReport") != nullptr);
  CHECK(r.find("sensors") != nullptr);
  CHECK(r.find("sensors")->field == bit::temperature_celsius);
}

TEST_CASE("without a sensor of the GPU's the chip's stands in, as an estimate") {
  BusyMachine m;
  m.hardware.thermometers = {{"PMU tdie1", 47}, {"pACC MTR Temp Sensor1", 88}};
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source.telemetry(0, bit::temperature_celsius, t, r));
  CHECK(t.temperature_celsius == 47.0);
  CHECK(t.notes == note::estimated);
}

TEST_CASE("a sensor that does not answer, and none at all") {
  BusyMachine m;
  for (auto& s : m.hardware.thermometers) s.has_event = false;
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  const auto got = m.source.telemetry(0, bit::temperature_celsius, t, r);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::unsupported);
}

TEST_CASE("only what is asked for") {
  BusyMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source.telemetry(0, bit::gpu_busy_percent, t, r));
  CHECK_FALSE(t.temperature_celsius);
  CHECK(r.diagnostics.empty());
}

TEST_CASE("what no Mac tells is said to be unsupported") {
  BusyMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source.telemetry(0, bit::all, t, r));
  CHECK(t.gpu_busy_percent);
  CHECK_FALSE(t.memory_busy_percent);  // the GPU's load is not its memory's
  CHECK_FALSE(t.energy_joules);
  const auto rest = std::find_if(r.diagnostics.begin(), r.diagnostics.end(),
                                 [](const Diagnostic& d) { return (d.field & bit::fan_rpm) != 0; });
  REQUIRE(rest != r.diagnostics.end());
  CHECK(rest->field == (bit::all & ~reported));
  CHECK(rest->why.code == Status::unsupported);
}

TEST_CASE("metrics") {
  BusyMachine m;
  m.hardware.thermometers.push_back({"PMU tdie1", 47});
  PlainReading r;
  (void)m.later(r);
  std::vector<Metric> all;
  REQUIRE(m.source.metrics(0, true, all, r));
  const auto value = [&](MetricId id, std::uint32_t instance) -> std::optional<double> {
    for (const Metric& one : all) {
      if (one.id == id && one.instance == instance) return one.value;
    }
    return std::nullopt;
  };
  CHECK(value(MetricId::engine_percent, which::engine::unknown) == 37.0);
  CHECK(value(MetricId::engine_percent, which::engine::graphics) == 30.0);
  CHECK(value(MetricId::engine_percent, which::engine::other) == 12.0);
  CHECK(value(MetricId::temperature, which::sensor::core) == 53.25);
  CHECK(value(MetricId::temperature, which::sensor::package) == 47.0);
  CHECK(value(MetricId::power_watts, which::power_reading::average));
  CHECK(value(MetricId::clock_mhz, which::clock::core) == 500.0);
  CHECK(value(MetricId::clock_limit_mhz, which::clock::core) == 800.0);
  CHECK(all.size() == 8);
}

TEST_CASE("clocks in kHz") {
  BusyMachine m;
  m.hardware.clocks = {0, 0, 400'000, 700, 800'000, 900};
  PlainReading r;
  CHECK(m.later(r).core_clock_mhz == 500u);
}
