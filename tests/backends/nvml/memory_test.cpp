// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/memory.hpp"

#include <doctest/doctest.h>

#include "backends/shared/pci/pci.hpp"
#include "machine.hpp"
#include "model/plausible.hpp"

using namespace hmn;
using namespace hmn::nvml;

namespace {

constexpr const char* unified_processes =
    R"("processes": {"compute": [{"pid": 100, "used": "3 GiB"}, {"pid": 101}],
                     "graphics": [{"pid": 102, "used": "1 GiB"}]})";

struct Checked : Pool {
  bool agree = false;
};

Checked check(const auto& reported) {
  Checked f;
  f.agree = set_sizes(f, reported) == success;
  return f;
}

// The pool without what is impossible.
Pool possible(Pool p) {
  drop_implausible(p, [](std::uint64_t, const Failure&) {});
  return p;
}

// A GPU whose memory is given by `members`.
std::string gpu_with(const std::string& members, const char* name = "NVIDIA Fake") {
  return machine_of(R"({"name": ")" + std::string(name) +
                    R"(", "uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}, )" + members + "}");
}

std::string host_ram_as_total(const char* evidence, const char* name = "NVIDIA Fake") {
  return gpu_with(std::string(R"("memory": {"total": "63 GiB", "free": "3 GiB", "used": "60 GiB"},
    "memory_v2": {"total": "63 GiB", "reserved": 0, "free": "3 GiB", "used": "60 GiB"}, )") +
                      evidence + std::string(", ") + unified_processes,
                  name);
}

}  // namespace

TEST_CASE("total = reserved + free + used is taken as told") {
  const auto f = check(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 30});
  CHECK(f.total == 100);
  CHECK(f.reserved == 10);
  CHECK(f.free == 60);
  CHECK(f.used == 30);
  CHECK(f.agree);
}

TEST_CASE("reserved is taken out of a used that holds it") {
  const auto card = check(
      nvml::MemoryV2{memory_v2_version, 17'179'869'184, 76'546'048, 15'246'684'160, 1'933'185'024});
  CHECK(card.total == 17'179'869'184);
  CHECK(card.free == 15'246'684'160);
  CHECK(card.used == 1'856'638'976);
  CHECK(card.reserved == 76'546'048);
  CHECK(*card.total - *card.reserved == 17'103'323'136);
  const auto f = check(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 40});
  CHECK(f.used == 30);
  CHECK(f.reserved == 10);
  CHECK(f.agree);
}

TEST_CASE("figures that do not add up leave the total alone") {
  const auto f = check(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 35});
  CHECK(f.total == 100);
  CHECK(!f.free);
  CHECK(!f.used);
  CHECK(!f.reserved);
  CHECK(!f.agree);
}

TEST_CASE("no figure passes that is larger than the total, and no sum wraps") {
  constexpr std::uint64_t most = UINT64_MAX;
  for (const auto& reported : {nvml::MemoryV2{memory_v2_version, 100, 10, 101, most - 10},
                               nvml::MemoryV2{memory_v2_version, 100, most, 101, 0},
                               nvml::MemoryV2{memory_v2_version, 100, 200, most, 1}}) {
    const auto f = check(reported);
    CHECK(f.total == 100);
    CHECK(!possible(f).free);
    CHECK(!f.used);
    CHECK(!f.reserved);
    CHECK(!f.agree);
  }
  const auto f = check(nvml::MemoryV1{100, most, 101});
  CHECK(f.total == 100);
  CHECK(!possible(f).free);
  CHECK(!f.used);
}

TEST_CASE("a total of 0 is no figure") {
  CHECK(!check(nvml::MemoryV2{memory_v2_version, 0, 0, 0, 0}).total);
  CHECK(!check(nvml::MemoryV1{0, 0, 0}).total);
}

TEST_CASE("a total that the driver does not tell is no figure, and no sign of shared memory") {
  constexpr std::uint64_t unreported = nvml::value_not_available;
  CHECK(!check(nvml::MemoryV2{memory_v2_version, unreported, 0, unreported, 0}).total);
  CHECK(!check(nvml::MemoryV1{unreported, unreported, 0}).total);
  for (const char* values :
       {R"("memory": {"total": 18446744073709551615, "free": 18446744073709551615, "used": 0})",
        R"("memory_v2": {"total": 18446744073709551615, "reserved": 0, "free": 1, "used": 2})"}) {
    CAPTURE(values);
    Machine m(gpu_with(values));
    CHECK(m.devices().at(0).memory_kind == MemoryKind::unknown);
    Pools none;
    const auto done = m.memory(0, none);
    REQUIRE_FALSE(done);
    CHECK(done.why().code == Status::backend);
    CHECK(none.empty());
  }
}

TEST_CASE("the first generation's used holds what is reserved") {
  const auto f = check(nvml::MemoryV1{100, 60, 40});
  CHECK(f.used == 40);
  CHECK(f.free == 60);
  CHECK(!f.reserved);
  CHECK(f.agree);
}

TEST_CASE("chips with a GPU inside are known by name") {
  for (const char* name : {"NVIDIA GB10", "NVIDIA N1X", "NVIDIA RTX Spark N1X", "Orin (nvgpu)",
                           "NVIDIA Thor", "Xavier", "NVIDIA Tegra X1"}) {
    CHECK_MESSAGE(pci::names_system_on_chip(name), name);
  }
  for (const char* name : {"NVIDIA GB100", "NVIDIA GB102", "NVIDIA GH200 480GB", "NVIDIA L40S",
                           "Tegracore", "NVIDIA GeForce RTX 5060 Ti", ""}) {
    CHECK_MESSAGE(!pci::names_system_on_chip(name), name);
  }
}

TEST_CASE("a card's pool is what the second generation tells") {
  Machine m(one_gpu());
  const Pool p = m.pool();
  CHECK(p.kind == PoolKind::vram);
  CHECK(p.is_main);
  CHECK(p.from == Source::nvml);
  CHECK(p.accounting == Accounting::allocated);
  CHECK(p.total == 16 * gib);
  CHECK(p.reserved == 512 * mib);
  CHECK(p.free == 12 * gib);
  CHECK(p.used == 3584 * mib);
  CHECK(p.notes == 0);
  CHECK(m.reading.about().empty());
  CHECK(m.driver.calls("nvmlDeviceGetMemoryInfo") == 0);
  CHECK(m.devices().at(0).memory_kind == MemoryKind::dedicated);
}

TEST_CASE("without the second generation the first one serves, reserved inside used") {
  Machine m(one_gpu(), std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-no_v2_memory/libnvidia-ml.so.1");
  const Pool p = m.pool();
  CHECK(p.total == 16 * gib);
  CHECK(p.used == 4 * gib);
  CHECK(!p.reserved);
}

TEST_CASE("a driver that refuses the second generation is not asked again") {
  for (const char* refusal : {"ARGUMENT_VERSION_MISMATCH", "FUNCTION_NOT_FOUND"}) {
    Machine m(
        one_gpu(R"("results": {"nvmlDeviceGetMemoryInfo_v2": ")" + std::string(refusal) + "\"}"));
    CHECK(m.pool().used == 4 * gib);
    CHECK(m.pool().used == 4 * gib);
    CHECK(m.driver.calls("nvmlDeviceGetMemoryInfo_v2") == 1);
  }
}

TEST_CASE("figures that disagree are left out with a remark that names them") {
  Machine m(gpu_with(R"("memory_v2": {"total": 100000000, "reserved": 10000000,
                                      "free": 60000000, "used": 35000000})"));
  const Pool p = m.pool();
  CHECK(p.total == 100'000'000);
  CHECK(!p.free);
  CHECK(!p.used);
  CHECK(!p.reserved);
  const auto said = m.reading.about(subject::pools);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.code == Status::backend);
  CHECK(said[0].field == (pool_field::used | pool_field::free | pool_field::reserved));
  CHECK(said[0].device == 0);
}

TEST_CASE("where the second generation does not add up, the first may") {
  Machine m(gpu_with(R"("memory": {"total": 100000000, "free": 65000000, "used": 35000000},
      "memory_v2": {"total": 100000000, "reserved": 10000000, "free": 60000000,
                    "used": 35000000})"));
  const Pool p = m.pool();
  CHECK(p.free == 65'000'000);
  CHECK(p.used == 35'000'000);
  CHECK(!p.reserved);
  CHECK(m.reading.about(subject::pools).empty());
}

TEST_CASE("a GPU without figures of its own has the host's RAM") {
  for (const char* values :
       {R"("memory": null)", R"("memory": {"total": 0}, "memory_v2": {"total": 0, "reserved": 0})",
        R"("memory": {"error": "NOT_SUPPORTED"}, "memory_v2": {"error": "NOT_SUPPORTED"})"}) {
    CAPTURE(values);
    Machine m(gpu_with(std::string(values) + ", " + unified_processes, "NVIDIA GB10"));
    const auto found = m.devices();
    CHECK(found.at(0).memory_kind == MemoryKind::unified);
    CHECK(found.at(0).form == DeviceForm::integrated);
    const Pool p = m.pool();
    CHECK(p.kind == PoolKind::unified);
    CHECK(p.is_main);
    CHECK(!p.total);
    CHECK(!p.free);
    CHECK(!p.reserved);
    CHECK(p.used == 4 * gib);
    CHECK(p.notes == (note::lower_bound | note::estimated));
  }
}

TEST_CASE("the part of the host's RAM that firmware sets aside is not all that there is") {
  constexpr const char* carve_out =
      R"("memory": {"total": "8128 MiB", "free": "7929 MiB", "used": "199 MiB"},
         "memory_v2": {"total": "8128 MiB", "reserved": 0, "free": "7929 MiB", "used": "199 MiB"},
         "processes": {"compute": [{"pid": 100, "used": "30 GiB"}]})";
  std::string said = gpu_with(carve_out, "NVIDIA N1X");
  MemoryKind kind = MemoryKind::unified;
  SUBCASE("by its name") {}
  SUBCASE("by its compute capability") {
    said =
        gpu_with(std::string(carve_out) + R"(, "compute_capability": [12, 1])", "Graphics Device");
  }
  SUBCASE("by its PCI device id") {
    said = gpu_with(std::string(carve_out) +
                        R"(, "pci": {"address": "00000000:01:00.0", "device_id": "0x2e2a10de"})",
                    "Graphics Device");
  }
  SUBCASE("of a chip that is not known") {
    said = gpu_with(carve_out, "Graphics Device");
    kind = MemoryKind::dedicated;
  }
  Machine m(said);
  const auto found = m.devices();
  CHECK(found.at(0).memory_kind == kind);
  const Pool p = m.pool();
  if (kind == MemoryKind::dedicated) {
    CHECK(p.kind == PoolKind::vram);
    CHECK(p.total == 8128 * mib);
    return;
  }
  CHECK(found.at(0).form == DeviceForm::integrated);
  CHECK_FALSE(found.at(0).memory_total);  // which a process may exceed
  CHECK(p.kind == PoolKind::unified);
  CHECK_FALSE(p.total);
  CHECK_FALSE(p.free);
  CHECK(p.used == 30 * gib);
}

TEST_CASE("host RAM in the place of memory is not passed on") {
  Machine m(host_ram_as_total(R"("bar1": {"total": 1})"));
  SUBCASE("addressed through the host's page tables") {
    m.driver.load(host_ram_as_total(R"("addressing_mode": "ats", "bar1": {"total": 1})"));
  }
  SUBCASE("joined by the chip-to-chip link") {
    m.driver.load(host_ram_as_total(R"("c2c": true, "bar1": {"total": 1})"));
  }
  SUBCASE("neither on the bus nor with a BAR1") {
    m.driver.load(host_ram_as_total(R"("bar1": null, "pci": null)"));
  }
  SUBCASE("by its name") {
    m.driver.load(host_ram_as_total(R"("bar1": {"total": 1})", "NVIDIA GB10"));
  }
  const Pool p = m.pool();
  CHECK(p.kind == PoolKind::unified);
  CHECK(!p.total);
  CHECK(!p.free);
  CHECK(p.used == 4 * gib);
  CHECK(m.devices().at(0).memory_kind == MemoryKind::unified);
}

TEST_CASE(
    "a chip that shares the host's RAM stays one when an update changes the driver's answer") {
  constexpr const char* refused =
      R"("memory": {"error": "NOT_SUPPORTED"}, "memory_v2": {"error": "NOT_SUPPORTED"}, )";
  const std::string before = gpu_with(refused + std::string(unified_processes), "NVIDIA GB10");
  const std::string after = host_ram_as_total(R"("bar1": null)", "NVIDIA GB10");
  std::string second = after;
  Machine m(before);
  SUBCASE("to the host's figures") {}
  SUBCASE("to no figures") {
    m.driver.load(after);
    second = before;
  }
  const Pool first = m.pool();
  m.driver.load(second);
  m.driver.driver_reload();
  const Pool p = m.pool();
  CHECK(p.kind == PoolKind::unified);
  CHECK(p.used == 4 * gib);
  CHECK(p.used == first.used);
  CHECK(!p.total);
  CHECK(m.devices().at(0).memory_kind == MemoryKind::unified);
}

TEST_CASE("a card as large as the host's RAM is a card") {
  Machine m(host_ram_as_total(R"("bar1": {"total": 1})"));
  SUBCASE("with a BAR1") {}
  SUBCASE("on the bus, without a BAR1") {
    m.driver.load(host_ram_as_total(R"("bar1": null)"));
  }
  SUBCASE("with a BAR1, by a driver that does not have its address") {
    m.driver.load(host_ram_as_total(R"("bar1": {"total": 1}, "pci": null)"));
  }
  const Pool p = m.pool();
  CHECK(p.kind == PoolKind::vram);
  CHECK(p.used == 60 * gib);
  CHECK(m.devices().at(0).form == DeviceForm::discrete);
  m.restart();
  m.driver.load(host_ram_as_total(R"("virtualization": 2, "bar1": null)"));
  CHECK(m.pool().kind == PoolKind::vram);
  CHECK(m.devices().at(0).form == DeviceForm::virtual_device);
}

TEST_CASE("memory of its own that the host addresses is coherent") {
  for (const char* evidence :
       {R"("numa_node": 1)", R"("addressing_mode": "ats")", R"("c2c": true)"}) {
    CAPTURE(evidence);
    Machine m(one_gpu(evidence));
    const auto found = m.devices();
    CHECK(found.at(0).memory_kind == MemoryKind::coherent);
    CHECK(found.at(0).form == DeviceForm::discrete);
    CHECK(m.pool().kind == PoolKind::vram);
    CHECK(m.pool().used == 3584 * mib);
  }
  Machine m(one_gpu(R"("numa_node": 1)"));
  CHECK(m.devices().at(0).numa_node == 1);
}

TEST_CASE("heterogeneous memory management is no evidence of shared memory") {
  Machine m(one_gpu(R"("addressing_mode": "hmm")"));
  CHECK(m.devices().at(0).memory_kind == MemoryKind::dedicated);
}

TEST_CASE("memory that cannot be read is a failure, not a unified pool") {
  Machine m(one_gpu(R"("results": {"nvmlDeviceGetMemoryInfo*": "NO_PERMISSION"})"));
  Pools found;
  const auto done = m.memory(0, found);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::permission);
  CHECK(done.why().native.code == 4);
  CHECK(found.empty());
  CHECK(m.devices().at(0).memory_kind == MemoryKind::unknown);
}

TEST_CASE("the kind of memory is found out once memory can be read") {
  Machine m(one_gpu("", R"("rules": [{"call": "nvmlDeviceGetMemoryInfo*", "result": "UNKNOWN",
                                      "times": 1}])"));
  CHECK(m.devices().at(0).memory_kind == MemoryKind::unknown);
  CHECK(m.pool().kind == PoolKind::vram);
  CHECK(m.devices().at(0).memory_kind == MemoryKind::dedicated);
}
