// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the driver takes milliseconds for: read where it is asked for, and seldom by a sampler.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include "abi/support/keys.h"
#include "machine.hpp"

namespace {

constexpr const char* energy = "nvmlDeviceGetTotalEnergyConsumption";
constexpr const char* most_clock = "nvmlDeviceGetMaxClockInfo";
constexpr const char* load_of_processes = "nvmlDeviceGetProcessUtilization";

std::string card() {
  return one_gpu({}, R"(, "temperature": 45, "energy_mj": 19000, "clocks_mhz": {"graphics": 2520},
    "max_clocks_mhz": {"graphics": 3105}, "processes": {"compute": [{"pid": 1001, "used": 5}]},
    "process_utilization": [{"pid": 1001, "age_ms": 100, "sm": 55}])");
}

hmn_telemetry telemetry_of(const Machine& m, hmn_fields fields) {
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(m.context(), 0, fields, &load, nullptr) == HMN_OK);
  return load;
}

hmn_usage usage_of(const Machine& m, hmn_fields fields) {
  auto row = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(m.context(), 0, 1001, fields, &row, nullptr) == HMN_OK);
  return row;
}

class RunningSampler {
 public:
  RunningSampler(const Machine& m, hmn_flags collect, std::uint64_t process_interval_ns) {
    auto options = sized<hmn_sampler_options>();
    options.interval_ns = HMN_MILLISECONDS(5);
    options.process_interval_ns = process_interval_ns;
    auto what = sized<hmn_snapshot_options>();
    what.collect = collect;
    REQUIRE(hmn_sampler_create(m.context(), &options, &what, &sampler_, nullptr) == HMN_OK);
    REQUIRE(hmn_sampler_start(sampler_, nullptr) == HMN_OK);
  }
  RunningSampler(const RunningSampler&) = delete;
  RunningSampler& operator=(const RunningSampler&) = delete;
  ~RunningSampler() { hmn_sampler_destroy(sampler_); }

  [[nodiscard]] hmn_snapshot* next() const {
    hmn_snapshot* taken = nullptr;
    REQUIRE(hmn_sampler_next(sampler_, HMN_MILLISECONDS(patient_ms), &taken, nullptr) == HMN_OK);
    return taken;
  }

 private:
  hmn_sampler* sampler_ = nullptr;
};

}  // namespace

TEST_CASE("a reading of the cheap values of telemetry does not ask for the energy") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine m;
  const hmn_telemetry cheap = telemetry_of(m, 0);
  CHECK(cheap.temperature_celsius == 45);
  CHECK((cheap.present & HMN_TELEMETRY_HAS_ENERGY) == 0);
  CHECK(nvml.calls(energy) == 0);
  const hmn_telemetry asked = telemetry_of(m, HMN_TELEMETRY_HAS_ENERGY);
  CHECK(asked.energy_joules == 19);
  CHECK(nvml.calls(energy) == 1);
}

TEST_CASE("a reading of one process asks for its load only where that is wanted") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine m;
  const hmn_usage cheap = usage_of(m, 0);
  CHECK(cheap.used_bytes == 5);
  CHECK((cheap.present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  CHECK(nvml.calls(load_of_processes) == 0);
  const hmn_usage asked = usage_of(m, HMN_USAGE_HAS_BUSY_PERCENT);
  CHECK(asked.busy_percent == 55);
  CHECK(nvml.calls(load_of_processes) > 0);
}

TEST_CASE("an answer without what takes milliseconds does not serve a reading that wants it") {
  const FakeNvml nvml;
  nvml.load(card());
  Options o;
  o.max_age_ns = HMN_MILLISECONDS(patient_ms);
  const Machine m(o);
  telemetry_of(m, 0);
  const TakenSnapshot whole(m.context(), HMN_COLLECT_TELEMETRY);
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_snapshot_find_telemetry(whole.handle(), 0, &load, nullptr) == HMN_OK);
  CHECK(load.energy_joules == 19);
  CHECK(nvml.calls(energy) == 1);
}

TEST_CASE("a quick snapshot leaves out what takes milliseconds, and is not also a slow one") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine m;
  auto options = sized<hmn_snapshot_options>();
  options.flags = HMN_SNAPSHOT_QUICK;
  options.collect = HMN_COLLECT_TELEMETRY | HMN_COLLECT_PROCESSES;
  hmn_snapshot* taken = nullptr;
  REQUIRE(hmn_snapshot_take(m.context(), &options, &taken, nullptr) == HMN_OK);
  auto row = sized<hmn_usage>();
  REQUIRE(hmn_snapshot_usage_at(taken, 0, &row, nullptr) == HMN_OK);
  CHECK(row.used_bytes == 5);
  CHECK((row.present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  auto why = sized<hmn_diagnostic>();
  REQUIRE(read_reason(taken, 0, HMN_COLLECT_PROCESSES, HMN_USAGE_HAS_BUSY_PERCENT, &why) == HMN_OK);
  CHECK(why.reason == HMN_REASON_NOT_YET);
  hmn_snapshot_destroy(taken);
  CHECK(nvml.calls(energy) == 0);
  CHECK(nvml.calls(load_of_processes) == 0);
  options.flags |= HMN_SNAPSHOT_SLOW;
  CHECK(hmn_snapshot_take(m.context(), &options, &taken, nullptr) == HMN_E_ARGUMENT);
}

TEST_CASE("a sampler reads what takes milliseconds as seldom as the processes") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine m;
  const RunningSampler sampler(m, HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS,
                               HMN_MILLISECONDS(patient_ms));
  for (int n = 0; n < 5; ++n) {
    hmn_snapshot* const taken = sampler.next();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(taken, 0, &load, nullptr) == HMN_OK);
    CHECK(load.temperature_celsius == 45);
    CHECK(((load.present & HMN_TELEMETRY_HAS_ENERGY) != 0) == (n == 0));
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(taken, &info, nullptr) == HMN_OK);
    CHECK((info.notes & HMN_NOTE_PARTIAL) == 0);
    if (n != 0) {
      auto why = sized<hmn_diagnostic>();
      REQUIRE(read_reason(taken, 0, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY, &why) ==
              HMN_OK);
      CHECK(why.reason == HMN_REASON_NOT_YET);
      for (const std::uint32_t metric : {HMN_METRIC_ENERGY_JOULES, HMN_METRIC_CLOCK_LIMIT_MHZ}) {
        REQUIRE(read_metric_reason(taken, 0, metric, 0, &why) == HMN_OK);
        CHECK(why.reason == HMN_REASON_NOT_YET);
      }
    }
    hmn_snapshot_destroy(taken);
  }
  CHECK(nvml.calls(energy) == 2);  // for telemetry, and for metrics
  CHECK(nvml.calls(most_clock) == 4);
}

TEST_CASE("a sampler without an interval of its own for processes reads everything each time") {
  const FakeNvml nvml;
  nvml.load(card());
  const Machine m;
  const RunningSampler sampler(m, HMN_COLLECT_TELEMETRY, HMN_NS_IMMEDIATE);
  for (int n = 0; n < 3; ++n) {
    hmn_snapshot* const taken = sampler.next();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(taken, 0, &load, nullptr) == HMN_OK);
    CHECK(load.energy_joules == 19);
    hmn_snapshot_destroy(taken);
  }
}
