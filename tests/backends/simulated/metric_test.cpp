// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "abi/support/keys.h"
#include "simulation.hpp"

namespace {

constexpr const char* several_metrics =
    R"("pools":[{"kind":"vram","total":100,"used":1}],"metrics":[
    {"metric":"temperature","instance":"hotspot","value":80.5,"window_ns":7,"notes":["estimated"]},
    {"metric":"temperature","instance":3,"value":-3},
    {"metric":"pcie_rx_bytes","count":18446744073709551615},
    {"metric":"engine_busy_ns","instance":"compute","count":12},
    {"metric":"throttle_ns","instance":"thermal","count":0},
    {"metric":"power_watts","instance":"average","value":99,"slow":true},
    {"metric":"fan_rpm","instance":1,"missing":{"status":"permission","message":"only root"}}])";

hmn_metric read_one(const Simulation& simulation, std::uint32_t id, std::uint32_t instance,
                    hmn_status expected = HMN_OK) {
  auto metric = sized<hmn_metric>();
  CHECK(read_metric(simulation.context(), 0, id, instance, &metric, nullptr) == expected);
  return metric;
}

struct MetricSnapshot {
  explicit MetricSnapshot(const Simulation& simulation, hmn_flags flags = 0) {
    auto options = sized<hmn_snapshot_options>();
    options.collect = HMN_COLLECT_METRICS;
    options.flags = flags;
    REQUIRE(hmn_snapshot_take(simulation.context(), &options, &snapshot, nullptr) == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
    notes = info.notes;
    all.resize(info.metric_count, sized<hmn_metric>());
    for (std::uint32_t i = 0; i < info.metric_count; ++i) {
      REQUIRE(hmn_snapshot_metric_at(snapshot, i, &all[i], nullptr) == HMN_OK);
    }
    diagnostics.resize(info.diagnostic_count, sized<hmn_diagnostic>());
    for (std::uint32_t i = 0; i < info.diagnostic_count; ++i) {
      REQUIRE(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostics[i], nullptr) == HMN_OK);
    }
  }
  MetricSnapshot(const MetricSnapshot&) = delete;
  MetricSnapshot& operator=(const MetricSnapshot&) = delete;
  ~MetricSnapshot() { hmn_snapshot_destroy(snapshot); }

  hmn_snapshot* snapshot = nullptr;
  hmn_flags notes = 0;
  std::vector<hmn_metric> all;
  std::vector<hmn_diagnostic> diagnostics;
};

}  // namespace

TEST_CASE("a metric is reported with its source, instance and notes") {
  Simulation simulation(make_machine(several_metrics));
  const hmn_metric hot = read_one(simulation, HMN_METRIC_TEMPERATURE, HMN_SENSOR_HOTSPOT);
  CHECK(hot.present == (HMN_METRIC_HAS_VALUE | HMN_METRIC_HAS_WINDOW));
  CHECK(hot.backend == HMN_BACKEND_SIMULATED);
  CHECK(hot.id == HMN_METRIC_TEMPERATURE);
  CHECK(hot.instance == HMN_SENSOR_HOTSPOT);
  CHECK(hot.value == 80.5);
  CHECK(hot.window_ns == 7);
  CHECK(hot.notes == HMN_NOTE_ESTIMATED);
  CHECK(read_one(simulation, HMN_METRIC_TEMPERATURE, HMN_SENSOR_MEMORY).value == -3);
  const hmn_metric received = read_one(simulation, HMN_METRIC_PCIE_RX_BYTES, 0);
  CHECK(received.present == HMN_METRIC_HAS_COUNT);
  CHECK(received.count == UINT64_MAX);
  CHECK(read_one(simulation, HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_THERMAL).present ==
        HMN_METRIC_HAS_COUNT);
}

TEST_CASE("a missing metric has a reason and does not affect the others") {
  Simulation simulation(make_machine(several_metrics));
  read_one(simulation, HMN_METRIC_FAN_RPM, 1, HMN_E_PERMISSION);
  read_one(simulation, HMN_METRIC_VOLTAGE, 0, HMN_E_UNSUPPORTED);
  read_one(simulation, HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, HMN_E_UNSUPPORTED);
  const MetricSnapshot snapshot(simulation);
  REQUIRE(snapshot.all.size() == 5);
  REQUIRE(snapshot.diagnostics.size() == 1);
  CHECK(snapshot.diagnostics[0].status == HMN_E_PERMISSION);
  CHECK(snapshot.diagnostics[0].subject == HMN_COLLECT_METRICS);
  CHECK(snapshot.diagnostics[0].present == (HMN_DIAGNOSTIC_HAS_DEVICE | HMN_DIAGNOSTIC_HAS_METRIC |
                                            HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE));
  CHECK(snapshot.diagnostics[0].field == 0);
  CHECK(snapshot.diagnostics[0].metric == HMN_METRIC_FAN_RPM);
  CHECK(snapshot.diagnostics[0].metric_instance == 1);
  CHECK(snapshot.diagnostics[0].reason == HMN_REASON_NOT_PERMITTED);
  CHECK(snapshot.diagnostics[0].device_index == 0);
  CHECK((snapshot.notes & HMN_NOTE_PARTIAL) != 0);
}

TEST_CASE("slow metrics are read on request, and for a caller who asks for one") {
  Simulation simulation(make_machine(several_metrics));
  CHECK(MetricSnapshot(simulation).all.size() == 5);
  const MetricSnapshot slow(simulation, HMN_SNAPSHOT_SLOW);
  REQUIRE(slow.all.size() == 6);
  CHECK(slow.all[5].id == HMN_METRIC_POWER_WATTS);
  CHECK(read_one(simulation, HMN_METRIC_POWER_WATTS, HMN_POWER_READING_AVERAGE).value == 99);
}

TEST_CASE("metrics that fail or hang do not affect memory of any device") {
  const std::string second = R"({"pools":[{"kind":"vram","total":100,"used":2}]})";
  const std::string text = std::string(R"({"devices":[{)") + several_metrics + R"(,
      "delays":[{"call":"metrics","hang":"forever"}]},)" +
                           second + "]}";
  ContextOptions context_options;
  context_options.deadline_ns = HMN_MILLISECONDS(300);
  Simulation simulation(text, context_options);
  auto snapshot_options = sized<hmn_snapshot_options>();
  snapshot_options.collect = HMN_COLLECT_POOLS | HMN_COLLECT_METRICS;
  snapshot_options.flags = HMN_SNAPSHOT_SLOW;
  hmn_snapshot* snapshot = nullptr;
  REQUIRE(hmn_snapshot_take(simulation.context(), &snapshot_options, &snapshot, nullptr) == HMN_OK);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
  CHECK(info.pool_count == 2);
  CHECK(info.metric_count == 0);
  CHECK((info.notes & HMN_NOTE_PARTIAL) != 0);
  auto device = sized<hmn_device>();
  for (std::uint32_t i = 0; i < info.device_count; ++i) {
    REQUIRE(hmn_snapshot_device_at(snapshot, i, &device, nullptr) == HMN_OK);
    CHECK(device.state == (i == 0 ? HMN_RUN_STATE_HUNG : HMN_RUN_STATE_READY));
  }
  hmn_snapshot_destroy(snapshot);
}

TEST_CASE("a call that fails as a whole is one diagnostic") {
  Simulation simulation(make_machine(std::string(several_metrics) +
                                     R"(,"failures":[{"call":"metrics","status":"backend"}])"));
  read_one(simulation, HMN_METRIC_PCIE_RX_BYTES, 0, HMN_E_BACKEND);
  const MetricSnapshot snapshot(simulation);
  CHECK(snapshot.all.empty());
  REQUIRE(snapshot.diagnostics.size() == 1);
  CHECK(snapshot.diagnostics[0].present == HMN_DIAGNOSTIC_HAS_DEVICE);
  CHECK(simulation.read_pool() == HMN_OK);
}

TEST_CASE("a sleeping device reports no metrics") {
  Simulation simulation(make_machine(std::string(several_metrics) + R"(,"state":"asleep")"));
  read_one(simulation, HMN_METRIC_PCIE_RX_BYTES, 0, HMN_E_ASLEEP);
  CHECK(MetricSnapshot(simulation).all.empty());
}

TEST_CASE("an unknown metric number is rejected before any call") {
  Simulation simulation(make_machine(several_metrics));
  for (const std::uint32_t id : {0U, 4U, 65U, ~0U}) read_one(simulation, id, 0, HMN_E_RANGE);
}
