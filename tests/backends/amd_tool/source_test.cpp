// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of the two commands as the library reports them.
#include <doctest/doctest.h>

#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amd_test;

namespace {

constexpr const char* amd_static = R"j({"gpu_data": [{"gpu": 0,
  "asic": {"market_name": "AMD Instinct MI210", "asic_serial": "0x64AC21A676F77A5B",
           "device_id": "0x740f"},
  "bus": {"bdf": "0000:0b:00.0"}, "driver": {"version": "Linuxversion6.14.0-24-generic(x@y)(z)"},
  "limit": {"socket_power": {"value": 300, "unit": "W"},
            "shutdown_hotspot_temperature": {"value": 105, "unit": "C"}},
  "vram": {"size": {"value": 65520, "unit": "MB"}}}]})j";
constexpr const char* amd_metric =
    R"j(WARNING: User is missing the following required groups: render
[{"gpu": 0, "usage": {"gfx_activity": {"value": 31, "unit": "%"}, "umc_activity": "N/A"},
  "power": {"socket_power": {"value": 142, "unit": "W"}, "throttle_status": "UNTHROTTLED",
            "gfx_voltage": {"value": "N/A", "unit": "mV"}},
  "clock": {"gfx_0": {"clk": {"value": 1700, "unit": "MHz"}}, "gfx_1": {"clk": "N/A"}},
  "temperature": {"edge": {"value": 41, "unit": "C"}, "hotspot": {"value": 48, "unit": "C"}},
  "energy": {"total_energy_consumption": {"value": 0.0, "unit": "J"}},
  "mem_usage": {"total_vram": {"value": 65520, "unit": "MB"},
                "used_vram": {"value": 1024, "unit": "MB"},
                "total_gtt": {"value": 2048, "unit": "MB"}, "used_gtt": "N/A"}}])j";

struct AmdMachine : Machine {
  AmdMachine() : Machine("amd-smi") {
    print("static", amd_static);
    print("metric", amd_metric);
    print("process", R"j([{"gpu": 0, "process_list": [{"process_info": {"name": "python3",
        "pid": 4242, "memory_usage": {"gtt_mem": {"value": 4096, "unit": "B"},
        "cpu_mem": {"value": 0, "unit": "B"}, "vram_mem": {"value": 8192, "unit": "B"}}}}]}])j");
  }
};

}  // namespace

TEST_CASE("amd-smi: a card's identity is read") {
  AmdMachine machine;
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  const Device& device = (*devices)[0];
  CHECK(device.source == Source::amd_smi);
  CHECK(device.vendor == vendor::amd);
  CHECK(device.state == State::ready);
  CHECK(device.driver_index == 0u);
  CHECK(device.name.view() == "AMD Instinct MI210");
  CHECK(device.uuid.view() == "GPU-64ac21a676f77a5b");
  CHECK(device.pci_bus_id.view() == "0000:0b:00.0");
  CHECK(device.pci_device == 0x740fu);
  CHECK(device.driver_version.view() == "6.14.0-24-generic");
  REQUIRE(reading.find("required groups") != nullptr);
  CHECK(reading.find("required groups")->failure.code == Status::permission);
}

TEST_CASE("amd-smi: pools have the known values, and a reason for the others") {
  AmdMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  REQUIRE(pools.all().size() == 2);
  const Pool* vram = pools.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->source == Source::amd_smi);
  CHECK(vram->total == 65520ULL << 20);
  CHECK(vram->used == 1024ULL << 20);
  CHECK(vram->free == 64496ULL << 20);
  const Pool* host = pools.find(PoolKind::host);
  REQUIRE(host != nullptr);
  CHECK(host->total == 2048ULL << 20);
  CHECK_FALSE(host->used);
  const Diagnostic* diagnostic = reading.find("mem_usage/used_gtt");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::unsupported);
  CHECK(diagnostic->field == (pool_field::used | pool_field::free));
}

TEST_CASE("amd-smi: telemetry has the known values, and a reason for the others") {
  AmdMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == 31);
  CHECK(telemetry.temperature_celsius == 41);
  CHECK(telemetry.hotspot_celsius == 48);
  CHECK(telemetry.power_watts == 142);
  CHECK(telemetry.power_limit_watts == 300);
  CHECK(telemetry.core_clock_mhz == 1700u);
  CHECK(telemetry.throttle == 0u);
  CHECK_FALSE(telemetry.memory_busy_percent);
  CHECK_FALSE(telemetry.energy_joules);  // 0 J since the driver was loaded is no measurement
  CHECK_FALSE(telemetry.fan_rpm);
  REQUIRE(reading.find("usage/umc_activity") != nullptr);
  CHECK(reading.find("usage/umc_activity")->field == telemetry_field::memory_busy_percent);
  REQUIRE(reading.find("it does not count") != nullptr);
  CHECK(reading.find("it does not count")->field == telemetry_field::energy_joules);
  REQUIRE(reading.find("prints no such value") != nullptr);
  CHECK((reading.find("prints no such value")->field & telemetry_field::fan_rpm) != 0);
  CHECK(
      machine.source().telemetry(0, telemetry_field::fan_rpm, telemetry, reading).failure().code ==
      Status::unsupported);
}

TEST_CASE("amd-smi: a throttle bit that the firmware always sets is dropped as ambiguous") {
  AmdMachine machine;
  std::string idle = amd_metric;
  idle.replace(idle.find("UNTHROTTLED"), 11, "THROTTLED");
  machine.print("metric", idle);
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK_FALSE(telemetry.throttle);
  const Diagnostic* const diagnostic = reading.find("throttle_status");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == telemetry_field::throttle);
  CHECK(resolve_reason(diagnostic->failure) == Reason::ambiguous);
}

TEST_CASE("amd-smi: metrics are read with their instances") {
  AmdMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Metric> all;
  REQUIRE(machine.source().metrics(0, true, all, reading));
  const auto value = [&](MetricId id, std::uint32_t instance) {
    std::optional<double> match;
    for (const Metric& metric : all) {
      if (metric.id != id || metric.instance != instance) continue;
      CHECK(metric.source == Source::amd_smi);
      CHECK_FALSE(match);
      match = metric.value;
    }
    return match;
  };
  CHECK(value(MetricId::temperature, metric_instance::sensor::hotspot) == 48);
  CHECK(value(MetricId::temperature_shutdown, metric_instance::sensor::hotspot) == 105);
  CHECK(value(MetricId::power_watts, metric_instance::power_reading::package) == 142);
  CHECK(value(MetricId::power_limit_watts, metric_instance::power_limit::current) == 300);
  CHECK(value(MetricId::clock_mhz, metric_instance::clock::core) == 1700);
  CHECK_FALSE(value(MetricId::voltage, metric_instance::rail::core));
}

TEST_CASE("amd-smi: processes are read with VRAM and host memory") {
  AmdMachine machine;
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Usage> rows;
  REQUIRE(machine.source().processes(0, rows, reading));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 4242);
  CHECK(rows[0].used == 8192);
  CHECK(rows[0].host_pool == 4096);
  CHECK(rows[0].name == "python3");  // not a process of this machine: only the tool has its name
  Usage own;
  REQUIRE(machine.source().process(0, 4242, false, own, reading));
  CHECK(own.used == 8192);
  CHECK(machine.source().process(0, 4243, true, own, reading).failure().code == Status::no_process);
}

TEST_CASE("rocm-smi: processes are listed with one card, and refused with several") {
  const std::string pids = R"j("system": {"PID4242": "trainer, 1, 8192, 0, 0",
      "PID4243": "idle, 0, 0, 0, 0", "PID4244": "zero, 1, 0, 0, 0",
      "PID4245": "huge, 1, 99999999999, 0, 0"})j";
  const std::string card = R"j({"VRAM Total Memory (B)": "16384", "GPU use (%)": "1"})j";
  Machine single("rocm-smi");
  single.print("", "{\"card0\": " + card + ", " + pids + "}");
  PlainReading reading;
  REQUIRE(single.devices(reading));
  std::vector<Usage> rows;
  REQUIRE(single.source().processes(0, rows, reading));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].pid == 4242);
  CHECK(rows[0].used == 8192);
  CHECK_FALSE(rows[1].used);
  CHECK_FALSE(rows[2].used);
  REQUIRE(reading.find("more memory than the GPU has") != nullptr);
  CHECK(reading.find("more memory than the GPU has")->pid == 4245u);

  Machine two("rocm-smi");
  two.print("", "{\"card0\": " + card + ", \"card1\": " + card + ", " + pids + "}");
  PlainReading second_reading;
  REQUIRE(two.devices(second_reading));
  rows.clear();
  const Result<void> result = two.source().processes(1, rows, second_reading);
  REQUIRE_FALSE(result);
  CHECK(rows.empty());
  CHECK(result.failure().message.view().starts_with("rocm-smi does not report on which GPU 3"));
}

TEST_CASE("use above the total is dropped, and a pool without a total is a failure") {
  Machine machine("rocm-smi");
  machine.print(
      "", rocm_card(
              R"j("VRAM Total Memory (B)": "1048576", "VRAM Total Used Memory (B)": "1048577")j"));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  REQUIRE(keep_plausible(pools, 0, reading));
  CHECK(pools.find(PoolKind::vram)->total == 1048576u);
  CHECK_FALSE(pools.find(PoolKind::vram)->used);
  CHECK_FALSE(pools.find(PoolKind::vram)->free);
  const Diagnostic* const diagnostic =
      reading.find("used_bytes 1048577, above the total of 1048576");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == (pool_field::used | pool_field::free));
  Machine none("rocm-smi");
  none.print("", rocm_card(R"j("VRAM Total Memory (B)": "N/A")j"));
  REQUIRE(none.devices(reading));
  const auto refused = none.source().memory(0, pools, reading);
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().code == Status::unsupported);
  CHECK(refused.failure().message.view().find("VRAM Total Memory (B)") != std::string::npos);
}

TEST_CASE("a card keeps its slot, and a card that is gone is lost") {
  Machine machine("rocm-smi");
  machine.print(
      "", R"j({"card0": {"PCI Bus": "0000:0B:00.0"}, "card1": {"PCI Bus": "0000:0C:00.0"}})j");
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  machine.print("", R"j({"card0": {"PCI Bus": "0000:0C:00.0"}})j");
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  CHECK((*devices)[0].slot == 1);
  PoolList pools;
  CHECK(machine.source().memory(0, pools, reading).failure().code == Status::device_lost);
  machine.print(
      "", R"j({"card0": {"PCI Bus": "0000:0C:00.0"}, "card1": {"PCI Bus": "0000:0C:00.0"}})j");
  PlainReading parts;
  REQUIRE(machine.devices(parts));
  CHECK(parts.find("more than one GPU at 0000:0c:00.0") != nullptr);
}

TEST_CASE("partitions do not repeat the values of their card") {
  for (const char* name : {"rocm-smi", "amd-smi"}) {
    for (const char* second : {"0000:0B:00.0", "0000:0B:00.1", "0000:0B:00.7"}) {
      CAPTURE(second);
      Machine machine(name);
      const std::string rocm = R"j("VRAM Total Memory (B)": "206141652992",
          "Current Socket Graphics Package Power (W)": "600", "PCI Bus": ")j";
      const std::string amd = R"j("mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}},
          "power": {"socket_power": {"value": 600, "unit": "W"}}, "bus": {"bdf": ")j";
      machine.print(
          "", "{\"card0\": {" + rocm + "0000:0B:00.0\"}, \"card1\": {" + rocm + second + "\"}}");
      machine.print("metric", "[{\"gpu\": 0, " + amd + "0000:0B:00.0\"}}, {\"gpu\": 1, " + amd +
                                  second + "\"}}]");
      PlainReading reading;
      const auto devices = machine.devices(reading);
      REQUIRE(devices);
      REQUIRE(devices->size() == 1);
      CHECK((*devices)[0].driver_index == 0u);
      Telemetry telemetry;
      REQUIRE(machine.source().telemetry((*devices)[0].slot, telemetry_field::power_watts,
                                         telemetry, reading));
      CHECK(telemetry.power_watts == 600);
      CHECK(reading.find("more than one GPU at 0000:0b:00.0") != nullptr);
    }
  }
}

TEST_CASE("another PCI function with a driver is another GPU") {
  Machine machine("rocm-smi");
  hmn_fake::PciDevice function = hmn_fake::amd_card("0000:0b:00.1");
  hmn_fake::add_pci_device(machine.tree(), function);
  machine.print(
      "", R"j({"card0": {"PCI Bus": "0000:0B:00.0"}, "card1": {"PCI Bus": "0000:0B:00.1"}})j");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK(devices->size() == 2);
}
