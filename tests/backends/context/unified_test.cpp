// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a GPU that allocates from the host's RAM has the host's total and what of it is available;
// what the host's programs hold is no use of the GPU, whatever the driver reports.
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

// As newer drivers report the host's values for the device's own.
constexpr const char* values_of_the_host =
    R"("memory": {"total": 137438953472, "free": 98784247808, "used": 38654705664})";

std::string gpu(const std::string& name, const std::string& members, const std::string& compute) {
  return R"({"devices": [{"name": ")" + name + R"(", "uuid": "GPU-a",
             "pci": {"address": "000f:01:00.0"}, )" +
         members + R"(, "processes": {"compute": [)" + compute + R"(], "graphics": []}}]})";
}

std::string gb10(const std::string& memory, const std::string& compute) {
  return gpu("NVIDIA GB10", memory, compute);
}

hmn_pool unified_pool(const Machine& m) {
  m.tree().write("proc/meminfo", meminfo);
  const std::string proc = m.tree().proc();
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, proc.c_str(), nullptr) == HMN_OK);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  REQUIRE(p.pools().size() == 1);
  CHECK(p.device(0).memory_kind == HMN_MEMORY_KIND_UNIFIED);
  return p.pools().front();
}

}  // namespace

TEST_CASE("memory of the host is told as the host's, and its use as that of the processes") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("where the driver has no figures") {}
  SUBCASE("where it tells the host's") {
    memory = values_of_the_host;
  }
  SUBCASE("where it tells a total of 0") {
    memory = R"("memory": {"total": 0, "free": 0, "used": 0})";
  }
  nvml.load(gb10(memory, R"({"pid": 100, "used": 3221225472}, {"pid": 101, "used": 1073741824})"));
  const Machine m;
  const hmn_pool pool = unified_pool(m);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK(pool.usable_bytes == 94 * unified_gib);
  CHECK(pool.used_bytes == 4 * unified_gib);
  CHECK((pool.notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK((pool.present & HMN_POOL_HAS_FREE) == 0);
}

TEST_CASE("neither a process nor all of them together use more than the host's RAM") {
  const FakeNvml nvml;
  constexpr const char* no_figures = R"("memory": {"error": "NOT_SUPPORTED"})";
  std::string rows = R"({"pid": 100, "used": "80 GiB"}, {"pid": 101, "used": "48 GiB"})";
  bool fits = true;
  bool all_can_be = true;
  SUBCASE("all of it") {}
  SUBCASE("a byte more together") {
    rows += R"(, {"pid": 102, "used": 1})";
    fits = false;
  }
  SUBCASE("more by one of them") {
    rows += R"(, {"pid": 102, "used": "129 GiB"})";
    fits = all_can_be = false;
  }
  nvml.load(gb10(no_figures, rows));
  const Machine m;
  const hmn_pool pool = unified_pool(m);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK(pool.usable_bytes == 94 * unified_gib);
  CHECK(((pool.present & HMN_POOL_HAS_USED) != 0) == fits);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  auto why = sized<hmn_diagnostic>();
  if (!fits) {
    REQUIRE(read_reason(p.handle(), 0, HMN_COLLECT_POOLS, HMN_POOL_HAS_USED, &why) == HMN_OK);
    CHECK(why.reason == HMN_REASON_IMPLAUSIBLE);
  }
  for (const hmn_usage& row : p.usages()) {
    CHECK(((row.present & HMN_USAGE_HAS_USED) != 0) == (row.pid != 102 || all_can_be));
  }
}

TEST_CASE("of an idle GPU no use is told, though the host's programs hold gigabytes") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("where the driver has no figures") {}
  SUBCASE("where it tells the host's") {
    memory = values_of_the_host;
  }
  nvml.load(gb10(memory, ""));
  const Machine m;
  const hmn_pool pool = unified_pool(m);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
  CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
}

TEST_CASE("memory that a driver does not support is no evidence of the host's") {
  const FakeNvml nvml;
  std::string memory = R"("memory": {"error": "NOT_SUPPORTED"})";
  SUBCASE("not supported") {}
  SUBCASE("nor its BAR1") {
    memory += R"(, "bar1": null)";
  }
  SUBCASE("a total of 0") {
    memory = R"("memory": {"total": 0, "free": 0, "used": 0})";
  }
  SUBCASE("an architecture with memory of its own") {
    memory += R"(, "compute_capability": [8, 9])";
  }
  nvml.load(gpu("NVIDIA L40S", memory, R"({"pid": 100, "used": 3221225472})"));
  const Machine m;
  m.tree().write("proc/meminfo", meminfo);
  const std::string proc = m.tree().proc();
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, proc.c_str(), nullptr) == HMN_OK);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(p.pools().empty());
  CHECK(p.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(p.device(0).form == HMN_DEVICE_FORM_DISCRETE);
  bool is_reported = false;
  for (const hmn_diagnostic& d : p.diagnostics()) {
    is_reported = is_reported || (d.subject == HMN_COLLECT_POOLS && d.status == HMN_E_UNSUPPORTED &&
                                  d.reason == HMN_REASON_UNSUPPORTED);
  }
  CHECK(is_reported);
}

TEST_CASE("what shows that a GPU without figures has the host's memory") {
  const FakeNvml nvml;
  std::string evidence;
  std::string name = "NVIDIA Graphics Device";
  SUBCASE("its name") {
    name = "Orin (nvgpu)";
  }
  SUBCASE("its compute capability") {
    evidence = R"(, "compute_capability": [12, 1])";
  }
  SUBCASE("that it addresses the host's memory") {
    evidence = R"(, "addressing_mode": "ats")";
  }
  nvml.load(gpu(name, R"("memory": {"error": "NOT_SUPPORTED"})" + evidence, ""));
  const Machine m;
  const hmn_pool pool = unified_pool(m);
  CHECK(pool.kind == HMN_POOL_UNIFIED);
  CHECK(pool.total_bytes == 128 * unified_gib);
}

TEST_CASE("a GPU off the bus has the host's memory where the device tree is that of a Tegra") {
  const FakeNvml nvml;
  nvml.load(R"({"devices": [{"name": "NVIDIA Fake", "uuid": "GPU-a", "pci": null,
             "memory": {"error": "NOT_SUPPORTED"}}]})");
  constexpr const char* compatible = "sys/firmware/devicetree/base/compatible";
  using namespace std::string_literals;
  {
    const Machine m;
    m.tree().write(compatible, "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0"s);
    const hmn_pool pool = unified_pool(m);
    CHECK(pool.kind == HMN_POOL_UNIFIED);
    CHECK(pool.total_bytes == 128 * unified_gib);
  }
  for (const std::string& other : {"raspberrypi,5-model-b\0brcm,bcm2712\0"s, ""s}) {
    CAPTURE(other);
    const Machine m;
    if (!other.empty()) m.tree().write(compatible, other);
    m.tree().write("proc/meminfo", meminfo);
    const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
    CHECK(p.info().device_count == 1);
    CHECK(p.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
    CHECK(p.pools().empty());
  }
}

TEST_CASE("a card on the bus of a Tegra has no memory of the host") {
  const FakeNvml nvml;
  nvml.load(gpu("NVIDIA Fake", R"("memory": {"error": "NOT_SUPPORTED"})", ""));
  const Machine m;
  m.tree().write("sys/firmware/devicetree/base/compatible", "nvidia,tegra234");
  m.tree().write("proc/meminfo", meminfo);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(p.device(0).memory_kind == HMN_MEMORY_KIND_UNKNOWN);
  CHECK(p.pools().empty());
}
