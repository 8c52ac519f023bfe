// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "abi/support/keys.h"
#include "simulation.hpp"

namespace {

constexpr const char* several = R"("pools":[{"kind":"vram","total":100,"used":1}],"metrics":[
    {"metric":"temperature","instance":"hotspot","value":80.5,"window_ns":7,"notes":["estimated"]},
    {"metric":"temperature","instance":3,"value":-3},
    {"metric":"pcie_rx_bytes","count":18446744073709551615},
    {"metric":"engine_busy_ns","instance":"compute","count":12},
    {"metric":"throttle_ns","instance":"thermal","count":0},
    {"metric":"power_watts","instance":"average","value":99,"slow":true},
    {"metric":"fan_rpm","instance":1,"missing":{"status":"permission","message":"only root"}}])";

hmn_metric read(const Simulation& s, std::uint32_t id, std::uint32_t instance,
                hmn_status expected = HMN_OK) {
  auto m = sized<hmn_metric>();
  CHECK(read_metric(s.context(), 0, id, instance, &m, nullptr) == expected);
  return m;
}

struct Taken {
  explicit Taken(const Simulation& of, hmn_flags flags = 0) {
    auto o = sized<hmn_snapshot_options>();
    o.collect = HMN_COLLECT_METRICS;
    o.flags = flags;
    REQUIRE(hmn_snapshot_take(of.context(), &o, &s, nullptr) == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(s, &info, nullptr) == HMN_OK);
    notes = info.notes;
    all.resize(info.metric_count, sized<hmn_metric>());
    for (std::uint32_t i = 0; i < info.metric_count; ++i) {
      REQUIRE(hmn_snapshot_metric_at(s, i, &all[i], nullptr) == HMN_OK);
    }
    diagnostics.resize(info.diagnostic_count, sized<hmn_diagnostic>());
    for (std::uint32_t i = 0; i < info.diagnostic_count; ++i) {
      REQUIRE(hmn_snapshot_diagnostic_at(s, i, &diagnostics[i], nullptr) == HMN_OK);
    }
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { hmn_snapshot_destroy(s); }

  hmn_snapshot* s = nullptr;
  hmn_flags notes = 0;
  std::vector<hmn_metric> all;
  std::vector<hmn_diagnostic> diagnostics;
};

}  // namespace

TEST_CASE("a metric is told with its source, instance and notes") {
  Simulation s(one_device(several));
  const hmn_metric hot = read(s, HMN_METRIC_TEMPERATURE, HMN_SENSOR_HOTSPOT);
  CHECK(hot.present == (HMN_METRIC_HAS_VALUE | HMN_METRIC_HAS_WINDOW));
  CHECK(hot.backend == HMN_BACKEND_SIMULATED);
  CHECK(hot.id == HMN_METRIC_TEMPERATURE);
  CHECK(hot.instance == HMN_SENSOR_HOTSPOT);
  CHECK(hot.value == 80.5);
  CHECK(hot.window_ns == 7);
  CHECK(hot.notes == HMN_NOTE_ESTIMATED);
  CHECK(read(s, HMN_METRIC_TEMPERATURE, HMN_SENSOR_MEMORY).value == -3);
  const hmn_metric received = read(s, HMN_METRIC_PCIE_RX_BYTES, 0);
  CHECK(received.present == HMN_METRIC_HAS_COUNT);
  CHECK(received.count == UINT64_MAX);
  CHECK(read(s, HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_THERMAL).present == HMN_METRIC_HAS_COUNT);
}

TEST_CASE("one metric that is missing says why and voids no other") {
  Simulation s(one_device(several));
  read(s, HMN_METRIC_FAN_RPM, 1, HMN_E_PERMISSION);
  read(s, HMN_METRIC_VOLTAGE, 0, HMN_E_UNSUPPORTED);
  read(s, HMN_METRIC_TEMPERATURE, HMN_SENSOR_BOARD, HMN_E_UNSUPPORTED);
  const Taken t(s);
  REQUIRE(t.all.size() == 5);
  REQUIRE(t.diagnostics.size() == 1);
  CHECK(t.diagnostics[0].status == HMN_E_PERMISSION);
  CHECK(t.diagnostics[0].subject == HMN_COLLECT_METRICS);
  CHECK(t.diagnostics[0].present == (HMN_DIAGNOSTIC_HAS_DEVICE | HMN_DIAGNOSTIC_HAS_METRIC |
                                     HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE));
  CHECK(t.diagnostics[0].field == 0);
  CHECK(t.diagnostics[0].metric == HMN_METRIC_FAN_RPM);
  CHECK(t.diagnostics[0].metric_instance == 1);
  CHECK(t.diagnostics[0].reason == HMN_REASON_NOT_PERMITTED);
  CHECK(t.diagnostics[0].device_index == 0);
  CHECK((t.notes & HMN_NOTE_PARTIAL) != 0);
}

TEST_CASE("slow metrics are read on request, and by who asks for one") {
  Simulation s(one_device(several));
  CHECK(Taken(s).all.size() == 5);
  const Taken slow(s, HMN_SNAPSHOT_SLOW);
  REQUIRE(slow.all.size() == 6);
  CHECK(slow.all[5].id == HMN_METRIC_POWER_WATTS);
  CHECK(read(s, HMN_METRIC_POWER_WATTS, HMN_POWER_READING_AVERAGE).value == 99);
}

TEST_CASE("metrics that fail or hang leave the memory of all devices alone") {
  const std::string second = R"({"pools":[{"kind":"vram","total":100,"used":2}]})";
  const std::string text = std::string(R"({"devices":[{)") + several + R"(,
      "delays":[{"call":"metrics","hang":"forever"}]},)" +
                           second + "]}";
  Options o;
  o.deadline_ns = HMN_MILLISECONDS(300);
  Simulation s(text, o);
  auto all = sized<hmn_snapshot_options>();
  all.collect = HMN_COLLECT_POOLS | HMN_COLLECT_METRICS;
  all.flags = HMN_SNAPSHOT_SLOW;
  hmn_snapshot* snapshot = nullptr;
  REQUIRE(hmn_snapshot_take(s.context(), &all, &snapshot, nullptr) == HMN_OK);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
  CHECK(info.pool_count == 2);
  CHECK(info.metric_count == 0);
  CHECK((info.notes & HMN_NOTE_PARTIAL) != 0);
  auto d = sized<hmn_device>();
  for (std::uint32_t i = 0; i < info.device_count; ++i) {
    REQUIRE(hmn_snapshot_device_at(snapshot, i, &d, nullptr) == HMN_OK);
    CHECK(d.state == (i == 0 ? HMN_RUN_STATE_HUNG : HMN_RUN_STATE_READY));
  }
  hmn_snapshot_destroy(snapshot);
}

TEST_CASE("a call that fails as a whole is one diagnostic") {
  Simulation s(
      one_device(std::string(several) + R"(,"failures":[{"call":"metrics","status":"backend"}])"));
  read(s, HMN_METRIC_PCIE_RX_BYTES, 0, HMN_E_BACKEND);
  const Taken t(s);
  CHECK(t.all.empty());
  REQUIRE(t.diagnostics.size() == 1);
  CHECK(t.diagnostics[0].present == HMN_DIAGNOSTIC_HAS_DEVICE);
  CHECK(s.read_pool() == HMN_OK);
}

TEST_CASE("a sleeping device tells none") {
  Simulation s(one_device(std::string(several) + R"(,"state":"asleep")"));
  read(s, HMN_METRIC_PCIE_RX_BYTES, 0, HMN_E_ASLEEP);
  CHECK(Taken(s).all.empty());
}

TEST_CASE("a number that is no metric is refused before anything is asked") {
  Simulation s(one_device(several));
  for (const std::uint32_t id : {0U, 4U, 65U, ~0U}) read(s, id, 0, HMN_E_RANGE);
}
