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

struct CheckedPool : Pool {
  bool adds_up = false;
};

CheckedPool check_sizes(const auto& memory) {
  CheckedPool pool;
  pool.adds_up = set_sizes(pool, memory) == success;
  return pool;
}

// The pool without its impossible values.
Pool drop_impossible_sizes(Pool pool) {
  drop_implausible(pool, [](std::uint64_t, const Failure&) {});
  return pool;
}

// A GPU whose memory is given by `members`.
std::string make_gpu(const std::string& members, const char* name = "NVIDIA Fake") {
  return make_scenario(R"({"name": ")" + std::string(name) +
                       R"(", "uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}, )" + members +
                       "}");
}

std::string make_host_ram_gpu(const char* evidence, const char* name = "NVIDIA Fake") {
  return make_gpu(std::string(R"("memory": {"total": "63 GiB", "free": "3 GiB", "used": "60 GiB"},
    "memory_v2": {"total": "63 GiB", "reserved": 0, "free": "3 GiB", "used": "60 GiB"}, )") +
                      evidence + std::string(", ") + unified_processes,
                  name);
}

}  // namespace

TEST_CASE("total = reserved + free + used is accepted as reported") {
  const auto pool = check_sizes(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 30});
  CHECK(pool.total == 100);
  CHECK(pool.reserved == 10);
  CHECK(pool.free == 60);
  CHECK(pool.used == 30);
  CHECK(pool.adds_up);
}

TEST_CASE("reserved memory is subtracted from a used value that includes it") {
  const auto card = check_sizes(
      nvml::MemoryV2{memory_v2_version, 17'179'869'184, 76'546'048, 15'246'684'160, 1'933'185'024});
  CHECK(card.total == 17'179'869'184);
  CHECK(card.free == 15'246'684'160);
  CHECK(card.used == 1'856'638'976);
  CHECK(card.reserved == 76'546'048);
  CHECK(*card.total - *card.reserved == 17'103'323'136);
  const auto pool = check_sizes(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 40});
  CHECK(pool.used == 30);
  CHECK(pool.reserved == 10);
  CHECK(pool.adds_up);
}

TEST_CASE("values that do not add up are dropped, except the total") {
  const auto pool = check_sizes(nvml::MemoryV2{memory_v2_version, 100, 10, 60, 35});
  CHECK(pool.total == 100);
  CHECK(!pool.free);
  CHECK(!pool.used);
  CHECK(!pool.reserved);
  CHECK(!pool.adds_up);
}

TEST_CASE("values above the total are dropped, and sums do not wrap") {
  constexpr std::uint64_t max = UINT64_MAX;
  for (const auto& memory : {nvml::MemoryV2{memory_v2_version, 100, 10, 101, max - 10},
                             nvml::MemoryV2{memory_v2_version, 100, max, 101, 0},
                             nvml::MemoryV2{memory_v2_version, 100, 200, max, 1}}) {
    const auto pool = check_sizes(memory);
    CHECK(pool.total == 100);
    CHECK(!drop_impossible_sizes(pool).free);
    CHECK(!pool.used);
    CHECK(!pool.reserved);
    CHECK(!pool.adds_up);
  }
  const auto pool = check_sizes(nvml::MemoryV1{100, max, 101});
  CHECK(pool.total == 100);
  CHECK(!drop_impossible_sizes(pool).free);
  CHECK(!pool.used);
}

TEST_CASE("a total of 0 is dropped") {
  CHECK(!check_sizes(nvml::MemoryV2{memory_v2_version, 0, 0, 0, 0}).total);
  CHECK(!check_sizes(nvml::MemoryV1{0, 0, 0}).total);
}

TEST_CASE("an unreported total is dropped, and does not imply shared memory") {
  constexpr std::uint64_t unreported = nvml::value_not_available;
  CHECK(!check_sizes(nvml::MemoryV2{memory_v2_version, unreported, 0, unreported, 0}).total);
  CHECK(!check_sizes(nvml::MemoryV1{unreported, unreported, 0}).total);
  for (const char* values :
       {R"("memory": {"total": 18446744073709551615, "free": 18446744073709551615, "used": 0})",
        R"("memory_v2": {"total": 18446744073709551615, "reserved": 0, "free": 1, "used": 2})"}) {
    CAPTURE(values);
    Machine machine(make_gpu(values));
    CHECK(machine.devices().at(0).memory_kind == MemoryKind::unknown);
    PoolList none;
    const auto result = machine.memory(0, none);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::backend);
    CHECK(none.empty());
  }
}

TEST_CASE("the used value of the first-generation call includes reserved memory") {
  const auto pool = check_sizes(nvml::MemoryV1{100, 60, 40});
  CHECK(pool.used == 40);
  CHECK(pool.free == 60);
  CHECK(!pool.reserved);
  CHECK(pool.adds_up);
}

TEST_CASE("systems on a chip are recognized by name") {
  for (const char* name : {"NVIDIA GB10", "NVIDIA N1X", "NVIDIA RTX Spark N1X", "Orin (nvgpu)",
                           "NVIDIA Thor", "Xavier", "NVIDIA Tegra X1"}) {
    CHECK_MESSAGE(pci::is_system_on_chip_name(name), name);
  }
  for (const char* name : {"NVIDIA GB100", "NVIDIA GB102", "NVIDIA GH200 480GB", "NVIDIA L40S",
                           "Tegracore", "NVIDIA GeForce RTX 5060 Ti", ""}) {
    CHECK_MESSAGE(!pci::is_system_on_chip_name(name), name);
  }
}

TEST_CASE("a card's pool has the values of the second-generation call") {
  Machine machine(one_gpu());
  const Pool pool = machine.pool();
  CHECK(pool.kind == PoolKind::vram);
  CHECK(pool.is_main);
  CHECK(pool.source == Source::nvml);
  CHECK(pool.accounting == Accounting::allocated);
  CHECK(pool.total == 16 * gib);
  CHECK(pool.reserved == 512 * mib);
  CHECK(pool.free == 12 * gib);
  CHECK(pool.used == 3584 * mib);
  CHECK(pool.notes == 0);
  CHECK(machine.reading.find_diagnostics().empty());
  CHECK(machine.driver.calls("nvmlDeviceGetMemoryInfo") == 0);
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::dedicated);
}

TEST_CASE("without the second-generation call the first is used, with reserved inside used") {
  Machine machine(one_gpu(),
                  std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-no_v2_memory/libnvidia-ml.so.1");
  const Pool pool = machine.pool();
  CHECK(pool.total == 16 * gib);
  CHECK(pool.used == 4 * gib);
  CHECK(!pool.reserved);
}

TEST_CASE("a second-generation call that the driver refuses is not repeated") {
  for (const char* refusal : {"ARGUMENT_VERSION_MISMATCH", "FUNCTION_NOT_FOUND"}) {
    Machine machine(
        one_gpu(R"("results": {"nvmlDeviceGetMemoryInfo_v2": ")" + std::string(refusal) + "\"}"));
    CHECK(machine.pool().used == 4 * gib);
    CHECK(machine.pool().used == 4 * gib);
    CHECK(machine.driver.calls("nvmlDeviceGetMemoryInfo_v2") == 1);
  }
}

TEST_CASE("values that disagree are dropped with a diagnostic that names them") {
  Machine machine(make_gpu(R"("memory_v2": {"total": 100000000, "reserved": 10000000,
                                      "free": 60000000, "used": 35000000})"));
  const Pool pool = machine.pool();
  CHECK(pool.total == 100'000'000);
  CHECK(!pool.free);
  CHECK(!pool.used);
  CHECK(!pool.reserved);
  const auto diagnostics = machine.reading.find_diagnostics(subject::pools);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::backend);
  CHECK(diagnostics[0].field == (pool_field::used | pool_field::free | pool_field::reserved));
  CHECK(diagnostics[0].device == 0);
}

TEST_CASE("first-generation values are used where the second-generation ones do not add up") {
  Machine machine(make_gpu(R"("memory": {"total": 100000000, "free": 65000000, "used": 35000000},
      "memory_v2": {"total": 100000000, "reserved": 10000000, "free": 60000000,
                    "used": 35000000})"));
  const Pool pool = machine.pool();
  CHECK(pool.free == 65'000'000);
  CHECK(pool.used == 35'000'000);
  CHECK(!pool.reserved);
  CHECK(machine.reading.find_diagnostics(subject::pools).empty());
}

TEST_CASE("a GPU without memory values of its own shares the host's RAM") {
  for (const char* values :
       {R"("memory": null)", R"("memory": {"total": 0}, "memory_v2": {"total": 0, "reserved": 0})",
        R"("memory": {"error": "NOT_SUPPORTED"}, "memory_v2": {"error": "NOT_SUPPORTED"})"}) {
    CAPTURE(values);
    Machine machine(make_gpu(std::string(values) + ", " + unified_processes, "NVIDIA GB10"));
    const auto devices = machine.devices();
    CHECK(devices.at(0).memory_kind == MemoryKind::unified);
    CHECK(devices.at(0).form == DeviceForm::integrated);
    const Pool pool = machine.pool();
    CHECK(pool.kind == PoolKind::unified);
    CHECK(pool.is_main);
    CHECK(!pool.total);
    CHECK(!pool.free);
    CHECK(!pool.reserved);
    CHECK(pool.used == 4 * gib);
    CHECK(pool.notes == (note::lower_bound | note::estimated));
  }
}

TEST_CASE("a carve-out of host RAM is not reported as the total of a unified GPU") {
  constexpr const char* carve_out =
      R"("memory": {"total": "8128 MiB", "free": "7929 MiB", "used": "199 MiB"},
         "memory_v2": {"total": "8128 MiB", "reserved": 0, "free": "7929 MiB", "used": "199 MiB"},
         "processes": {"compute": [{"pid": 100, "used": "30 GiB"}]})";
  std::string gpu_scenario = make_gpu(carve_out, "NVIDIA N1X");
  MemoryKind kind = MemoryKind::unified;
  SUBCASE("recognized by name") {}
  SUBCASE("recognized by compute capability") {
    gpu_scenario =
        make_gpu(std::string(carve_out) + R"(, "compute_capability": [12, 1])", "Graphics Device");
  }
  SUBCASE("recognized by PCI device ID") {
    gpu_scenario =
        make_gpu(std::string(carve_out) +
                     R"(, "pci": {"address": "00000000:01:00.0", "device_id": "0x2e2a10de"})",
                 "Graphics Device");
  }
  SUBCASE("unrecognized chip") {
    gpu_scenario = make_gpu(carve_out, "Graphics Device");
    kind = MemoryKind::dedicated;
  }
  Machine machine(gpu_scenario);
  const auto devices = machine.devices();
  CHECK(devices.at(0).memory_kind == kind);
  const Pool pool = machine.pool();
  if (kind == MemoryKind::dedicated) {
    CHECK(pool.kind == PoolKind::vram);
    CHECK(pool.total == 8128 * mib);
    return;
  }
  CHECK(devices.at(0).form == DeviceForm::integrated);
  CHECK_FALSE(devices.at(0).memory_total);  // which a process may exceed
  CHECK(pool.kind == PoolKind::unified);
  CHECK_FALSE(pool.total);
  CHECK_FALSE(pool.free);
  CHECK(pool.used == 30 * gib);
}

TEST_CASE("host RAM reported as GPU memory is not passed on") {
  Machine machine(make_host_ram_gpu(R"("bar1": {"total": 1})"));
  SUBCASE("addressed through the host's page tables") {
    machine.driver.load(make_host_ram_gpu(R"("addressing_mode": "ats", "bar1": {"total": 1})"));
  }
  SUBCASE("connected by the chip-to-chip link") {
    machine.driver.load(make_host_ram_gpu(R"("c2c": true, "bar1": {"total": 1})"));
  }
  SUBCASE("without a PCI address and without a BAR1") {
    machine.driver.load(make_host_ram_gpu(R"("bar1": null, "pci": null)"));
  }
  SUBCASE("recognized by name") {
    machine.driver.load(make_host_ram_gpu(R"("bar1": {"total": 1})", "NVIDIA GB10"));
  }
  const Pool pool = machine.pool();
  CHECK(pool.kind == PoolKind::unified);
  CHECK(!pool.total);
  CHECK(!pool.free);
  CHECK(pool.used == 4 * gib);
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::unified);
}

TEST_CASE("a unified GPU stays unified when a driver update changes its memory values") {
  constexpr const char* refused =
      R"("memory": {"error": "NOT_SUPPORTED"}, "memory_v2": {"error": "NOT_SUPPORTED"}, )";
  const std::string before = make_gpu(refused + std::string(unified_processes), "NVIDIA GB10");
  const std::string after = make_host_ram_gpu(R"("bar1": null)", "NVIDIA GB10");
  std::string second = after;
  Machine machine(before);
  SUBCASE("from no values to the host's values") {}
  SUBCASE("from the host's values to no values") {
    machine.driver.load(after);
    second = before;
  }
  const Pool first = machine.pool();
  machine.driver.load(second);
  machine.driver.driver_reload();
  const Pool pool = machine.pool();
  CHECK(pool.kind == PoolKind::unified);
  CHECK(pool.used == 4 * gib);
  CHECK(pool.used == first.used);
  CHECK(!pool.total);
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::unified);
}

TEST_CASE("a card with as much memory as the host is not taken for a unified GPU") {
  Machine machine(make_host_ram_gpu(R"("bar1": {"total": 1})"));
  SUBCASE("with a BAR1") {}
  SUBCASE("on the bus, without a BAR1") {
    machine.driver.load(make_host_ram_gpu(R"("bar1": null)"));
  }
  SUBCASE("with a BAR1, without a PCI address") {
    machine.driver.load(make_host_ram_gpu(R"("bar1": {"total": 1}, "pci": null)"));
  }
  const Pool pool = machine.pool();
  CHECK(pool.kind == PoolKind::vram);
  CHECK(pool.used == 60 * gib);
  CHECK(machine.devices().at(0).form == DeviceForm::discrete);
  machine.restart();
  machine.driver.load(make_host_ram_gpu(R"("virtualization": 2, "bar1": null)"));
  CHECK(machine.pool().kind == PoolKind::vram);
  CHECK(machine.devices().at(0).form == DeviceForm::virtual_device);
}

TEST_CASE("device memory that the host can address is coherent") {
  for (const char* evidence :
       {R"("numa_node": 1)", R"("addressing_mode": "ats")", R"("c2c": true)"}) {
    CAPTURE(evidence);
    Machine machine(one_gpu(evidence));
    const auto devices = machine.devices();
    CHECK(devices.at(0).memory_kind == MemoryKind::coherent);
    CHECK(devices.at(0).form == DeviceForm::discrete);
    CHECK(machine.pool().kind == PoolKind::vram);
    CHECK(machine.pool().used == 3584 * mib);
  }
  Machine machine(one_gpu(R"("numa_node": 1)"));
  CHECK(machine.devices().at(0).numa_node == 1);
}

TEST_CASE("heterogeneous memory management does not imply shared memory") {
  Machine machine(one_gpu(R"("addressing_mode": "hmm")"));
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::dedicated);
}

TEST_CASE("memory that cannot be read is a failure, not a unified pool") {
  Machine machine(one_gpu(R"("results": {"nvmlDeviceGetMemoryInfo*": "NO_PERMISSION"})"));
  PoolList pools;
  const auto result = machine.memory(0, pools);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
  CHECK(result.failure().native.code == 4);
  CHECK(pools.empty());
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::unknown);
}

TEST_CASE("the kind of memory is detected once memory can be read") {
  Machine machine(one_gpu("", R"("rules": [{"call": "nvmlDeviceGetMemoryInfo*", "result": "UNKNOWN",
                                      "times": 1}])"));
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::unknown);
  CHECK(machine.pool().kind == PoolKind::vram);
  CHECK(machine.devices().at(0).memory_kind == MemoryKind::dedicated);
}
