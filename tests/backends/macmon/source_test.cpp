// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the library makes of macmon's sample, and of a macmon that fails.
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
  const auto at = std::find_if(all.begin(), all.end(), [&](const Metric& m) {
    return m.id == id && m.instance == instance;
  });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("macmon: identity") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  const Device& d = (*found)[0];
  CHECK(d.from == Source::macmon);
  CHECK(d.vendor == vendor::apple);
  CHECK(d.form == DeviceForm::integrated);
  CHECK(d.memory_kind == MemoryKind::unified);
  CHECK(d.state == State::ready);
  CHECK(d.name.view() == "Apple M1 Max");
  CHECK(d.pci_bus_id.empty());
  CHECK(m.source().describe(Source::macmon).state == State::ready);
}

TEST_CASE("macmon: RAM in use is no GPU's") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools all;
  REQUIRE(m.source().memory(0, all, r));
  const Pool* p = all.find(PoolKind::unified);
  REQUIRE(p != nullptr);
  CHECK(p->is_main);
  CHECK(p->total == 68719476736U);
  CHECK_FALSE(p->used);
  CHECK_FALSE(p->free);
  CHECK_FALSE(p->budget);
  const Diagnostic* why = r.find("not the part of the GPU");
  REQUIRE(why != nullptr);
  CHECK(why->field == (pool_field::used | pool_field::free));
}

TEST_CASE("macmon: telemetry") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == 75.0);
  CHECK(t.temperature_celsius == 52.5);
  CHECK(t.power_watts == 1.5);
  CHECK(t.core_clock_mhz == 388u);
  CHECK(t.window_ns == 100'000'000u);
  CHECK(t.notes == 0);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field ==
        (telemetry_field::all &
         ~(telemetry_field::gpu_busy_percent | telemetry_field::temperature_celsius |
           telemetry_field::power_watts | telemetry_field::core_clock_mhz |
           telemetry_field::window_ns)));
  CHECK(r.diagnostics[0].why.code == Status::unsupported);
}

TEST_CASE("macmon before 0.8: the weighted load is a lower bound") {
  Machine m;
  m.print(old_sample);
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, r));
  CHECK(t.gpu_busy_percent == 25.0);
  CHECK(t.notes == note::lower_bound);
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, false, all, r));
  const Metric* busy = find(all, MetricId::engine_percent, which::engine::graphics);
  REQUIRE(busy != nullptr);
  CHECK(busy->value == 25.0);
  CHECK(busy->notes == note::lower_bound);
}

TEST_CASE("macmon: metrics") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, true, all, r));
  CHECK(all.size() == 8);
  const auto value = [&](MetricId id, std::uint32_t instance) {
    const Metric* found = find(all, id, instance);
    return found != nullptr ? found->value : std::nullopt;
  };
  CHECK(value(MetricId::engine_percent, which::engine::graphics) == 75.0);
  CHECK(value(MetricId::power_watts, which::power_reading::average) == 1.5);
  CHECK(value(MetricId::power_watts, which::power_reading::package) == 4.5);
  CHECK(value(MetricId::power_watts, which::power_reading::memory) == 0.5);
  CHECK(value(MetricId::power_watts, which::power_reading::board) == 20.0);
  CHECK(value(MetricId::temperature, which::sensor::core) == 52.5);
  CHECK(value(MetricId::clock_mhz, which::clock::core) == 388.0);
  CHECK(value(MetricId::fan_rpm, 1) == 2311.0);
}

TEST_CASE("macmon: a figure that is missing has its reason") {
  Machine m;
  m.print(R"j({"gpu_power": 0.0, "temp": {"gpu_temp_avg": -1.85}, "gpu_freq_mhz": 461})j");
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0,
                               telemetry_field::power_watts | telemetry_field::temperature_celsius |
                                   telemetry_field::core_clock_mhz,
                               t, r));
  CHECK_FALSE(t.power_watts);
  CHECK_FALSE(t.temperature_celsius);
  REQUIRE(r.find("too little to be counted") != nullptr);
  CHECK(r.find("too little to be counted")->field == telemetry_field::power_watts);
  REQUIRE(r.find("\"gpu_temp_avg\" is -1.85") != nullptr);
  CHECK(r.find("\"gpu_temp_avg\" is -1.85")->why.code == Status::backend);

  const auto none = m.source().telemetry(0, telemetry_field::power_watts, t, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::unsupported);
}

TEST_CASE("macmon is started once in a reading") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  REQUIRE(m.devices(r));
  Pools all;
  Telemetry t;
  REQUIRE(m.source().memory(0, all, r));
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(m.starts() == std::vector<std::string>{"--interval 100 pipe --samples 1 --soc-info"});
  REQUIRE(m.devices(r));
  CHECK(m.starts().size() == 2);
}

TEST_CASE("macmon before 0.6.1 is asked without the chip, and that is remembered") {
  Machine m;
  m.script(
      "case \"$*\" in *--soc-info*) echo \"error: unexpected argument '--soc-info' found\" >&2; "
      "exit 2;; esac\necho '" +
      std::string(old_sample) + "'");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK((*found)[0].name.empty());
  REQUIRE(m.devices(r));
  const auto starts = m.starts();
  REQUIRE(starts.size() == 3);
  CHECK(starts[1] == "--interval 100 pipe --samples 1");
  CHECK(starts[2] == starts[1]);
}

TEST_CASE("macmon fails: its words are told") {
  Machine m;
  m.script("echo 'Error: \"Failed to create subscription\"' >&2; exit 1");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::backend);
  CHECK(found.why().native.domain == NativeDomain::exit);
  CHECK(found.why().native.code == 1);
  CHECK(found.why().message.view().find("Failed to create subscription") != std::string::npos);
  CHECK(m.source().describe(Source::macmon).state == State::unknown);
}

TEST_CASE("macmon does not answer within the deadline") {
  Machine m;
  m.script("exec sleep 600");
  PlainReading r(50);
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::timeout);
}

TEST_CASE("no macmon") {
  PlainReading r;
  macmon::MacmonSource absent("/nowhere/macmon", false);
  const auto here = absent.probe();
  REQUIRE_FALSE(here);
  CHECK(here.why().code == Status::no_source);
}

TEST_CASE("root starts the macmon that it names, and no other") {
  Machine m;
  m.print(new_sample);
  CHECK(macmon::MacmonSource(m.path(), true).probe());
  const auto found = macmon::MacmonSource("", true).probe();
  REQUIRE_FALSE(found);
  CHECK((found.why().code == Status::permission || found.why().code == Status::no_source));
}

TEST_CASE("macmon tells nothing of processes") {
  Machine m;
  m.print(new_sample);
  PlainReading r;
  std::vector<Usage> rows;
  const auto listed = m.source().processes(0, rows, r);
  REQUIRE_FALSE(listed);
  CHECK(listed.why().code == Status::unsupported);
  CHECK(rows.empty());
  Usage row;
  CHECK_FALSE(m.source().process(0, 1, true, row, r));
  CHECK_FALSE(row.used);
}
