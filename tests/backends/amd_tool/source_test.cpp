// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of the two commands as the library has them.
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

TEST_CASE("amd-smi: identity") {
  AmdMachine m;
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  const Device& d = (*found)[0];
  CHECK(d.from == Source::amd_smi);
  CHECK(d.vendor == vendor::amd);
  CHECK(d.state == State::ready);
  CHECK(d.driver_index == 0u);
  CHECK(d.name.view() == "AMD Instinct MI210");
  CHECK(d.uuid.view() == "GPU-64ac21a676f77a5b");
  CHECK(d.pci_bus_id.view() == "0000:0b:00.0");
  CHECK(d.pci_device == 0x740fu);
  CHECK(d.driver_version.view() == "6.14.0-24-generic");
  REQUIRE(r.find("required groups") != nullptr);
  CHECK(r.find("required groups")->why.code == Status::permission);
}

TEST_CASE("amd-smi: pools, each with what is known of it") {
  AmdMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  REQUIRE(p.all().size() == 2);
  const Pool* vram = p.find(PoolKind::main);
  REQUIRE(vram != nullptr);
  CHECK(vram->kind == PoolKind::vram);
  CHECK(vram->from == Source::amd_smi);
  CHECK(vram->total == 65520ULL << 20);
  CHECK(vram->used == 1024ULL << 20);
  CHECK(vram->free == 64496ULL << 20);
  const Pool* host = p.find(PoolKind::host);
  REQUIRE(host != nullptr);
  CHECK(host->total == 2048ULL << 20);
  CHECK_FALSE(host->used);
  const Diagnostic* why = r.find("mem_usage/used_gtt");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::unsupported);
  CHECK(why->field == (pool_field::used | pool_field::free));
}

TEST_CASE("amd-smi: telemetry, and why the rest is not there") {
  AmdMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == 31);
  CHECK(t.temperature_celsius == 41);
  CHECK(t.hotspot_celsius == 48);
  CHECK(t.power_watts == 142);
  CHECK(t.power_limit_watts == 300);
  CHECK(t.core_clock_mhz == 1700u);
  CHECK(t.throttle == 0u);
  CHECK_FALSE(t.memory_busy_percent);
  CHECK_FALSE(t.energy_joules);  // 0 J since the driver was loaded is no measurement
  CHECK_FALSE(t.fan_rpm);
  REQUIRE(r.find("usage/umc_activity") != nullptr);
  CHECK(r.find("usage/umc_activity")->field == telemetry_field::memory_busy_percent);
  REQUIRE(r.find("it does not count") != nullptr);
  CHECK(r.find("it does not count")->field == telemetry_field::energy_joules);
  REQUIRE(r.find("prints no such value") != nullptr);
  CHECK((r.find("prints no such value")->field & telemetry_field::fan_rpm) != 0);
  CHECK(m.source().telemetry(0, telemetry_field::fan_rpm, t, r).why().code == Status::unsupported);
}

TEST_CASE("amd-smi: a bit that the firmware always sets is no throttling") {
  AmdMachine m;
  std::string idle = amd_metric;
  idle.replace(idle.find("UNTHROTTLED"), 11, "THROTTLED");
  m.print("metric", idle);
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK_FALSE(t.throttle);
  const Diagnostic* const why = r.find("throttle_status");
  REQUIRE(why != nullptr);
  CHECK(why->field == telemetry_field::throttle);
  CHECK(reason_for(why->why) == Reason::ambiguous);
}

TEST_CASE("amd-smi: metrics") {
  AmdMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, true, all, r));
  const auto value = [&](MetricId id, std::uint32_t instance) {
    std::optional<double> found;
    for (const Metric& one : all) {
      if (one.id != id || one.instance != instance) continue;
      CHECK(one.from == Source::amd_smi);
      CHECK_FALSE(found);
      found = one.value;
    }
    return found;
  };
  CHECK(value(MetricId::temperature, which::sensor::hotspot) == 48);
  CHECK(value(MetricId::temperature_shutdown, which::sensor::hotspot) == 105);
  CHECK(value(MetricId::power_watts, which::power_reading::package) == 142);
  CHECK(value(MetricId::power_limit_watts, which::power_limit::current) == 300);
  CHECK(value(MetricId::clock_mhz, which::clock::core) == 1700);
  CHECK_FALSE(value(MetricId::voltage, which::rail::core));
}

TEST_CASE("amd-smi: processes") {
  AmdMachine m;
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Usage> rows;
  REQUIRE(m.source().processes(0, rows, r));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 4242);
  CHECK(rows[0].used == 8192);
  CHECK(rows[0].host_pool == 4096);
  CHECK(rows[0].name == "python3");  // of no process here, so that only the tool knows
  Usage own;
  REQUIRE(m.source().process(0, 4242, false, own, r));
  CHECK(own.used == 8192);
  CHECK(m.source().process(0, 4243, true, own, r).why().code == Status::no_process);
}

TEST_CASE("rocm-smi: one process on one card; on several it does not say where") {
  const std::string pids = R"j("system": {"PID4242": "trainer, 1, 8192, 0, 0",
      "PID4243": "idle, 0, 0, 0, 0", "PID4244": "zero, 1, 0, 0, 0",
      "PID4245": "huge, 1, 99999999999, 0, 0"})j";
  const std::string card = R"j({"VRAM Total Memory (B)": "16384", "GPU use (%)": "1"})j";
  Machine one("rocm-smi");
  one.print("", "{\"card0\": " + card + ", " + pids + "}");
  PlainReading r;
  REQUIRE(one.devices(r));
  std::vector<Usage> rows;
  REQUIRE(one.source().processes(0, rows, r));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].pid == 4242);
  CHECK(rows[0].used == 8192);
  CHECK_FALSE(rows[1].used);
  CHECK_FALSE(rows[2].used);
  REQUIRE(r.find("more memory than the GPU has") != nullptr);
  CHECK(r.find("more memory than the GPU has")->pid == 4245u);

  Machine two("rocm-smi");
  two.print("", "{\"card0\": " + card + ", \"card1\": " + card + ", " + pids + "}");
  PlainReading again;
  REQUIRE(two.devices(again));
  rows.clear();
  const Result<void> listed = two.source().processes(1, rows, again);
  REQUIRE_FALSE(listed);
  CHECK(rows.empty());
  CHECK(listed.why().message.view().starts_with("rocm-smi does not report on which GPU 3"));
}

TEST_CASE("more used than there is, is absent; no total is no pool") {
  Machine m("rocm-smi");
  m.print("",
          rocm_card(
              R"j("VRAM Total Memory (B)": "1048576", "VRAM Total Used Memory (B)": "1048577")j"));
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  REQUIRE(keep_plausible(p, 0, r));
  CHECK(p.find(PoolKind::vram)->total == 1048576u);
  CHECK_FALSE(p.find(PoolKind::vram)->used);
  CHECK_FALSE(p.find(PoolKind::vram)->free);
  const Diagnostic* const why = r.find("used_bytes 1048577, above the total of 1048576");
  REQUIRE(why != nullptr);
  CHECK(why->field == (pool_field::used | pool_field::free));
  Machine none("rocm-smi");
  none.print("", rocm_card(R"j("VRAM Total Memory (B)": "N/A")j"));
  REQUIRE(none.devices(r));
  const auto refused = none.source().memory(0, p, r);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().code == Status::unsupported);
  CHECK(refused.why().message.view().find("VRAM Total Memory (B)") != std::string::npos);
}

TEST_CASE("a card keeps its slot, and one that is gone is lost") {
  Machine m("rocm-smi");
  m.print("", R"j({"card0": {"PCI Bus": "0000:0B:00.0"}, "card1": {"PCI Bus": "0000:0C:00.0"}})j");
  PlainReading r;
  REQUIRE(m.devices(r));
  m.print("", R"j({"card0": {"PCI Bus": "0000:0C:00.0"}})j");
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK((*found)[0].number == 1);
  Pools p;
  CHECK(m.source().memory(0, p, r).why().code == Status::device_lost);
  m.print("", R"j({"card0": {"PCI Bus": "0000:0C:00.0"}, "card1": {"PCI Bus": "0000:0C:00.0"}})j");
  PlainReading parts;
  REQUIRE(m.devices(parts));
  CHECK(parts.find("more than one GPU at 0000:0c:00.0") != nullptr);
}

TEST_CASE("partitions do not have the values of their card once more") {
  for (const char* name : {"rocm-smi", "amd-smi"}) {
    for (const char* second : {"0000:0B:00.0", "0000:0B:00.1", "0000:0B:00.7"}) {
      CAPTURE(second);
      Machine m(name);
      const std::string one = R"j("VRAM Total Memory (B)": "206141652992",
          "Current Socket Graphics Package Power (W)": "600", "PCI Bus": ")j";
      const std::string smi = R"j("mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}},
          "power": {"socket_power": {"value": 600, "unit": "W"}}, "bus": {"bdf": ")j";
      m.print("", "{\"card0\": {" + one + "0000:0B:00.0\"}, \"card1\": {" + one + second + "\"}}");
      m.print("metric",
              "[{\"gpu\": 0, " + smi + "0000:0B:00.0\"}}, {\"gpu\": 1, " + smi + second + "\"}}]");
      PlainReading r;
      const auto found = m.devices(r);
      REQUIRE(found);
      REQUIRE(found->size() == 1);
      CHECK((*found)[0].driver_index == 0u);
      Telemetry t;
      REQUIRE(m.source().telemetry((*found)[0].number, telemetry_field::power_watts, t, r));
      CHECK(t.power_watts == 600);
      CHECK(r.find("more than one GPU at 0000:0b:00.0") != nullptr);
    }
  }
}

TEST_CASE("another function of the bus is another GPU") {
  Machine m("rocm-smi");
  hmn_fake::PciDevice function = hmn_fake::amd_card("0000:0b:00.1");
  hmn_fake::add_pci_device(m.tree(), function);
  m.print("", R"j({"card0": {"PCI Bus": "0000:0B:00.0"}, "card1": {"PCI Bus": "0000:0B:00.1"}})j");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->size() == 2);
}
