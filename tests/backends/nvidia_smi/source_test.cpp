// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"
#include "source/registry.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

std::vector<Device> listed(Machine& m) {
  PlainReading r;
  auto found = m.devices(r);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("devices in the tool's order, with what identifies them") {
  Machine m(scenario({gpu(1), gpu(0)}));
  const auto found = listed(m);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number == 0);
  CHECK(found[0].uuid.view() == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(found[0].pci_bus_id.view() == "0000:02:00.0");
  CHECK(found[0].name.view() == "NVIDIA L40S");
  CHECK(found[0].driver_index == 0u);
  CHECK(found[0].driver_version.view() == "595.80");
  CHECK(found[0].state == State::ready);
  CHECK(found[0].from == Source::nvidia_smi);
  CHECK(found[0].memory_kind == MemoryKind::dedicated);
  CHECK(found[1].number == 1);
}

TEST_CASE("a slot stays with its card when others go, come and move") {
  Machine m(scenario({gpu(0), gpu(1)}));
  REQUIRE(listed(m).size() == 2);
  m.change(scenario({gpu(1)}));
  const auto alone = listed(m);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].number == 1);
  m.change(scenario({gpu(2), gpu(1, {{"pci.bus_id", "00000000:09:00.0"}}), gpu(0)}));
  const auto all = listed(m);
  REQUIRE(all.size() == 3);
  CHECK(all[0].number == 0);
  CHECK(all[1].number == 1);
  CHECK(all[1].pci_bus_id.view() == "0000:09:00.0");
  CHECK(all[2].number == 2);
  CHECK(all[2].uuid.view() == "GPU-00000000-0000-0000-0000-000000000002");
}

TEST_CASE("another card in the same place is another device") {
  Machine m(scenario({gpu(0)}));
  REQUIRE(listed(m)[0].number == 0);
  m.change(scenario({gpu(3, {{"pci.bus_id", "00000000:01:00.0"}})}));
  CHECK(listed(m)[0].number == 1);
}

TEST_CASE("a card that has lost its uuid is known by its place") {
  Machine m(scenario({gpu(0)}));
  REQUIRE(listed(m).size() == 1);
  m.change(scenario({gpu(0, {{"uuid", "[GPU is lost]"},
                             {"name", "[GPU is lost]"},
                             {"memory.total", "[GPU is lost]"},
                             {"memory.used", "[GPU is lost]"}})}));
  const auto lost = listed(m);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].number == 0);
  CHECK(lost[0].state == State::lost);
  CHECK(lost[0].name.view() == "NVIDIA L40S");
  Pools p;
  PlainReading r;
  CHECK(m.source().memory(0, p, r).why().code == Status::device_lost);
}

TEST_CASE("a card that is gone is not listed, and says so when asked") {
  Machine m(scenario({gpu(0), gpu(1)}));
  REQUIRE(listed(m).size() == 2);
  m.change(scenario({gpu(0)}));
  REQUIRE(listed(m).size() == 1);
  PlainReading r;
  Pools p;
  CHECK(m.source().memory(1, p, r).why().code == Status::device_lost);
  CHECK(m.source().memory(7, p, r).why().code == Status::no_device);
  Telemetry t;
  CHECK(m.source().telemetry(1, telemetry_field::power_watts, t, r).why().code ==
        Status::device_lost);
}

TEST_CASE("a sentence about one card beside the rows of the others") {
  Machine m(scenario({gpu(0), gpu(1)}));
  REQUIRE(listed(m).size() == 2);
  m.change({{"raw_query_gpu",
             "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.\n"
             "index, uuid, pci.bus_id, memory.total [MiB]\n"
             "0, GPU-00000000-0000-0000-0000-000000000000, 00000000:01:00.0, 46068\n"},
            {"exit_code", 15}});
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->size() == 1);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].device == 1u);
  CHECK(r.diagnostics[0].why.code == Status::device_lost);
  Pools p;
  const auto why = m.source().memory(1, p, r);
  REQUIRE_FALSE(why);
  CHECK(mentions(why.why(), "device handle"));
}

TEST_CASE("the same card twice, and one that nothing identifies") {
  Machine m(scenario({gpu(0), gpu(0)}));
  PlainReading r;
  CHECK(m.devices(r)->size() == 1);
  CHECK(r.count(Status::backend) == 1);
  m.change({{"raw_query_gpu", "name, memory.total [MiB]\nNVIDIA L40S, 46068\n"}});
  PlainReading nameless;
  CHECK(m.devices(nameless)->empty());
  CHECK(nameless.count(Status::backend) == 1);
}

TEST_CASE("memory: missing figures are remarks with their field") {
  Machine m(scenario({gpu(0, {{"memory.used", "[Unknown Error]"}, {"memory.reserved", "[N/A]"}})}));
  REQUIRE(listed(m).size() == 1);
  PlainReading r;
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::main)->free == 36346 * mib);
  REQUIRE(r.diagnostics.size() == 2);
  for (const Diagnostic& d : r.diagnostics) {
    CHECK(d.about == subject::pools);
    CHECK(d.device == 0u);
  }
  CHECK(r.find(Status::backend)->field == pool_field::used);
  CHECK(r.find(Status::unsupported)->field == pool_field::reserved);
}

TEST_CASE("unified memory: a pool without figures, which the host's may fill") {
  const json none = {{"memory.total", "[N/A]"},
                     {"memory.used", "[N/A]"},
                     {"memory.free", "[N/A]"},
                     {"memory.reserved", "[N/A]"},
                     {"name", "NVIDIA GB10"}};
  Machine m(scenario({gpu(0, none)}));
  const auto found = listed(m);
  CHECK(found[0].memory_kind == MemoryKind::unified);
  PlainReading r;
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::main)->kind == PoolKind::unified);
  CHECK_FALSE(p.find(PoolKind::main)->total);
}

TEST_CASE("unified memory: a process may use more than what is set aside") {
  json apps = scenario({gpu(0, {{"name", "NVIDIA N1X"}, {"memory.total", 8128}})});
  Machine m(apps);
  CHECK(listed(m)[0].memory_kind == MemoryKind::unified);
}

TEST_CASE("telemetry fails only when nothing that was asked for is there") {
  Machine m(scenario({gpu(0, {{"power.draw", "[N/A]"}})}));
  REQUIRE(listed(m).size() == 1);
  PlainReading r;
  Telemetry t;
  const auto none =
      m.source().telemetry(0, telemetry_field::power_watts | telemetry_field::energy_joules, t, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::unsupported);
  CHECK(r.diagnostics.size() == 2);  // each field has its own reason
  r.diagnostics.clear();
  REQUIRE(m.source().telemetry(
      0, telemetry_field::power_watts | telemetry_field::temperature_celsius, t, r));
  CHECK(t.temperature_celsius == 45);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == telemetry_field::power_watts);
}

TEST_CASE("metrics are of the same start of the tool as all else") {
  Machine m(scenario({gpu(0, {{"power.draw", "[Insufficient Permissions]"},
                              {"power.max_limit", 350.0},
                              {"ecc.errors.corrected.volatile.total", 2}})}));
  REQUIRE(listed(m).size() == 1);
  PlainReading r;
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, false, all, r));
  const auto has = [&](MetricId id, std::uint32_t instance) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Metric& one) { return one.id == id && one.instance == instance; });
  };
  CHECK(has(MetricId::power_limit_watts, which::power_limit::max));
  CHECK(has(MetricId::ecc_corrected, which::era::since_load));
  CHECK_FALSE(has(MetricId::power_watts, which::power_reading::unknown));
  CHECK(m.starts().size() == 1);
  const Diagnostic* const why = r.find(Status::permission);
  REQUIRE(why != nullptr);
  CHECK(why->about == subject::metrics);
  CHECK(why->field == missing_metric(MetricId::power_watts, which::power_reading::unknown));
}

TEST_CASE("MIG: what cannot be split is said") {
  Machine m(scenario({gpu(0, {{"mig.mode.current", "Enabled"}})}));
  PlainReading r;
  REQUIRE(m.devices(r)->size() == 1);
  REQUIRE(r.count(Status::unsupported) == 1);
  CHECK(mentions(r.find(Status::unsupported)->why, "MIG"));
  Machine off(scenario({gpu(0, {{"mig.mode.current", "Disabled"}})}));
  PlainReading quiet;
  REQUIRE(off.devices(quiet));
  CHECK(quiet.diagnostics.empty());
}

TEST_CASE("how the source is") {
  Machine m(scenario({gpu(0)}));
  CHECK(m.source().id() == Source::nvidia_smi);
  CHECK_FALSE(m.source().can_block());
  CHECK(m.source().describe(Source::nvidia_smi).state == State::unknown);
  REQUIRE(m.source().probe());
  REQUIRE(listed(m).size() == 1);
  PlainReading r;
  CHECK_FALSE(m.source().finish(r));
  CHECK(m.source().describe(Source::nvidia_smi).state == State::ready);
  CHECK(m.source().describe(Source::nvidia_smi).why.code == Status::ok);
  CHECK(m.source().describe(Source::nvidia_smi).version.view() == "595.80");
  m.change({{"failure", {{"text", "Failed to initialize NVML: Unknown Error"}}}});
  CHECK_FALSE(m.devices(r));
  CHECK(m.source().describe(Source::nvidia_smi).why.code == Status::backend);
}

TEST_CASE("a source without its program is conclusively not here") {
  Settings s;
  s.nvidia_smi_path = "/nowhere/nvidia-smi";
  const auto source = make_nvidia_smi(s);
  CHECK(source->probe().why().code == Status::no_source);
  PlainReading r;
  CHECK(source->prepare(r).why().code == Status::no_source);
}
