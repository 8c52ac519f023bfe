// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values that take the driver milliseconds: read on request, and seldom by a sampler.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include "abi/support/keys.h"
#include "machine.hpp"

namespace {

constexpr const char* energy_call = "nvmlDeviceGetTotalEnergyConsumption";
constexpr const char* max_clock_call = "nvmlDeviceGetMaxClockInfo";
constexpr const char* process_load_call = "nvmlDeviceGetProcessUtilization";

std::string card() {
  return one_gpu({}, R"(, "temperature": 45, "energy_mj": 19000, "clocks_mhz": {"graphics": 2520},
    "max_clocks_mhz": {"graphics": 3105}, "processes": {"compute": [{"pid": 1001, "used": 5}]},
    "process_utilization": [{"pid": 1001, "age_ms": 100, "sm": 55}])");
}

hmn_telemetry read_telemetry(const Machine& machine, hmn_fields fields) {
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(machine.context(), 0, fields, &load, nullptr) == HMN_OK);
  return load;
}

hmn_usage read_process_usage(const Machine& machine, hmn_fields fields) {
  auto row = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(machine.context(), 0, 1001, fields, &row, nullptr) == HMN_OK);
  return row;
}

class RunningSampler {
 public:
  RunningSampler(const Machine& machine, hmn_flags collect, std::uint64_t process_interval_ns) {
    auto options = sized<hmn_sampler_options>();
    options.interval_ns = HMN_MILLISECONDS(5);
    options.process_interval_ns = process_interval_ns;
    auto snapshot_options = sized<hmn_snapshot_options>();
    snapshot_options.collect = collect;
    REQUIRE(hmn_sampler_create(machine.context(), &options, &snapshot_options, &sampler_,
                               nullptr) == HMN_OK);
    REQUIRE(hmn_sampler_start(sampler_, nullptr) == HMN_OK);
  }
  RunningSampler(const RunningSampler&) = delete;
  RunningSampler& operator=(const RunningSampler&) = delete;
  ~RunningSampler() { hmn_sampler_destroy(sampler_); }

  [[nodiscard]] hmn_snapshot* next() const {
    hmn_snapshot* snapshot = nullptr;
    REQUIRE(hmn_sampler_next(sampler_, HMN_MILLISECONDS(patient_ms), &snapshot, nullptr) == HMN_OK);
    return snapshot;
  }

 private:
  hmn_sampler* sampler_ = nullptr;
};

}  // namespace

TEST_CASE("a reading of cheap telemetry does not query the energy") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine machine;
  const hmn_telemetry cheap = read_telemetry(machine, 0);
  CHECK(cheap.temperature_celsius == 45);
  CHECK((cheap.present & HMN_TELEMETRY_HAS_ENERGY) == 0);
  CHECK(nvml.calls(energy_call) == 0);
  const hmn_telemetry complete = read_telemetry(machine, HMN_TELEMETRY_HAS_ENERGY);
  CHECK(complete.energy_joules == 19);
  CHECK(nvml.calls(energy_call) == 1);
}

TEST_CASE("a reading of one process queries its load only on request") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine machine;
  const hmn_usage cheap = read_process_usage(machine, 0);
  CHECK(cheap.used_bytes == 5);
  CHECK((cheap.present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  CHECK(nvml.calls(process_load_call) == 0);
  const hmn_usage complete = read_process_usage(machine, HMN_USAGE_HAS_BUSY_PERCENT);
  CHECK(complete.busy_percent == 55);
  CHECK(nvml.calls(process_load_call) > 0);
}

TEST_CASE("an answer without slow values is not used for a reading that needs them") {
  const FakeNvml nvml;
  nvml.load(card());
  Options options;
  options.max_age_ns = HMN_MILLISECONDS(patient_ms);
  const Machine machine(options);
  read_telemetry(machine, 0);
  const Snapshot whole(machine.context(), HMN_COLLECT_TELEMETRY);
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_snapshot_find_telemetry(whole.handle(), 0, &load, nullptr) == HMN_OK);
  CHECK(load.energy_joules == 19);
  CHECK(nvml.calls(energy_call) == 1);
}

TEST_CASE("a quick snapshot omits slow values, and excludes HMN_SNAPSHOT_SLOW") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine machine;
  auto options = sized<hmn_snapshot_options>();
  options.flags = HMN_SNAPSHOT_QUICK;
  options.collect = HMN_COLLECT_TELEMETRY | HMN_COLLECT_PROCESSES;
  hmn_snapshot* snapshot = nullptr;
  REQUIRE(hmn_snapshot_take(machine.context(), &options, &snapshot, nullptr) == HMN_OK);
  auto row = sized<hmn_usage>();
  REQUIRE(hmn_snapshot_usage_at(snapshot, 0, &row, nullptr) == HMN_OK);
  CHECK(row.used_bytes == 5);
  CHECK((row.present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  auto diagnostic = sized<hmn_diagnostic>();
  REQUIRE(read_reason(snapshot, 0, HMN_COLLECT_PROCESSES, HMN_USAGE_HAS_BUSY_PERCENT,
                      &diagnostic) == HMN_OK);
  CHECK(diagnostic.reason == HMN_REASON_NOT_YET);
  hmn_snapshot_destroy(snapshot);
  CHECK(nvml.calls(energy_call) == 0);
  CHECK(nvml.calls(process_load_call) == 0);
  options.flags |= HMN_SNAPSHOT_SLOW;
  CHECK(hmn_snapshot_take(machine.context(), &options, &snapshot, nullptr) == HMN_E_ARGUMENT);
}

TEST_CASE("a sampler reads slow values as rarely as processes") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine machine;
  const RunningSampler sampler(machine, HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS,
                               HMN_MILLISECONDS(patient_ms));
  for (int n = 0; n < 5; ++n) {
    hmn_snapshot* const snapshot = sampler.next();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(snapshot, 0, &load, nullptr) == HMN_OK);
    CHECK(load.temperature_celsius == 45);
    CHECK(((load.present & HMN_TELEMETRY_HAS_ENERGY) != 0) == (n == 0));
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
    CHECK((info.notes & HMN_NOTE_PARTIAL) == 0);
    if (n != 0) {
      auto diagnostic = sized<hmn_diagnostic>();
      REQUIRE(read_reason(snapshot, 0, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY,
                          &diagnostic) == HMN_OK);
      CHECK(diagnostic.reason == HMN_REASON_NOT_YET);
      for (const std::uint32_t metric : {HMN_METRIC_ENERGY_JOULES, HMN_METRIC_CLOCK_LIMIT_MHZ}) {
        REQUIRE(read_metric_reason(snapshot, 0, metric, 0, &diagnostic) == HMN_OK);
        CHECK(diagnostic.reason == HMN_REASON_NOT_YET);
      }
    }
    hmn_snapshot_destroy(snapshot);
  }
  CHECK(nvml.calls(energy_call) == 2);  // for telemetry, and for metrics
  CHECK(nvml.calls(max_clock_call) == 4);
}

TEST_CASE("a sampler without a process interval reads everything each time") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine machine;
  const RunningSampler sampler(machine, HMN_COLLECT_TELEMETRY, HMN_NS_IMMEDIATE);
  for (int n = 0; n < 3; ++n) {
    hmn_snapshot* const snapshot = sampler.next();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(snapshot, 0, &load, nullptr) == HMN_OK);
    CHECK(load.energy_joules == 19);
    hmn_snapshot_destroy(snapshot);
  }
}
