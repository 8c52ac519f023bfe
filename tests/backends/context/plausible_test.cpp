// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What NVML reports and cannot be: absent in direct readings and in snapshots, with a diagnostic.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "abi/support/keys.h"
#include "machine.hpp"

namespace {

std::string card(const std::string& members) {
  return R"({"devices": [{"name": "NVIDIA Fake", "uuid": "GPU-a",
             "pci": {"address": "0000:01:00.0"}, )" +
         members + "}]}";
}

// The pool read directly, which is the same in a snapshot that has one diagnostic about `missing`.
hmn_pool read_twice(hmn_fields missing) {
  const Machine m;
  auto read = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &read, &error) == HMN_OK);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  REQUIRE(p.pools().size() == 1);
  CHECK(p.pools()[0].present == read.present);
  CHECK(p.pools()[0].total_bytes == read.total_bytes);
  CHECK(p.pools()[0].free_bytes == read.free_bytes);
  int found = 0;
  for (const hmn_diagnostic& d : p.diagnostics()) {
    if (d.subject != HMN_COLLECT_POOLS || d.field != missing) continue;
    ++found;
    CHECK(d.status == HMN_E_BACKEND);
    CHECK(d.backend == HMN_BACKEND_NVML);
    CHECK(d.device_index == 0);
    CHECK(d.reason == HMN_REASON_IMPLAUSIBLE);
  }
  CHECK(found == 1);
  return read;
}

// Why a snapshot of this machine has no value; 0 if it has one.
std::uint32_t reason_in(const TakenSnapshot& p, hmn_flags subject, hmn_fields field) {
  for (const hmn_diagnostic& d : p.diagnostics()) {
    if (d.subject == subject && (d.field & field) != 0) return d.reason;
  }
  return 0;
}

std::uint32_t reason_of_metric(const TakenSnapshot& p, std::uint32_t metric) {
  for (const hmn_diagnostic& d : p.diagnostics()) {
    if (d.subject == HMN_COLLECT_METRICS && d.metric == metric) return d.reason;
  }
  return 0;
}

hmn_status read_energy(const Machine& m, double* joules) {
  auto t = sized<hmn_telemetry>();
  const hmn_status s = hmn_telemetry_read(m.context(), 0, HMN_TELEMETRY_HAS_ENERGY, &t, nullptr);
  *joules = t.energy_joules;
  return s;
}

}  // namespace

TEST_CASE("NVML: nothing is left of memory whose total cannot be, nor does anything fit there") {
  const FakeNvml driver;
  const std::string values = R"({"total": 562949953421312,
    "free": 140737488355328, "used": 1})";  // 2^49, 2^47
  driver.load(card(R"("memory": )" + values + R"(, "memory_v2": )" + values));
  const Machine m;
  auto read = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &read, &error) == HMN_E_BACKEND);
  CHECK(std::string(error.message).find("562949953421312") != std::string::npos);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(p.pools().empty());
  for (const hmn_fields field : {HMN_POOL_HAS_TOTAL, HMN_POOL_HAS_FREE, HMN_POOL_HAS_USABLE}) {
    auto why = sized<hmn_diagnostic>();
    REQUIRE(read_reason(p.handle(), 0, HMN_COLLECT_POOLS, field, &why) == HMN_OK);
    CHECK(why.reason == HMN_REASON_IMPLAUSIBLE);
  }
  hmn_tracker* budget = nullptr;
  REQUIRE(hmn_tracker_create(m.context(), 0, nullptr, &budget, nullptr) == HMN_OK);
  CHECK(hmn_tracker_would_fit(budget, 1024, &error) == HMN_E_BACKEND);
  hmn_tracker_destroy(budget);
}

TEST_CASE("NVML: why nothing is known to fit is the reason of what is missing") {
  const FakeNvml driver;
  const std::string values = R"({"total": "1 GiB", "free": "2 GiB", "used": 1})";
  driver.load(card(R"("memory": )" + values + R"(, "memory_v2": )" + values));
  const Machine m;
  auto error = sized<hmn_error>();
  hmn_tracker* budget = nullptr;
  REQUIRE(hmn_tracker_create(m.context(), 0, nullptr, &budget, nullptr) == HMN_OK);
  CHECK(hmn_tracker_would_fit(budget, 1024, &error) == HMN_E_BACKEND);
  CHECK(std::string(error.message).find("do not add up") != std::string::npos);
  hmn_tracker_destroy(budget);
}

TEST_CASE("NVML: of values that do not add up to the total none is used") {
  constexpr hmn_fields parts = HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED | HMN_POOL_HAS_RESERVED;
  for (const char* lie : {R"("free": "12 GiB", "used": 0)", R"("free": "5 GiB", "used": "4 GiB")",
                          R"("free": "5 GiB", "used": "1 GiB")"}) {
    INFO(std::string(lie));
    const FakeNvml driver;
    driver.load(card(R"("memory_v2": {"total": "8 GiB", "reserved": 0, )" + std::string(lie) +
                     R"(}, "memory": {"total": "8 GiB", )" + lie + "}"));
    const hmn_pool p = read_twice(parts);
    CHECK((p.present & (parts | HMN_POOL_HAS_USABLE)) == 0);
    CHECK(p.total_bytes == std::uint64_t{8} << 30);
  }
}

TEST_CASE("NVML: what cannot be in telemetry is absent and implausible") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 0, "power_usage_mw": 0, "enforced_power_limit_mw": 0,
    "clocks_mhz": {"graphics": 0, "memory": 65535}, "fans": 104,
    "pcie": {"gen": 0, "width": 3}, "utilization": {"gpu": 101, "memory": 7},
    "results": {"nvmlDeviceGetTemperatureV": 3})"));
  const Machine m;
  auto t = sized<hmn_telemetry>();
  constexpr hmn_fields possible = HMN_TELEMETRY_HAS_FAN_PERCENT | HMN_TELEMETRY_HAS_MEMORY_BUSY;
  constexpr hmn_fields impossible[] = {
      HMN_TELEMETRY_HAS_TEMPERATURE,     HMN_TELEMETRY_HAS_POWER,
      HMN_TELEMETRY_HAS_POWER_LIMIT,     HMN_TELEMETRY_HAS_CORE_CLOCK,
      HMN_TELEMETRY_HAS_MEMORY_CLOCK,    HMN_TELEMETRY_HAS_GPU_BUSY,
      HMN_TELEMETRY_HAS_PCIE_GENERATION, HMN_TELEMETRY_HAS_PCIE_WIDTH};
  REQUIRE(hmn_telemetry_read(m.context(), 0, 0, &t, nullptr) == HMN_OK);
  CHECK((t.present & possible) == possible);
  CHECK(t.fan_percent == 104);
  const TakenSnapshot p(m.context(), HMN_COLLECT_TELEMETRY);
  for (const hmn_fields field : impossible) {
    CAPTURE(field);
    CHECK((t.present & field) == 0);
    CHECK(reason_in(p, HMN_COLLECT_TELEMETRY, field) == HMN_REASON_IMPLAUSIBLE);
  }
}

TEST_CASE("NVML: limits of 0 and counts at the maximum of their type are no metrics") {
  const FakeNvml driver;
  driver.load(card(R"("max_clocks_mhz": {"graphics": 0, "sm": 0, "memory": 9001, "video": 0},
    "remapped_rows": {"corrected": 4294967295, "uncorrected": 2},
    "ecc_errors": {"corrected_volatile": 18446744073709551615, "corrected_aggregate": 5})"));
  const Machine m;
  const TakenSnapshot p(m.context(), HMN_COLLECT_METRICS);
  for (const std::uint32_t metric :
       {HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_METRIC_ROWS_REMAPPED, HMN_METRIC_ECC_CORRECTED}) {
    CAPTURE(metric);
    CHECK(reason_of_metric(p, metric) == HMN_REASON_IMPLAUSIBLE);
  }
  auto read = sized<hmn_metric>();
  CHECK(read_metric(m.context(), 0, HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_MEMORY, &read, nullptr) ==
        HMN_OK);
  CHECK(read.value == 9001);
  CHECK(read_metric(m.context(), 0, HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_CORE, &read, nullptr) ==
        HMN_E_BACKEND);
}

TEST_CASE("NVML: energy that jumps is absent until it is consistent") {
  const FakeNvml driver;
  driver.load(card(R"("energy_mj": 90000000)"));
  const Machine m;
  double joules = 0;
  REQUIRE(read_energy(m, &joules) == HMN_OK);
  CHECK(joules == 90'000);
  driver.load(card(R"("energy_mj": 9000000000000)"));
  CHECK(read_energy(m, &joules) == HMN_E_BACKEND);
  driver.load(card(R"("energy_mj": 90001000)"));
  REQUIRE(read_energy(m, &joules) == HMN_OK);
  CHECK(joules == 90'001);
  driver.load(card(R"("energy_mj": 5000)"));
  CHECK(read_energy(m, &joules) == HMN_E_BACKEND);
  const TakenSnapshot p(m.context(), HMN_COLLECT_TELEMETRY);
  CHECK(reason_in(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY) != HMN_REASON_IMPLAUSIBLE);
  REQUIRE(read_energy(m, &joules) == HMN_OK);
  CHECK(joules == 5);
}

TEST_CASE("NVML: energy that falls is refused as a metric, too, whichever was read before") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 40, "energy_mj": 90000000)"));
  const Machine m;
  double joules = 0;
  REQUIRE(read_energy(m, &joules) == HMN_OK);
  driver.load(card(R"("temperature": 40, "energy_mj": 5000)"));
  {
    const TakenSnapshot p(m.context(), HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS);
    CHECK(reason_in(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY) == HMN_REASON_IMPLAUSIBLE);
    CHECK(reason_of_metric(p, HMN_METRIC_ENERGY_JOULES) == HMN_REASON_IMPLAUSIBLE);
  }
  auto read = sized<hmn_metric>();
  REQUIRE(read_metric(m.context(), 0, HMN_METRIC_ENERGY_JOULES, 0, &read, nullptr) == HMN_OK);
  CHECK(read.value == 5);
}

TEST_CASE("NVML: the address of no PCI domain is none") {
  const FakeNvml driver;
  driver.load(R"({"devices": [{"name": "NVIDIA L4", "uuid": "GPU-a",
    "pci": {"address": "FFFFFFFF:01:00.0"}}]})");
  const Machine m;
  const TakenSnapshot p(m.context(), HMN_COLLECT_DEVICES);
  CHECK((p.device(0).present & HMN_DEVICE_HAS_PCI) == 0);
  CHECK(reason_in(p, HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_PCI) == HMN_REASON_IMPLAUSIBLE);
}

TEST_CASE("NVML: all reasons at once and an unknown P-state are no values, and say so") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 40, "clocks_event_reasons": 4294967295, "pstate": 32)"));
  const Machine m;
  const TakenSnapshot p(m.context(), HMN_COLLECT_TELEMETRY);
  CHECK(reason_in(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_THROTTLE) == HMN_REASON_IMPLAUSIBLE);
  bool is_told = false;
  for (const hmn_diagnostic& d : p.diagnostics()) {
    if ((d.field & HMN_TELEMETRY_HAS_P_STATE) == 0) continue;
    is_told = true;
    CHECK(d.status == HMN_E_EMPTY);
  }
  CHECK(is_told);
}

TEST_CASE("NVML: a PCI id is no name") {
  const FakeNvml driver;
  driver.load(R"({"devices": [{"name": "NVIDIA Corporation Device 2684", "uuid": "GPU-a",
    "pci": {"address": "0000:01:00.0"}}]})");
  const Machine m;
  const TakenSnapshot p(m.context(), HMN_COLLECT_DEVICES);
  CHECK((p.device(0).present & HMN_DEVICE_HAS_NAME) == 0);
  CHECK(std::string(p.device(0).name).empty());
  CHECK(reason_in(p, HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_NAME) == HMN_REASON_UNSUPPORTED);
}

TEST_CASE("a tracker does not use free memory that cannot be") {
  const FakeNvml driver;
  driver.load(
      card(R"("memory_v2": {"total": "8 GiB", "reserved": 0, "free": "12 GiB", "used": 0})"));
  const Machine m;
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(m.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  auto error = sized<hmn_error>();
  CHECK(hmn_tracker_would_fit(tracker, std::uint64_t{10} << 30, &error) != HMN_OK);
  hmn_tracker_destroy(tracker);
}
