// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the library reports for macmon's sample, and if macmon fails.
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

using namespace hmn;
using macmon_test::Machine;
using macmon_test::PlainReading;

namespace {

constexpr const char* new_sample = R"j({"gpu_active_ratio": 0.75, "gpu_usage_ratio": 0.25,
  "gpu_freq_mhz": 388, "gpu_power": 1.5, "all_power": 4.5, "sys_power": 20, "ram_power": 0.5,
  "temp": {"cpu_temp_avg": 55, "gpu_temp_avg": 52.5}, "fans": [{"rpm": 2311}],
  "memory": {"ram_total": 68719476736, "ram_usage": 28706603008},
  "soc": {"chip_name": "Apple M1 Max", "gpu_cores": 32}})j";
constexpr const char* old_sample = R"j({"gpu_usage": [388, 0.25], "gpu_power": 1.5})j";

const Metric* find(const std::vector<Metric>& all, MetricId id, std::uint32_t instance) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Metric& metric) {
    return metric.id == id && metric.instance == instance;
  });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("macmon: the GPU's identity is read") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  const Device& device = (*devices)[0];
  CHECK(device.source == Source::macmon);
  CHECK(device.vendor == vendor::apple);
  CHECK(device.form == DeviceForm::integrated);
  CHECK(device.memory_kind == MemoryKind::unified);
  CHECK(device.state == State::ready);
  CHECK(device.name.view() == "Apple M1 Max");
  CHECK(device.pci_bus_id.empty());
  CHECK(machine.source().describe(Source::macmon).state == State::ready);
}

TEST_CASE("macmon: RAM in use is not reported as used by the GPU") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList all;
  REQUIRE(machine.source().memory(0, all, reading));
  const Pool* pool = all.find(PoolKind::unified);
  REQUIRE(pool != nullptr);
  CHECK(pool->is_main);
  CHECK(pool->total == 68719476736U);
  CHECK_FALSE(pool->used);
  CHECK_FALSE(pool->free);
  CHECK_FALSE(pool->budget);
  const Diagnostic* diagnostic = reading.find("not the part of the GPU");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == (pool_field::used | pool_field::free));
}

TEST_CASE("macmon: telemetry is read, and the rest is unsupported") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == 75.0);
  CHECK(telemetry.temperature_celsius == 52.5);
  CHECK(telemetry.power_watts == 1.5);
  CHECK(telemetry.core_clock_mhz == 388u);
  CHECK(telemetry.window_ns == 100'000'000u);
  CHECK(telemetry.notes == 0);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].field ==
        (telemetry_field::all &
         ~(telemetry_field::gpu_busy_percent | telemetry_field::temperature_celsius |
           telemetry_field::power_watts | telemetry_field::core_clock_mhz |
           telemetry_field::window_ns)));
  CHECK(reading.diagnostics[0].failure.code == Status::unsupported);
}

TEST_CASE("macmon before 0.8: the weighted load is a lower bound") {
  Machine machine;
  machine.print(old_sample);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == 25.0);
  CHECK(telemetry.notes == note::lower_bound);
  std::vector<Metric> all;
  REQUIRE(machine.source().metrics(0, false, all, reading));
  const Metric* busy = find(all, MetricId::engine_percent, metric_instance::engine::graphics);
  REQUIRE(busy != nullptr);
  CHECK(busy->value == 25.0);
  CHECK(busy->notes == note::lower_bound);
}

TEST_CASE("macmon: metrics are read with their instances") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Metric> all;
  REQUIRE(machine.source().metrics(0, true, all, reading));
  CHECK(all.size() == 8);
  const auto value = [&](MetricId id, std::uint32_t instance) {
    const Metric* metric = find(all, id, instance);
    return metric != nullptr ? metric->value : std::nullopt;
  };
  CHECK(value(MetricId::engine_percent, metric_instance::engine::graphics) == 75.0);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::average) == 1.5);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::package) == 4.5);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::memory) == 0.5);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::board) == 20.0);
  CHECK(value(MetricId::temperature, metric_instance::sensor::core) == 52.5);
  CHECK(value(MetricId::clock_mhz, metric_instance::clock::core) == 388.0);
  CHECK(value(MetricId::fan_rpm, 1) == 2311.0);
}

TEST_CASE("macmon: a missing value has its reason") {
  Machine machine;
  machine.print(R"j({"gpu_power": 0.0, "temp": {"gpu_temp_avg": -1.85}, "gpu_freq_mhz": 461})j");
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0,
                                     telemetry_field::power_watts |
                                         telemetry_field::temperature_celsius |
                                         telemetry_field::core_clock_mhz,
                                     telemetry, reading));
  CHECK_FALSE(telemetry.power_watts);
  CHECK_FALSE(telemetry.temperature_celsius);
  REQUIRE(reading.find("too little to be counted") != nullptr);
  CHECK(reading.find("too little to be counted")->field == telemetry_field::power_watts);
  REQUIRE(reading.find("\"gpu_temp_avg\" is -1.85") != nullptr);
  CHECK(reading.find("\"gpu_temp_avg\" is -1.85")->failure.code == Status::backend);

  const auto none = machine.source().telemetry(0, telemetry_field::power_watts, telemetry, reading);
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::unsupported);
}

TEST_CASE("macmon: the tool is started once per reading") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList all;
  Telemetry telemetry;
  REQUIRE(machine.source().memory(0, all, reading));
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(machine.starts() == std::vector<std::string>{"--interval 100 pipe --samples 1 --soc-info"});
  REQUIRE(machine.devices(reading));
  CHECK(machine.starts().size() == 2);
}

TEST_CASE("macmon before 0.6.1 is started without --soc-info, and that is remembered") {
  Machine machine;
  machine.script(
      "case \"$*\" in *--soc-info*) echo \"error: unexpected argument '--soc-info' found\" >&2; "
      "exit 2;; esac\necho '" +
      std::string(old_sample) + "'");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK((*devices)[0].name.empty());
  REQUIRE(machine.devices(reading));
  const auto starts = machine.starts();
  REQUIRE(starts.size() == 3);
  CHECK(starts[1] == "--interval 100 pipe --samples 1");
  CHECK(starts[2] == starts[1]);
}

TEST_CASE("macmon: its error message is reported") {
  Machine machine;
  machine.script("echo 'Error: \"Failed to create subscription\"' >&2; exit 1");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::backend);
  CHECK(devices.failure().native.domain == NativeDomain::exit);
  CHECK(devices.failure().native.code == 1);
  CHECK(devices.failure().message.view().find("Failed to create subscription") !=
        std::string::npos);
  CHECK(machine.source().describe(Source::macmon).state == State::unknown);
}

TEST_CASE("macmon: no answer within the deadline is reported as a timeout") {
  Machine machine;
  machine.script("exec sleep 600");
  PlainReading reading(50);
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::timeout);
}

TEST_CASE("macmon: a missing program is reported as no_source") {
  PlainReading reading;
  macmon::MacmonSource absent("/nowhere/macmon", false);
  const auto result = absent.probe();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
}

TEST_CASE("root starts only a macmon that is set by path") {
  Machine machine;
  machine.print(new_sample);
  CHECK(macmon::MacmonSource(machine.path(), true).probe());
  const auto result = macmon::MacmonSource("", true).probe();
  REQUIRE_FALSE(result);
  CHECK(
      (result.failure().code == Status::permission || result.failure().code == Status::no_source));
}

TEST_CASE("macmon: processes are unsupported") {
  Machine machine;
  machine.print(new_sample);
  PlainReading reading;
  std::vector<Usage> rows;
  const auto result = machine.source().processes(0, rows, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(rows.empty());
  Usage row;
  CHECK_FALSE(machine.source().process(0, 1, true, row, reading));
  CHECK_FALSE(row.used);
}
