// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

const std::string body =
    R"("pools":[{"kind":"vram","total":"8GiB","reserved":"1GiB","used":"2GiB"}],
    "telemetry":{"power_watts":70,"temperature_celsius":40},
    "processes":[{"pid":7,"used":1},{"pid":"self","used":2}])";

std::string with_device(const std::string& failures) {
  return one_device(body + ",\"failures\":[" + failures + "]");
}
std::string with_driver(const std::string& failures) {
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

TEST_CASE("every status can be had from every call of a device") {
  for (const NamedStatus& n : statuses) {
    CAPTURE(n.word);
    Simulation s(with_device(std::string(R"({"call":"any","status":")") + n.word +
                             R"(","message":"as told"})"));
    CHECK(s.read_pool() == n.code);
    CHECK(std::string(s.error.message) == "as told");
    CHECK(s.error.backend == HMN_BACKEND_SIMULATED);
    auto t = sized<hmn_telemetry>();
    CHECK(hmn_telemetry_read(s.context(), 0, 0, &t, nullptr) == n.code);
    auto u = sized<hmn_usage>();
    CHECK(hmn_usage_read_self(s.context(), 0, 0, &u, nullptr) == n.code);
    CHECK(hmn_usage_read(s.context(), 0, 7, 0, &u, nullptr) == n.code);
  }
}

TEST_CASE("a failure of one call leaves the others alone") {
  const struct {
    const char* call;
    hmn_flags subject;
  } calls[] = {{"pools", HMN_COLLECT_POOLS},
               {"self", HMN_COLLECT_SELF},
               {"processes", HMN_COLLECT_PROCESSES},
               {"telemetry", HMN_COLLECT_TELEMETRY}};
  for (const auto& c : calls) {
    CAPTURE(c.call);
    Simulation s(with_device(std::string(R"({"call":")") + c.call +
                             R"(","status":"permission","native":{"domain":"nvml","code":4}})"));
    const TakenSnapshot p(s);
    CHECK(p.pools.empty() == (c.subject == HMN_COLLECT_POOLS));
    CHECK(!p.self[0] == (c.subject == HMN_COLLECT_SELF));
    CHECK(p.usages.empty() == (c.subject == HMN_COLLECT_PROCESSES));
    CHECK(!p.telemetry[0] == (c.subject == HMN_COLLECT_TELEMETRY));
    const hmn_diagnostic* d = p.about(c.subject);
    REQUIRE(d != nullptr);
    CHECK(d->status == HMN_E_PERMISSION);
    CHECK(d->native_domain == HMN_NATIVE_NVML);
    CHECK(d->native_code == 4);
    CHECK(d->device_index == 0);
    CHECK((p.info.notes & HMN_NOTE_PARTIAL) != 0);
  }
}

TEST_CASE("process fails for another process only, self for the caller only") {
  Simulation other(with_device(R"({"call":"process","status":"permission"})"));
  auto u = sized<hmn_usage>();
  CHECK(hmn_usage_read(other.context(), 0, 7, 0, &u, nullptr) == HMN_E_PERMISSION);
  CHECK(hmn_usage_read_self(other.context(), 0, 0, &u, nullptr) == HMN_OK);
  Simulation own(with_device(R"({"call":"self","status":"permission"})"));
  CHECK(hmn_usage_read(own.context(), 0, 7, 0, &u, nullptr) == HMN_OK);
  CHECK(hmn_usage_read_self(own.context(), 0, 0, &u, nullptr) == HMN_E_PERMISSION);
}

TEST_CASE("a failure of the driver concerns all devices") {
  Simulation s(R"({"failures":[{"call":"pools","status":"timeout"}],
      "devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]},
                 {"uuid":"B","pools":[{"kind":"vram","total":1}]}]})");
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  CHECK(p.devices.size() == 2);
  CHECK(p.pools.empty());
  CHECK(p.about(HMN_COLLECT_POOLS, 0)->status == HMN_E_TIMEOUT);
  CHECK(p.about(HMN_COLLECT_POOLS, 1)->status == HMN_E_TIMEOUT);
}

TEST_CASE("a driver that does not open has no devices, until it does") {
  Simulation s(with_driver(
      R"({"call":"open","status":"no_source","readings":2,"native":{"domain":"nvml","code":9},
          "message":"the driver is not loaded"})"));
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  CHECK(p.devices.empty());
  REQUIRE(p.diagnostics.size() == 1);
  CHECK(p.diagnostics[0].status == HMN_E_NO_SOURCE);
  CHECK(p.diagnostics[0].native_code == 9);
  CHECK(std::string(p.diagnostics[0].message) == "the driver is not loaded");
  auto info = sized<hmn_backend_info>();
  REQUIRE(hmn_context_backend(s.context(), HMN_BACKEND_SIMULATED, &info, nullptr) == HMN_OK);
  CHECK(info.state == HMN_RUN_STATE_ABSENT);
  CHECK(info.status == HMN_E_NO_SOURCE);
  const TakenSnapshot later(s, HMN_COLLECT_POOLS);
  CHECK(later.devices.size() == 1);
  CHECK(later.pools.size() == 1);
}

TEST_CASE("a driver that cannot list its devices fails the reading") {
  Simulation s(with_driver(R"({"call":"devices","status":"backend","readings":1})"));
  const TakenSnapshot p(s);
  CHECK(p.devices.empty());
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) != 0);
  const TakenSnapshot later(s);
  CHECK(later.devices.size() == 1);
}

TEST_CASE("a failure lasts from its reading for its number of readings") {
  Simulation s(with_device(R"({"call":"pools","status":"backend","from_reading":2,"readings":2})"));
  const bool expected[] = {true, false, false, true, true};
  for (const bool works : expected)
    CHECK(TakenSnapshot(s, HMN_COLLECT_POOLS).pools.empty() != works);
  Simulation last(with_device(
      R"({"call":"pools","status":"backend","from_reading":18446744073709551615,"readings":18446744073709551615})"));
  CHECK(TakenSnapshot(last, HMN_COLLECT_POOLS).pools.size() == 1);
}

TEST_CASE("the first failure that holds is the one that is told") {
  Simulation s(with_device(R"({"call":"pools","status":"limit","from_reading":9},
      {"call":"any","status":"timeout","message":"first"},{"call":"pools","status":"backend"})"));
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
}

TEST_CASE("single fields of a pool can be missing") {
  Simulation s(with_device(R"({"call":"pools","fields":["used","free"],"status":"permission"})"));
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.pools.size() == 1);
  CHECK(p.pools[0].present == (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_RESERVED));
  REQUIRE(p.diagnostics.size() == 1);
  CHECK(p.diagnostics[0].field == (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE));
  CHECK(p.diagnostics[0].subject == HMN_COLLECT_POOLS);
  CHECK(p.diagnostics[0].status == HMN_E_PERMISSION);
}

TEST_CASE("single fields of telemetry can be missing") {
  Simulation s(with_device(
      R"({"call":"telemetry","fields":["power_watts","fan_rpm"],"status":"permission","readings":1})"));
  const TakenSnapshot p(s, HMN_COLLECT_TELEMETRY);
  REQUIRE(p.telemetry[0]);
  CHECK(p.telemetry[0]->present == HMN_TELEMETRY_HAS_TEMPERATURE);
  REQUIRE(p.diagnostics.size() == 2);
  CHECK(p.diagnostics[0].status == HMN_E_PERMISSION);
  CHECK(p.diagnostics[0].field == (HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_FAN_RPM));
  CHECK(p.diagnostics[1].status == HMN_E_UNSUPPORTED);
  CHECK((p.diagnostics[1].field & HMN_TELEMETRY_HAS_FAN_RPM) == 0);
  const TakenSnapshot later(s, HMN_COLLECT_TELEMETRY);
  CHECK((later.telemetry[0]->present & HMN_TELEMETRY_HAS_POWER) != 0);
  Simulation all(with_device(
      R"({"call":"telemetry","fields":["power_watts","temperature_celsius"],"status":"permission"})"));
  auto t = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(all.context(), 0, 0, &t, nullptr) == HMN_E_PERMISSION);
}

TEST_CASE("the figures of all rows can be missing") {
  Simulation s(with_device(R"({"call":"processes","fields":["used"],"status":"backend"},
                              {"call":"self","fields":["used"],"status":"limit"})"));
  const TakenSnapshot p(s, HMN_COLLECT_PROCESSES | HMN_COLLECT_SELF);
  REQUIRE(p.usages.size() == 2);
  for (const hmn_usage& u : p.usages) CHECK((u.present & HMN_USAGE_HAS_USED) == 0);
  REQUIRE(p.about(HMN_COLLECT_PROCESSES) != nullptr);
  CHECK(p.about(HMN_COLLECT_PROCESSES)->status == HMN_E_BACKEND);
  CHECK(p.about(HMN_COLLECT_PROCESSES)->field == HMN_USAGE_HAS_USED);
  REQUIRE(p.about(HMN_COLLECT_SELF) != nullptr);
  CHECK(p.about(HMN_COLLECT_SELF)->status == HMN_E_LIMIT);
}

TEST_CASE("the host's calls can fail, each with readings of its own") {
  Simulation s(R"({"host":{"self":{"resident":1},"system":{"total":1},
                           "processes":[{"pid":7,"resident":1},{"pid":8,"resident":1}]},
                   "failures":[{"call":"memory","status":"permission","from_reading":2},
                               {"call":"process_memory","status":"no_process","from_reading":2},
                               {"call":"system","status":"backend","from_reading":2,"readings":1,
                                "native":{"domain":"errno","code":5}}]})");
  auto m = sized<hmn_process_memory>();
  auto error = sized<hmn_error>();
  CHECK(hmn_process_memory_read_self(s.context(), 0, &m, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read_self(s.context(), 0, &m, nullptr) == HMN_E_PERMISSION);
  CHECK(hmn_process_memory_read(s.context(), 7, 0, &m, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read(s.context(), 8, 0, &m, nullptr) == HMN_OK);
  CHECK(hmn_process_memory_read(s.context(), 7, 0, &m, nullptr) == HMN_E_NO_PROCESS);
  auto system = sized<hmn_system_memory>();
  CHECK(hmn_system_memory_read(s.context(), 0, &system, nullptr) == HMN_OK);
  CHECK(hmn_system_memory_read(s.context(), 0, &system, &error) == HMN_E_BACKEND);
  CHECK(error.native_domain == HMN_NATIVE_ERRNO);
  CHECK(error.native_code == 5);
  CHECK(hmn_system_memory_read(s.context(), 0, &system, nullptr) == HMN_OK);
}

TEST_CASE("every call is traced when the context asks for it") {
  Simulation s(
      with_device(R"({"call":"pools","status":"limit","native":{"domain":"nvml","code":3}})"),
      {.flags = HMN_CONTEXT_TRACE});
  const TakenSnapshot p(s);
  std::string calls;
  for (const hmn_diagnostic& d : p.diagnostics) {
    if ((d.notes & HMN_NOTE_TRACE) == 0) continue;
    calls += std::string(d.message) + "; ";
    CHECK((d.present & HMN_DIAGNOSTIC_HAS_DURATION) != 0);
    const bool failed = std::string(d.message) == "simulated call: pools";
    CHECK(d.status == (failed ? HMN_E_LIMIT : HMN_OK));
    CHECK(d.native_code == (failed ? 3 : 0));
  }
  CHECK(
      calls ==
      "simulated call: open; simulated call: devices; simulated call: pools; simulated call: self; "
      "simulated call: processes; simulated call: telemetry; ");
}
