// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"
#include "source/registry.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

std::vector<device> listed(machine& m) {
  plain_reading r;
  auto found = m.devices(r);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("devices in the tool's order, with what identifies them") {
  machine m(scenario({gpu(1), gpu(0)}));
  const auto found = listed(m);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number == 0);
  CHECK(found[0].uuid.view() == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(found[0].pci_bus_id.view() == "0000:02:00.0");
  CHECK(found[0].name.view() == "NVIDIA L40S");
  CHECK(found[0].driver_index == 0u);
  CHECK(found[0].driver_version.view() == "595.80");
  CHECK(found[0].state == state::ready);
  CHECK(found[0].from == source::nvidia_smi);
  CHECK(found[0].memory_kind == memory_kind::dedicated);
  CHECK(found[1].number == 1);
}

TEST_CASE("a slot stays with its card when others go, come and move") {
  machine m(scenario({gpu(0), gpu(1)}));
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
  machine m(scenario({gpu(0)}));
  REQUIRE(listed(m)[0].number == 0);
  m.change(scenario({gpu(3, {{"pci.bus_id", "00000000:01:00.0"}})}));
  CHECK(listed(m)[0].number == 1);
}

TEST_CASE("a card that has lost its uuid is known by its place") {
  machine m(scenario({gpu(0)}));
  REQUIRE(listed(m).size() == 1);
  m.change(scenario({gpu(0, {{"uuid", "[GPU is lost]"},
                             {"name", "[GPU is lost]"},
                             {"memory.total", "[GPU is lost]"},
                             {"memory.used", "[GPU is lost]"}})}));
  const auto lost = listed(m);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].number == 0);
  CHECK(lost[0].state == state::lost);
  CHECK(lost[0].name.view() == "NVIDIA L40S");
  pools p;
  plain_reading r;
  CHECK(m.source().memory(0, p, r).why().code == status::device_lost);
}

TEST_CASE("a card that is gone is not listed, and says so when asked") {
  machine m(scenario({gpu(0), gpu(1)}));
  REQUIRE(listed(m).size() == 2);
  m.change(scenario({gpu(0)}));
  REQUIRE(listed(m).size() == 1);
  plain_reading r;
  pools p;
  CHECK(m.source().memory(1, p, r).why().code == status::device_lost);
  CHECK(m.source().memory(7, p, r).why().code == status::no_device);
  telemetry t;
  CHECK(m.source().telemetry(1, telemetry_field::power_watts, t, r).why().code ==
        status::device_lost);
}

TEST_CASE("a sentence about one card beside the rows of the others") {
  machine m(scenario({gpu(0), gpu(1)}));
  REQUIRE(listed(m).size() == 2);
  m.change({{"raw_query_gpu",
             "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.\n"
             "index, uuid, pci.bus_id, memory.total [MiB]\n"
             "0, GPU-00000000-0000-0000-0000-000000000000, 00000000:01:00.0, 46068\n"},
            {"exit_code", 15}});
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->size() == 1);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].device == 1u);
  CHECK(r.diagnostics[0].why.code == status::device_lost);
  pools p;
  const auto why = m.source().memory(1, p, r);
  REQUIRE_FALSE(why);
  CHECK(mentions(why.why(), "device handle"));
}

TEST_CASE("the same card twice, and one that nothing identifies") {
  machine m(scenario({gpu(0), gpu(0)}));
  plain_reading r;
  CHECK(m.devices(r)->size() == 1);
  CHECK(r.count(status::backend) == 1);
  m.change({{"raw_query_gpu", "name, memory.total [MiB]\nNVIDIA L40S, 46068\n"}});
  plain_reading nameless;
  CHECK(m.devices(nameless)->empty());
  CHECK(nameless.count(status::backend) == 1);
}

TEST_CASE("memory: missing figures are remarks with their field") {
  machine m(scenario({gpu(0, {{"memory.used", "[Unknown Error]"}, {"memory.reserved", "[N/A]"}})}));
  REQUIRE(listed(m).size() == 1);
  plain_reading r;
  pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(pool_kind::main)->free == 36346 * mib);
  REQUIRE(r.diagnostics.size() == 2);
  for (const diagnostic& d : r.diagnostics) {
    CHECK(d.about == subject::pools);
    CHECK(d.device == 0u);
  }
  CHECK(r.find(status::backend)->field == pool_field::used);
  CHECK(r.find(status::unsupported)->field == pool_field::reserved);
}

TEST_CASE("unified memory: a pool without figures, which the host's may fill") {
  const json none = {{"memory.total", "[N/A]"},
                     {"memory.used", "[N/A]"},
                     {"memory.free", "[N/A]"},
                     {"memory.reserved", "[N/A]"},
                     {"name", "NVIDIA GB10"}};
  machine m(scenario({gpu(0, none)}));
  const auto found = listed(m);
  CHECK(found[0].memory_kind == memory_kind::unified);
  plain_reading r;
  pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(pool_kind::main)->kind == pool_kind::unified);
  CHECK_FALSE(p.find(pool_kind::main)->total);
}

TEST_CASE("unified memory: a process may use more than what is set aside") {
  json apps = scenario({gpu(0, {{"name", "NVIDIA N1X"}, {"memory.total", 8128}})});
  machine m(apps);
  CHECK(listed(m)[0].memory_kind == memory_kind::unified);
}

TEST_CASE("telemetry fails only when nothing that was asked for is there") {
  machine m(scenario({gpu(0, {{"power.draw", "[N/A]"}})}));
  REQUIRE(listed(m).size() == 1);
  plain_reading r;
  telemetry t;
  const auto none =
      m.source().telemetry(0, telemetry_field::power_watts | telemetry_field::energy_joules, t, r);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == status::unsupported);
  CHECK(r.diagnostics.size() == 2);  // each field has its own reason
  r.diagnostics.clear();
  REQUIRE(m.source().telemetry(
      0, telemetry_field::power_watts | telemetry_field::temperature_celsius, t, r));
  CHECK(t.temperature_celsius == 45);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == telemetry_field::power_watts);
}

TEST_CASE("metrics are of the same start of the tool as all else") {
  machine m(scenario({gpu(0, {{"power.draw", "[Insufficient Permissions]"},
                              {"power.max_limit", 350.0},
                              {"ecc.errors.corrected.volatile.total", 2}})}));
  REQUIRE(listed(m).size() == 1);
  plain_reading r;
  std::vector<metric> all;
  REQUIRE(m.source().metrics(0, false, all, r));
  const auto has = [&](metric_id id, std::uint32_t instance) {
    return std::any_of(all.begin(), all.end(),
                       [&](const metric& one) { return one.id == id && one.instance == instance; });
  };
  CHECK(has(metric_id::power_limit_watts, which::power_limit::max));
  CHECK(has(metric_id::ecc_corrected, which::era::since_load));
  CHECK_FALSE(has(metric_id::power_watts, which::power_reading::unknown));
  CHECK(m.starts().size() == 1);
  const diagnostic* const why = r.find(status::permission);
  REQUIRE(why != nullptr);
  CHECK(why->about == subject::metrics);
  CHECK(why->field == missing_metric(metric_id::power_watts, which::power_reading::unknown));
}

TEST_CASE("MIG: what cannot be split is said") {
  machine m(scenario({gpu(0, {{"mig.mode.current", "Enabled"}})}));
  plain_reading r;
  REQUIRE(m.devices(r)->size() == 1);
  REQUIRE(r.count(status::unsupported) == 1);
  CHECK(mentions(r.find(status::unsupported)->why, "MIG"));
  machine off(scenario({gpu(0, {{"mig.mode.current", "Disabled"}})}));
  plain_reading quiet;
  REQUIRE(off.devices(quiet));
  CHECK(quiet.diagnostics.empty());
}

TEST_CASE("how the source is") {
  machine m(scenario({gpu(0)}));
  CHECK(m.source().id() == source::nvidia_smi);
  CHECK_FALSE(m.source().can_block());
  CHECK(m.source().describe(source::nvidia_smi).state == state::unknown);
  REQUIRE(m.source().probe());
  REQUIRE(listed(m).size() == 1);
  plain_reading r;
  CHECK_FALSE(m.source().finish(r));
  CHECK(m.source().describe(source::nvidia_smi).state == state::ready);
  CHECK(m.source().describe(source::nvidia_smi).why.code == status::ok);
  CHECK(m.source().describe(source::nvidia_smi).version.view() == "595.80");
  m.change({{"failure", {{"text", "Failed to initialize NVML: Unknown Error"}}}});
  CHECK_FALSE(m.devices(r));
  CHECK(m.source().describe(source::nvidia_smi).why.code == status::backend);
}

TEST_CASE("a source without its program is conclusively not here") {
  settings s;
  s.nvidia_smi_path = "/nowhere/nvidia-smi";
  const auto source = make_nvidia_smi(s);
  CHECK(source->probe().why().code == status::no_source);
  plain_reading r;
  CHECK(source->prepare(r).why().code == status::no_source);
}
