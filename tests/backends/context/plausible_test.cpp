// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Impossible values of NVML are absent in direct readings and in snapshots, with a diagnostic.
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

// Reads the pool directly and in a snapshot: both agree, with one diagnostic about `missing`.
hmn_pool read_twice(hmn_fields missing) {
  const Machine machine;
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_OK);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools().size() == 1);
  CHECK(snapshot.pools()[0].present == pool.present);
  CHECK(snapshot.pools()[0].total_bytes == pool.total_bytes);
  CHECK(snapshot.pools()[0].free_bytes == pool.free_bytes);
  int count = 0;
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    if (diagnostic.subject != HMN_COLLECT_POOLS || diagnostic.field != missing) continue;
    ++count;
    CHECK(diagnostic.status == HMN_E_BACKEND);
    CHECK(diagnostic.backend == HMN_BACKEND_NVML);
    CHECK(diagnostic.device_index == 0);
    CHECK(diagnostic.reason == HMN_REASON_IMPLAUSIBLE);
  }
  CHECK(count == 1);
  return pool;
}

// Reason for a missing value in a snapshot; 0 without a diagnostic.
std::uint32_t find_reason(const Snapshot& snapshot, hmn_flags subject, hmn_fields field) {
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    if (diagnostic.subject == subject && (diagnostic.field & field) != 0) return diagnostic.reason;
  }
  return 0;
}

std::uint32_t find_metric_reason(const Snapshot& snapshot, std::uint32_t metric) {
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    if (diagnostic.subject == HMN_COLLECT_METRICS && diagnostic.metric == metric)
      return diagnostic.reason;
  }
  return 0;
}

hmn_status read_energy(const Machine& machine, double* joules) {
  auto telemetry = sized<hmn_telemetry>();
  const hmn_status status =
      hmn_telemetry_read(machine.context(), 0, HMN_TELEMETRY_HAS_ENERGY, &telemetry, nullptr);
  *joules = telemetry.energy_joules;
  return status;
}

}  // namespace

TEST_CASE("NVML: memory with an impossible total has no value, and nothing fits there") {
  const FakeNvml driver;
  const std::string values = R"({"total": 562949953421312,
    "free": 140737488355328, "used": 1})";  // 2^49, 2^47
  driver.load(card(R"("memory": )" + values + R"(, "memory_v2": )" + values));
  const Machine machine;
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_E_BACKEND);
  CHECK(std::string(error.message).find("562949953421312") != std::string::npos);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(snapshot.pools().empty());
  for (const hmn_fields field : {HMN_POOL_HAS_TOTAL, HMN_POOL_HAS_FREE, HMN_POOL_HAS_USABLE}) {
    auto diagnostic = sized<hmn_diagnostic>();
    REQUIRE(read_reason(snapshot.handle(), 0, HMN_COLLECT_POOLS, field, &diagnostic) == HMN_OK);
    CHECK(diagnostic.reason == HMN_REASON_IMPLAUSIBLE);
  }
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(machine.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  CHECK(hmn_tracker_would_fit(tracker, 1024, &error) == HMN_E_BACKEND);
  hmn_tracker_destroy(tracker);
}

TEST_CASE("NVML: would_fit fails with the reason of the missing values") {
  const FakeNvml driver;
  const std::string values = R"({"total": "1 GiB", "free": "2 GiB", "used": 1})";
  driver.load(card(R"("memory": )" + values + R"(, "memory_v2": )" + values));
  const Machine machine;
  auto error = sized<hmn_error>();
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(machine.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  CHECK(hmn_tracker_would_fit(tracker, 1024, &error) == HMN_E_BACKEND);
  CHECK(std::string(error.message).find("do not add up") != std::string::npos);
  hmn_tracker_destroy(tracker);
}

TEST_CASE("NVML: values that do not add up to the total are all dropped") {
  constexpr hmn_fields parts = HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED | HMN_POOL_HAS_RESERVED;
  for (const char* lie : {R"("free": "12 GiB", "used": 0)", R"("free": "5 GiB", "used": "4 GiB")",
                          R"("free": "5 GiB", "used": "1 GiB")"}) {
    INFO(std::string(lie));
    const FakeNvml driver;
    driver.load(card(R"("memory_v2": {"total": "8 GiB", "reserved": 0, )" + std::string(lie) +
                     R"(}, "memory": {"total": "8 GiB", )" + lie + "}"));
    const hmn_pool pool = read_twice(parts);
    CHECK((pool.present & (parts | HMN_POOL_HAS_USABLE)) == 0);
    CHECK(pool.total_bytes == std::uint64_t{8} << 30);
  }
}

TEST_CASE("NVML: impossible telemetry is absent and reported as implausible") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 0, "power_usage_mw": 0, "enforced_power_limit_mw": 0,
    "clocks_mhz": {"graphics": 0, "memory": 65535}, "fans": 104,
    "pcie": {"gen": 0, "width": 3}, "utilization": {"gpu": 101, "memory": 7},
    "results": {"nvmlDeviceGetTemperatureV": 3})"));
  const Machine machine;
  auto telemetry = sized<hmn_telemetry>();
  constexpr hmn_fields possible = HMN_TELEMETRY_HAS_FAN_PERCENT | HMN_TELEMETRY_HAS_MEMORY_BUSY;
  constexpr hmn_fields impossible[] = {
      HMN_TELEMETRY_HAS_TEMPERATURE,     HMN_TELEMETRY_HAS_POWER,
      HMN_TELEMETRY_HAS_POWER_LIMIT,     HMN_TELEMETRY_HAS_CORE_CLOCK,
      HMN_TELEMETRY_HAS_MEMORY_CLOCK,    HMN_TELEMETRY_HAS_GPU_BUSY,
      HMN_TELEMETRY_HAS_PCIE_GENERATION, HMN_TELEMETRY_HAS_PCIE_WIDTH};
  REQUIRE(hmn_telemetry_read(machine.context(), 0, 0, &telemetry, nullptr) == HMN_OK);
  CHECK((telemetry.present & possible) == possible);
  CHECK(telemetry.fan_percent == 104);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_TELEMETRY);
  for (const hmn_fields field : impossible) {
    CAPTURE(field);
    CHECK((telemetry.present & field) == 0);
    CHECK(find_reason(snapshot, HMN_COLLECT_TELEMETRY, field) == HMN_REASON_IMPLAUSIBLE);
  }
}

TEST_CASE("NVML: limits of 0 and counts at the maximum of their type are dropped") {
  const FakeNvml driver;
  driver.load(card(R"("max_clocks_mhz": {"graphics": 0, "sm": 0, "memory": 9001, "video": 0},
    "remapped_rows": {"corrected": 4294967295, "uncorrected": 2},
    "ecc_errors": {"corrected_volatile": 18446744073709551615, "corrected_aggregate": 5})"));
  const Machine machine;
  const Snapshot snapshot(machine.context(), HMN_COLLECT_METRICS);
  for (const std::uint32_t metric :
       {HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_METRIC_ROWS_REMAPPED, HMN_METRIC_ECC_CORRECTED}) {
    CAPTURE(metric);
    CHECK(find_metric_reason(snapshot, metric) == HMN_REASON_IMPLAUSIBLE);
  }
  auto metric = sized<hmn_metric>();
  CHECK(read_metric(machine.context(), 0, HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_MEMORY, &metric,
                    nullptr) == HMN_OK);
  CHECK(metric.value == 9001);
  CHECK(read_metric(machine.context(), 0, HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_CORE, &metric,
                    nullptr) == HMN_E_BACKEND);
}

TEST_CASE("NVML: energy that jumps is absent until it is consistent") {
  const FakeNvml driver;
  driver.load(card(R"("energy_mj": 90000000)"));
  const Machine machine;
  double joules = 0;
  REQUIRE(read_energy(machine, &joules) == HMN_OK);
  CHECK(joules == 90'000);
  driver.load(card(R"("energy_mj": 9000000000000)"));
  CHECK(read_energy(machine, &joules) == HMN_E_BACKEND);
  driver.load(card(R"("energy_mj": 90001000)"));
  REQUIRE(read_energy(machine, &joules) == HMN_OK);
  CHECK(joules == 90'001);
  driver.load(card(R"("energy_mj": 5000)"));
  CHECK(read_energy(machine, &joules) == HMN_E_BACKEND);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_TELEMETRY);
  CHECK(find_reason(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY) !=
        HMN_REASON_IMPLAUSIBLE);
  REQUIRE(read_energy(machine, &joules) == HMN_OK);
  CHECK(joules == 5);
}

TEST_CASE("NVML: energy that falls is dropped from telemetry and from metrics") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 40, "energy_mj": 90000000)"));
  const Machine machine;
  double joules = 0;
  REQUIRE(read_energy(machine, &joules) == HMN_OK);
  driver.load(card(R"("temperature": 40, "energy_mj": 5000)"));
  {
    const Snapshot snapshot(machine.context(), HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS);
    CHECK(find_reason(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY) ==
          HMN_REASON_IMPLAUSIBLE);
    CHECK(find_metric_reason(snapshot, HMN_METRIC_ENERGY_JOULES) == HMN_REASON_IMPLAUSIBLE);
  }
  auto metric = sized<hmn_metric>();
  REQUIRE(read_metric(machine.context(), 0, HMN_METRIC_ENERGY_JOULES, 0, &metric, nullptr) ==
          HMN_OK);
  CHECK(metric.value == 5);
}

TEST_CASE("NVML: an address with an impossible PCI domain is dropped") {
  const FakeNvml driver;
  driver.load(R"({"devices": [{"name": "NVIDIA L4", "uuid": "GPU-a",
    "pci": {"address": "FFFFFFFF:01:00.0"}}]})");
  const Machine machine;
  const Snapshot snapshot(machine.context(), HMN_COLLECT_DEVICES);
  CHECK((snapshot.device(0).present & HMN_DEVICE_HAS_PCI) == 0);
  CHECK(find_reason(snapshot, HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_PCI) == HMN_REASON_IMPLAUSIBLE);
}

TEST_CASE("NVML: all throttle reasons at once and an unknown P-state are dropped") {
  const FakeNvml driver;
  driver.load(card(R"("temperature": 40, "clocks_event_reasons": 4294967295, "pstate": 32)"));
  const Machine machine;
  const Snapshot snapshot(machine.context(), HMN_COLLECT_TELEMETRY);
  CHECK(find_reason(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_THROTTLE) ==
        HMN_REASON_IMPLAUSIBLE);
  bool is_reported = false;
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    if ((diagnostic.field & HMN_TELEMETRY_HAS_P_STATE) == 0) continue;
    is_reported = true;
    CHECK(diagnostic.status == HMN_E_EMPTY);
  }
  CHECK(is_reported);
}

TEST_CASE("NVML: a PCI ID is not accepted as a name") {
  const FakeNvml driver;
  driver.load(R"({"devices": [{"name": "NVIDIA Corporation Device 2684", "uuid": "GPU-a",
    "pci": {"address": "0000:01:00.0"}}]})");
  const Machine machine;
  const Snapshot snapshot(machine.context(), HMN_COLLECT_DEVICES);
  CHECK((snapshot.device(0).present & HMN_DEVICE_HAS_NAME) == 0);
  CHECK(std::string(snapshot.device(0).name).empty());
  CHECK(find_reason(snapshot, HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_NAME) == HMN_REASON_UNSUPPORTED);
}

TEST_CASE("a tracker does not use impossible free memory") {
  const FakeNvml driver;
  driver.load(
      card(R"("memory_v2": {"total": "8 GiB", "reserved": 0, "free": "12 GiB", "used": 0})"));
  const Machine machine;
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(machine.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  auto error = sized<hmn_error>();
  CHECK(hmn_tracker_would_fit(tracker, std::uint64_t{10} << 30, &error) != HMN_OK);
  hmn_tracker_destroy(tracker);
}
