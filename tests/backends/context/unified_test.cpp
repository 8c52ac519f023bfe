// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a GPU that allocates from the host's RAM has the host's total and available memory;
// memory of the host's programs is not use of the GPU, whatever the driver reports.
#include <doctest/doctest.h>

#include <string>

#include "abi/support/keys.h"
#include "machine.hpp"

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t unified_gib = kib * kib * kib;

// 128 GiB, of which the host's programs hold 34 and the kernel caches 2.
constexpr const char* meminfo =
    "MemTotal:       134217728 kB\n"
    "MemFree:         96468992 kB\n"
    "MemAvailable:    98566144 kB\n";

// Newer drivers report the host's values as the device's own.
constexpr const char* host_values =
    R"("memory": {"total": 137438953472, "free": 98784247808, "used": 38654705664})";

std::string gpu(const std::string& name, const std::string& members, const std::string& compute) {
  return R"({"devices": [{"name": ")" + name + R"(", "uuid": "GPU-a",
             "pci": {"address": "000f:01:00.0"}, )" +
         members + R"(, "processes": {"compute": [)" + compute + R"(], "graphics": []}}]})";
}

std::string gb10(const std::string& memory, const std::string& compute) {
  return gpu("NVIDIA GB10", memory, compute);
}

hmn_pool read_unified_pool(const Machine& machine) {
  machine.tree().write("proc/meminfo", meminfo);
  const std::string proc = machine.tree().proc();
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, proc.c_str(), nullptr) == HMN_OK);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools().size() == 1);
  CHECK(snapshot.device(0).memory_kind == HMN_MEMORY_KIND_UNIFIED);
  return snapshot.pools().front();
}

}  // namespace

TEST_CASE("a unified GPU has the host's total, and the use of its processes") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("the driver reports no values") {}
  SUBCASE("the driver reports the host's values") {
    memory = host_values;
  }
  SUBCASE("the driver reports a total of 0") {
    memory = R"("memory": {"total": 0, "free": 0, "used": 0})";
  }
  nvml.load(gb10(memory, R"({"pid": 100, "used": 3221225472}, {"pid": 101, "used": 1073741824})"));
  const Machine machine;
  const hmn_pool pool = read_unified_pool(machine);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK(pool.usable_bytes == 94 * unified_gib);
  CHECK(pool.used_bytes == 4 * unified_gib);
  CHECK((pool.notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK((pool.present & HMN_POOL_HAS_FREE) == 0);
}

TEST_CASE("use beyond the host's RAM is dropped, per process and in total") {
  const FakeNvml nvml;
  constexpr const char* no_memory_values = R"("memory": {"error": "NOT_SUPPORTED"})";
  std::string rows = R"({"pid": 100, "used": "80 GiB"}, {"pid": 101, "used": "48 GiB"})";
  bool fits = true;
  bool is_each_possible = true;
  SUBCASE("exactly the host's RAM") {}
  SUBCASE("a byte more in total") {
    rows += R"(, {"pid": 102, "used": 1})";
    fits = false;
  }
  SUBCASE("too much by one process") {
    rows += R"(, {"pid": 102, "used": "129 GiB"})";
    fits = is_each_possible = false;
  }
  nvml.load(gb10(no_memory_values, rows));
  const Machine machine;
  const hmn_pool pool = read_unified_pool(machine);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK(pool.usable_bytes == 94 * unified_gib);
  CHECK(((pool.present & HMN_POOL_HAS_USED) != 0) == fits);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  auto diagnostic = sized<hmn_diagnostic>();
  if (!fits) {
    REQUIRE(read_reason(snapshot.handle(), 0, HMN_COLLECT_POOLS, HMN_POOL_HAS_USED, &diagnostic) ==
            HMN_OK);
    CHECK(diagnostic.reason == HMN_REASON_IMPLAUSIBLE);
  }
  for (const hmn_usage& row : snapshot.usages()) {
    CHECK(((row.present & HMN_USAGE_HAS_USED) != 0) == (row.pid != 102 || is_each_possible));
  }
}

TEST_CASE("an idle unified GPU has no use, whatever the host's programs hold") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("the driver reports no values") {}
  SUBCASE("the driver reports the host's values") {
    memory = host_values;
  }
  nvml.load(gb10(memory, ""));
  const Machine machine;
  const hmn_pool pool = read_unified_pool(machine);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
}

TEST_CASE("unsupported memory values do not imply unified memory") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("not supported") {}
  SUBCASE("BAR1 not supported either") {
    memory += R"(, "bar1": null)";
  }
  SUBCASE("total of 0") {
    memory = R"("memory": {"total": 0, "free": 0, "used": 0})";
  }
  SUBCASE("an architecture with memory of its own") {
    memory += R"(, "compute_capability": [8, 9])";
  }
  nvml.load(gpu("NVIDIA L40S", memory, R"({"pid": 100, "used": 3221225472})"));
  const Machine machine;
  machine.tree().write("proc/meminfo", meminfo);
  const std::string proc = machine.tree().proc();
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, proc.c_str(), nullptr) == HMN_OK);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(snapshot.pools().empty());
  CHECK(snapshot.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(snapshot.device(0).form == HMN_DEVICE_FORM_DISCRETE);
  bool is_reported = false;
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    is_reported = is_reported || (diagnostic.subject == HMN_COLLECT_POOLS &&
                                  diagnostic.status == HMN_E_UNSUPPORTED &&
                                  diagnostic.reason == HMN_REASON_UNSUPPORTED);
  }
  CHECK(is_reported);
}

TEST_CASE("a GPU without memory values is unified if something shows it") {
  const FakeNvml nvml;
  std::string evidence;
  std::string name = "NVIDIA Graphics Device";
  SUBCASE("its name") {
    name = "Orin (nvgpu)";
  }
  SUBCASE("its compute capability") {
    evidence = R"(, "compute_capability": [12, 1])";
  }
  SUBCASE("its addressing mode") {
    evidence = R"(, "addressing_mode": "ats")";
  }
  nvml.load(gpu(name, R"("memory": {"error": "NOT_SUPPORTED"})" + evidence, ""));
  const Machine machine;
  const hmn_pool pool = read_unified_pool(machine);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
}

TEST_CASE("a GPU off the bus is unified if the device tree is a Tegra's") {
  const FakeNvml nvml;
  nvml.load(R"({"devices": [{"name": "NVIDIA Fake", "uuid": "GPU-a", "pci": null,
             "memory": {"error": "NOT_SUPPORTED"}}]})");
  constexpr const char* compatible = "sys/firmware/devicetree/base/compatible";
  using namespace std::string_literals;
  {
    const Machine machine;
    machine.tree().write(compatible, "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0"s);
    const hmn_pool pool = read_unified_pool(machine);
    CHECK(pool.kind == HMN_POOL_UNIFIED);
    CHECK(pool.total_bytes == 128 * unified_gib);
  }
  for (const std::string& other : {"raspberrypi,5-model-b\0brcm,bcm2712\0"s, ""s}) {
    CAPTURE(other);
    const Machine machine;
    if (!other.empty()) machine.tree().write(compatible, other);
    machine.tree().write("proc/meminfo", meminfo);
    const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
    CHECK(snapshot.info().device_count == 1);
    CHECK(snapshot.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
    CHECK(snapshot.pools().empty());
  }
}

TEST_CASE("a card on the bus of a Tegra is not unified") {
  const FakeNvml nvml;
  nvml.load(gpu("NVIDIA Fake", R"("memory": {"error": "NOT_SUPPORTED"})", ""));
  const Machine machine;
  machine.tree().write("sys/firmware/devicetree/base/compatible", "nvidia,tegra234");
  machine.tree().write("proc/meminfo", meminfo);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(snapshot.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(snapshot.pools().empty());
}
