// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"
#include "source/registry.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

std::vector<Device> list_devices(Machine& machine) {
  PlainReading reading;
  auto devices = machine.devices(reading);
  REQUIRE(devices);
  return *devices;
}

}  // namespace

TEST_CASE("devices are listed in the tool's order, with their identity") {
  Machine machine(scenario({gpu(1), gpu(0)}));
  const auto devices = list_devices(machine);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].slot == 0);
  CHECK(devices[0].uuid.view() == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(devices[0].pci_bus_id.view() == "0000:02:00.0");
  CHECK(devices[0].name.view() == "NVIDIA L40S");
  CHECK(devices[0].driver_index == 0u);
  CHECK(devices[0].driver_version.view() == "595.80");
  CHECK(devices[0].state == State::ready);
  CHECK(devices[0].source == Source::nvidia_smi);
  CHECK(devices[0].memory_kind == MemoryKind::dedicated);
  CHECK(devices[1].slot == 1);
}

TEST_CASE("a slot stays with its card when others go, come and move") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  REQUIRE(list_devices(machine).size() == 2);
  machine.change(scenario({gpu(1)}));
  const auto alone = list_devices(machine);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].slot == 1);
  machine.change(scenario({gpu(2), gpu(1, {{"pci.bus_id", "00000000:09:00.0"}}), gpu(0)}));
  const auto all = list_devices(machine);
  REQUIRE(all.size() == 3);
  CHECK(all[0].slot == 0);
  CHECK(all[1].slot == 1);
  CHECK(all[1].pci_bus_id.view() == "0000:09:00.0");
  CHECK(all[2].slot == 2);
  CHECK(all[2].uuid.view() == "GPU-00000000-0000-0000-0000-000000000002");
}

TEST_CASE("another card at the same address is another device") {
  Machine machine(scenario({gpu(0)}));
  REQUIRE(list_devices(machine)[0].slot == 0);
  machine.change(scenario({gpu(3, {{"pci.bus_id", "00000000:01:00.0"}})}));
  CHECK(list_devices(machine)[0].slot == 1);
}

TEST_CASE("a card without a readable UUID is recognized by its address") {
  Machine machine(scenario({gpu(0)}));
  REQUIRE(list_devices(machine).size() == 1);
  machine.change(scenario({gpu(0, {{"uuid", "[GPU is lost]"},
                                   {"name", "[GPU is lost]"},
                                   {"memory.total", "[GPU is lost]"},
                                   {"memory.used", "[GPU is lost]"}})}));
  const auto lost = list_devices(machine);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].slot == 0);
  CHECK(lost[0].state == State::lost);
  CHECK(lost[0].name.view() == "NVIDIA L40S");
  PoolList pools;
  PlainReading reading;
  CHECK(machine.source().memory(0, pools, reading).failure().code == Status::device_lost);
}

TEST_CASE("a removed card is not listed, and reading it reports device_lost") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  REQUIRE(list_devices(machine).size() == 2);
  machine.change(scenario({gpu(0)}));
  REQUIRE(list_devices(machine).size() == 1);
  PlainReading reading;
  PoolList pools;
  CHECK(machine.source().memory(1, pools, reading).failure().code == Status::device_lost);
  CHECK(machine.source().memory(7, pools, reading).failure().code == Status::no_device);
  Telemetry telemetry;
  CHECK(machine.source()
            .telemetry(1, telemetry_field::power_watts, telemetry, reading)
            .failure()
            .code == Status::device_lost);
}

TEST_CASE("a message about one card next to the rows of the others concerns only that card") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  REQUIRE(list_devices(machine).size() == 2);
  machine.change({{"raw_query_gpu",
                   "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.\n"
                   "index, uuid, pci.bus_id, memory.total [MiB]\n"
                   "0, GPU-00000000-0000-0000-0000-000000000000, 00000000:01:00.0, 46068\n"},
                  {"exit_code", 15}});
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK(devices->size() == 1);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].device == 1u);
  CHECK(reading.diagnostics[0].failure.code == Status::device_lost);
  PoolList pools;
  const auto result = machine.source().memory(1, pools, reading);
  REQUIRE_FALSE(result);
  CHECK(mentions(result.failure(), "device handle"));
}

TEST_CASE("a card listed twice is one device, and a row without identity is dropped") {
  Machine machine(scenario({gpu(0), gpu(0)}));
  PlainReading reading;
  CHECK(machine.devices(reading)->size() == 1);
  CHECK(reading.count(Status::backend) == 1);
  machine.change({{"raw_query_gpu", "name, memory.total [MiB]\nNVIDIA L40S, 46068\n"}});
  PlainReading nameless;
  CHECK(machine.devices(nameless)->empty());
  CHECK(nameless.count(Status::backend) == 1);
}

TEST_CASE("missing memory values have a diagnostic with their field") {
  Machine machine(
      scenario({gpu(0, {{"memory.used", "[Unknown Error]"}, {"memory.reserved", "[N/A]"}})}));
  REQUIRE(list_devices(machine).size() == 1);
  PlainReading reading;
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::main)->free == 36346 * mib);
  REQUIRE(reading.diagnostics.size() == 2);
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    CHECK(diagnostic.subject == subject::pools);
    CHECK(diagnostic.device == 0u);
  }
  CHECK(reading.find(Status::backend)->field == pool_field::used);
  CHECK(reading.find(Status::unsupported)->field == pool_field::reserved);
}

TEST_CASE("unified memory without values has a pool without values") {
  const json none = {{"memory.total", "[N/A]"},
                     {"memory.used", "[N/A]"},
                     {"memory.free", "[N/A]"},
                     {"memory.reserved", "[N/A]"},
                     {"name", "NVIDIA GB10"}};
  Machine machine(scenario({gpu(0, none)}));
  const auto devices = list_devices(machine);
  CHECK(devices[0].memory_kind == MemoryKind::unified);
  PlainReading reading;
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::main)->kind == PoolKind::unified);
  CHECK_FALSE(pools.find(PoolKind::main)->total);
}

TEST_CASE("a carve-out of host RAM is recognized as unified memory") {
  json apps = scenario({gpu(0, {{"name", "NVIDIA N1X"}, {"memory.total", 8128}})});
  Machine machine(apps);
  CHECK(list_devices(machine)[0].memory_kind == MemoryKind::unified);
}

TEST_CASE("telemetry fails only if none of the requested fields is present") {
  Machine machine(scenario({gpu(0, {{"power.draw", "[N/A]"}})}));
  REQUIRE(list_devices(machine).size() == 1);
  PlainReading reading;
  Telemetry telemetry;
  const auto none = machine.source().telemetry(
      0, telemetry_field::power_watts | telemetry_field::energy_joules, telemetry, reading);
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::unsupported);
  CHECK(reading.diagnostics.size() == 2);  // each field has its own reason
  reading.diagnostics.clear();
  REQUIRE(machine.source().telemetry(
      0, telemetry_field::power_watts | telemetry_field::temperature_celsius, telemetry, reading));
  CHECK(telemetry.temperature_celsius == 45);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].field == telemetry_field::power_watts);
}

TEST_CASE("metrics come from the same start of the tool as everything else") {
  Machine machine(scenario({gpu(0, {{"power.draw", "[Insufficient Permissions]"},
                                    {"power.max_limit", 350.0},
                                    {"ecc.errors.corrected.volatile.total", 2}})}));
  REQUIRE(list_devices(machine).size() == 1);
  PlainReading reading;
  std::vector<Metric> all;
  REQUIRE(machine.source().metrics(0, false, all, reading));
  const auto has = [&](MetricId id, std::uint32_t instance) {
    return std::any_of(all.begin(), all.end(), [&](const Metric& metric) {
      return metric.id == id && metric.instance == instance;
    });
  };
  CHECK(has(MetricId::power_limit_watts, metric_instance::power_limit::max));
  CHECK(has(MetricId::ecc_corrected, metric_instance::era::since_load));
  CHECK_FALSE(has(MetricId::power_watts, metric_instance::power_reading::unknown));
  CHECK(machine.starts().size() == 1);
  const Diagnostic* const diagnostic = reading.find(Status::permission);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->subject == subject::metrics);
  CHECK(diagnostic->field ==
        missing_metric(MetricId::power_watts, metric_instance::power_reading::unknown));
}

TEST_CASE("a GPU in MIG mode has a diagnostic that its instances are not listed") {
  Machine machine(scenario({gpu(0, {{"mig.mode.current", "Enabled"}})}));
  PlainReading reading;
  REQUIRE(machine.devices(reading)->size() == 1);
  REQUIRE(reading.count(Status::unsupported) == 1);
  CHECK(mentions(reading.find(Status::unsupported)->failure, "MIG"));
  Machine off(scenario({gpu(0, {{"mig.mode.current", "Disabled"}})}));
  PlainReading quiet;
  REQUIRE(off.devices(quiet));
  CHECK(quiet.diagnostics.empty());
}

TEST_CASE("the source describes its state, version and last failure") {
  Machine machine(scenario({gpu(0)}));
  CHECK(machine.source().id() == Source::nvidia_smi);
  CHECK_FALSE(machine.source().can_block());
  CHECK(machine.source().describe(Source::nvidia_smi).state == State::unknown);
  REQUIRE(machine.source().probe());
  REQUIRE(list_devices(machine).size() == 1);
  PlainReading reading;
  CHECK_FALSE(machine.source().finish(reading));
  CHECK(machine.source().describe(Source::nvidia_smi).state == State::ready);
  CHECK(machine.source().describe(Source::nvidia_smi).failure.code == Status::ok);
  CHECK(machine.source().describe(Source::nvidia_smi).version.view() == "595.80");
  machine.change({{"failure", {{"text", "Failed to initialize NVML: Unknown Error"}}}});
  CHECK_FALSE(machine.devices(reading));
  CHECK(machine.source().describe(Source::nvidia_smi).failure.code == Status::backend);
}

TEST_CASE("a source without its program is reported as no_source") {
  Settings settings;
  settings.nvidia_smi_path = "/nowhere/nvidia-smi";
  const auto source = make_nvidia_smi(settings);
  CHECK(source->probe().failure().code == Status::no_source);
  PlainReading reading;
  CHECK(source->prepare(reading).failure().code == Status::no_source);
}
