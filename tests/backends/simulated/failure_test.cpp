// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

const std::string body =
    R"("pools":[{"kind":"vram","total":"8GiB","reserved":"1GiB","used":"2GiB"}],
    "telemetry":{"power_watts":70,"temperature_celsius":40},
    "processes":[{"pid":7,"used":1},{"pid":"self","used":2}])";

std::string make_device_failure(const std::string& failures) {
  return make_machine(body + ",\"failures\":[" + failures + "]");
}
std::string make_driver_failure(const std::string& failures) {
  return "{\"failures\":[" + failures + "],\"devices\":[{" + body + "}]}";
}

struct NamedStatus {
  const char* word;
  hmn_status code;
};

constexpr NamedStatus statuses[] = {
    {"no_memory", HMN_E_NO_MEMORY},   {"unsupported", HMN_E_UNSUPPORTED},
    {"no_source", HMN_E_NO_SOURCE},   {"no_device", HMN_E_NO_DEVICE},
    {"no_process", HMN_E_NO_PROCESS}, {"permission", HMN_E_PERMISSION},
    {"timeout", HMN_E_TIMEOUT},       {"device_lost", HMN_E_DEVICE_LOST},
    {"backend", HMN_E_BACKEND},       {"limit", HMN_E_LIMIT},
    {"overflow", HMN_E_OVERFLOW},     {"asleep", HMN_E_ASLEEP},
};

}  // namespace

TEST_CASE("every call of a device can return every status") {
  for (const NamedStatus& named : statuses) {
    CAPTURE(named.word);
    Simulation simulation(make_device_failure(std::string(R"({"call":"any","status":")") +
                                              named.word + R"(","message":"as told"})"));
    CHECK(simulation.read_pool() == named.code);
    CHECK(std::string(simulation.error.message) == "as told");
    CHECK(simulation.error.backend == HMN_BACKEND_SIMULATED);
    auto telemetry = sized<hmn_telemetry>();
    CHECK(hmn_telemetry_read(simulation.context(), 0, 0, &telemetry, nullptr) == named.code);
    auto usage = sized<hmn_usage>();
    CHECK(hmn_usage_read_self(simulation.context(), 0, 0, &usage, nullptr) == named.code);
    CHECK(hmn_usage_read(simulation.context(), 0, 7, 0, &usage, nullptr) == named.code);
  }
}

TEST_CASE("a failure of one call does not affect the others") {
  const struct {
    const char* call;
    hmn_flags subject;
  } calls[] = {{"pools", HMN_COLLECT_POOLS},
               {"self", HMN_COLLECT_SELF},
               {"processes", HMN_COLLECT_PROCESSES},
               {"telemetry", HMN_COLLECT_TELEMETRY}};
  for (const auto& call : calls) {
    CAPTURE(call.call);
    Simulation simulation(
        make_device_failure(std::string(R"({"call":")") + call.call +
                            R"(","status":"permission","native":{"domain":"nvml","code":4}})"));
    const SnapshotCopy snapshot(simulation);
    CHECK(snapshot.pools.empty() == (call.subject == HMN_COLLECT_POOLS));
    CHECK(!snapshot.self[0] == (call.subject == HMN_COLLECT_SELF));
    CHECK(snapshot.usages.empty() == (call.subject == HMN_COLLECT_PROCESSES));
    CHECK(!snapshot.telemetry[0] == (call.subject == HMN_COLLECT_TELEMETRY));
    const hmn_diagnostic* diagnostic = snapshot.find_diagnostic(call.subject);
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->status == HMN_E_PERMISSION);
    CHECK(diagnostic->native_domain == HMN_NATIVE_NVML);
    CHECK(diagnostic->native_code == 4);
    CHECK(diagnostic->device_index == 0);
    CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) != 0);
  }
}

TEST_CASE("process fails only for another process, self only for the caller") {
  Simulation process_failure(make_device_failure(R"({"call":"process","status":"permission"})"));
  auto usage = sized<hmn_usage>();
  CHECK(hmn_usage_read(process_failure.context(), 0, 7, 0, &usage, nullptr) == HMN_E_PERMISSION);
  CHECK(hmn_usage_read_self(process_failure.context(), 0, 0, &usage, nullptr) == HMN_OK);
  Simulation self_failure(make_device_failure(R"({"call":"self","status":"permission"})"));
  CHECK(hmn_usage_read(self_failure.context(), 0, 7, 0, &usage, nullptr) == HMN_OK);
  CHECK(hmn_usage_read_self(self_failure.context(), 0, 0, &usage, nullptr) == HMN_E_PERMISSION);
}

TEST_CASE("a failure of the driver affects all devices") {
  Simulation simulation(R"({"failures":[{"call":"pools","status":"timeout"}],
      "devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]},
                 {"uuid":"B","pools":[{"kind":"vram","total":1}]}]})");
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  CHECK(snapshot.devices.size() == 2);
  CHECK(snapshot.pools.empty());
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_POOLS, 0)->status == HMN_E_TIMEOUT);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_POOLS, 1)->status == HMN_E_TIMEOUT);
}

TEST_CASE("a driver that does not open has no devices until it opens") {
  Simulation simulation(make_driver_failure(
      R"({"call":"open","status":"no_source","readings":2,"native":{"domain":"nvml","code":9},
          "message":"the driver is not loaded"})"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  CHECK(snapshot.devices.empty());
  REQUIRE(snapshot.diagnostics.size() == 1);
  CHECK(snapshot.diagnostics[0].status == HMN_E_NO_SOURCE);
  CHECK(snapshot.diagnostics[0].native_code == 9);
  CHECK(std::string(snapshot.diagnostics[0].message) == "the driver is not loaded");
  auto info = sized<hmn_backend_info>();
  REQUIRE(hmn_context_backend(simulation.context(), HMN_BACKEND_SIMULATED, &info, nullptr) ==
          HMN_OK);
  CHECK(info.state == HMN_RUN_STATE_ABSENT);
  CHECK(info.status == HMN_E_NO_SOURCE);
  const SnapshotCopy later(simulation, HMN_COLLECT_POOLS);
  CHECK(later.devices.size() == 1);
  CHECK(later.pools.size() == 1);
}

TEST_CASE("a driver that cannot list its devices makes the snapshot partial") {
  Simulation simulation(
      make_driver_failure(R"({"call":"devices","status":"backend","readings":1})"));
  const SnapshotCopy snapshot(simulation);
  CHECK(snapshot.devices.empty());
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) != 0);
  const SnapshotCopy later(simulation);
  CHECK(later.devices.size() == 1);
}

TEST_CASE("a failure lasts from its first reading for its number of readings") {
  Simulation simulation(
      make_device_failure(R"({"call":"pools","status":"backend","from_reading":2,"readings":2})"));
  const bool expected[] = {true, false, false, true, true};
  for (const bool works : expected)
    CHECK(SnapshotCopy(simulation, HMN_COLLECT_POOLS).pools.empty() != works);
  Simulation last(make_device_failure(
      R"({"call":"pools","status":"backend","from_reading":18446744073709551615,"readings":18446744073709551615})"));
  CHECK(SnapshotCopy(last, HMN_COLLECT_POOLS).pools.size() == 1);
}

TEST_CASE("the first failure that applies is reported") {
  Simulation simulation(make_device_failure(R"({"call":"pools","status":"limit","from_reading":9},
      {"call":"any","status":"timeout","message":"first"},{"call":"pools","status":"backend"})"));
  CHECK(simulation.read_pool() == HMN_E_TIMEOUT);
}

TEST_CASE("single fields of a pool can be missing") {
  Simulation simulation(
      make_device_failure(R"({"call":"pools","fields":["used","free"],"status":"permission"})"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools.size() == 1);
  CHECK(snapshot.pools[0].present == (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_RESERVED));
  REQUIRE(snapshot.diagnostics.size() == 1);
  CHECK(snapshot.diagnostics[0].field == (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE));
  CHECK(snapshot.diagnostics[0].subject == HMN_COLLECT_POOLS);
  CHECK(snapshot.diagnostics[0].status == HMN_E_PERMISSION);
}

TEST_CASE("single fields of telemetry can be missing") {
  Simulation simulation(make_device_failure(
      R"({"call":"telemetry","fields":["power_watts","fan_rpm"],"status":"permission","readings":1})"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_TELEMETRY);
  REQUIRE(snapshot.telemetry[0]);
  CHECK(snapshot.telemetry[0]->present == HMN_TELEMETRY_HAS_TEMPERATURE);
  REQUIRE(snapshot.diagnostics.size() == 2);
  CHECK(snapshot.diagnostics[0].status == HMN_E_PERMISSION);
  CHECK(snapshot.diagnostics[0].field == (HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_FAN_RPM));
  CHECK(snapshot.diagnostics[1].status == HMN_E_UNSUPPORTED);
  CHECK((snapshot.diagnostics[1].field & HMN_TELEMETRY_HAS_FAN_RPM) == 0);
  const SnapshotCopy later(simulation, HMN_COLLECT_TELEMETRY);
  CHECK((later.telemetry[0]->present & HMN_TELEMETRY_HAS_POWER) != 0);
  Simulation all(make_device_failure(
      R"({"call":"telemetry","fields":["power_watts","temperature_celsius"],"status":"permission"})"));
  auto telemetry = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(all.context(), 0, 0, &telemetry, nullptr) == HMN_E_PERMISSION);
}

TEST_CASE("a value can be missing from all rows") {
  Simulation simulation(
      make_device_failure(R"({"call":"processes","fields":["used"],"status":"backend"},
                              {"call":"self","fields":["used"],"status":"limit"})"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_PROCESSES | HMN_COLLECT_SELF);
  REQUIRE(snapshot.usages.size() == 2);
  for (const hmn_usage& usage : snapshot.usages) CHECK((usage.present & HMN_USAGE_HAS_USED) == 0);
  REQUIRE(snapshot.find_diagnostic(HMN_COLLECT_PROCESSES) != nullptr);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_PROCESSES)->status == HMN_E_BACKEND);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_PROCESSES)->field == HMN_USAGE_HAS_USED);
  REQUIRE(snapshot.find_diagnostic(HMN_COLLECT_SELF) != nullptr);
  CHECK(snapshot.find_diagnostic(HMN_COLLECT_SELF)->status == HMN_E_LIMIT);
}

TEST_CASE("each call of the host can fail, counting its own readings") {
  Simulation simulation(R"({"host":{"self":{"resident":1},"system":{"total":1},
                           "processes":[{"pid":7,"resident":1},{"pid":8,"resident":1}]},
                   "failures":[{"call":"memory","status":"permission","from_reading":2},
                               {"call":"process_memory","status":"no_process","from_reading":2},
                               {"call":"system","status":"backend","from_reading":2,"readings":1,
                                "native":{"domain":"errno","code":5}}]})");
  auto memory = sized<hmn_process_memory>();
  auto error = sized<hmn_error>();
  CHECK(hmn_process_memory_read_self(simulation.context(), 0, &memory, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read_self(simulation.context(), 0, &memory, nullptr) ==
        HMN_E_PERMISSION);
  CHECK(hmn_process_memory_read(simulation.context(), 7, 0, &memory, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read(simulation.context(), 8, 0, &memory, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read(simulation.context(), 7, 0, &memory, nullptr) == HMN_E_NO_PROCESS);
  auto system = sized<hmn_system_memory>();
  CHECK(hmn_system_memory_read(simulation.context(), 0, &system, nullptr) == HMN_OK);
  CHECK(hmn_system_memory_read(simulation.context(), 0, &system, &error) == HMN_E_BACKEND);
  CHECK(error.native_domain == HMN_NATIVE_ERRNO);
  CHECK(error.native_code == 5);
  CHECK(hmn_system_memory_read(simulation.context(), 0, &system, nullptr) == HMN_OK);
}

TEST_CASE("every call is traced if the context requests it") {
  Simulation simulation(
      make_device_failure(
          R"({"call":"pools","status":"limit","native":{"domain":"nvml","code":3}})"),
      {.flags = HMN_CONTEXT_TRACE});
  const SnapshotCopy snapshot(simulation);
  std::string calls;
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics) {
    if ((diagnostic.notes & HMN_NOTE_TRACE) == 0) continue;
    calls += std::string(diagnostic.message) + "; ";
    CHECK((diagnostic.present & HMN_DIAGNOSTIC_HAS_DURATION) != 0);
    const bool failed = std::string(diagnostic.message) == "simulated call: pools";
    CHECK(diagnostic.status == (failed ? HMN_E_LIMIT : HMN_OK));
    CHECK(diagnostic.native_code == (failed ? 3 : 0));
  }
  CHECK(
      calls ==
      "simulated call: open; simulated call: devices; simulated call: pools; simulated call: self; "
      "simulated call: processes; simulated call: telemetry; ");
}
