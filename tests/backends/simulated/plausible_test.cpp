// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values that cannot be, through the public interface: absent with a diagnostic.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "abi/support/keys.h"
#include "simulation.hpp"

namespace {

// The diagnostic about a field.
const hmn_diagnostic* about_field(const TakenSnapshot& p, hmn_flags subject, hmn_fields field) {
  for (const hmn_diagnostic& d : p.diagnostics) {
    if (d.subject == subject && (d.field & field) != 0) return &d;
  }
  return nullptr;
}

void check_implausible(const TakenSnapshot& p, hmn_flags subject, hmn_fields field,
                       const char* message) {
  const hmn_diagnostic* const d = about_field(p, subject, field);
  REQUIRE(d != nullptr);
  CHECK(d->status == HMN_E_BACKEND);
  CHECK(d->reason == HMN_REASON_IMPLAUSIBLE);
  CHECK(d->backend == HMN_BACKEND_SIMULATED);
  CHECK(d->field == field);
  CHECK((d->present & HMN_DIAGNOSTIC_HAS_DEVICE) != 0);
  CHECK(d->device_index == 0);
  CHECK(std::string(d->message) == message);
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) != 0);
}

}  // namespace

TEST_CASE("a total of 2^60 bytes is absent with its parts, directly and in a snapshot") {
  Simulation s(one_device(
      R"("pools":[{"kind":"vram","total":1152921504606846976,"free":12,"used":34,"budget":56}])"));
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.present == HMN_POOL_HAS_BUDGET);
  CHECK(s.pool.total_bytes == 0);
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.pools.size() == 1);
  CHECK(p.pools[0].present == HMN_POOL_HAS_BUDGET);
  check_implausible(p, HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL,
                    "the driver reported total_bytes 1152921504606846976, above 281474976710656: "
                    "implausible");
}

TEST_CASE("more free than in total is absent") {
  Simulation s(one_device(R"("pools":[{"kind":"vram","total":8,"free":12,"used":3}])"));
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.present == (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_USED));
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.pools.size() == 1);
  CHECK(p.pools[0].present == s.pool.present);
  check_implausible(p, HMN_COLLECT_POOLS, HMN_POOL_HAS_FREE,
                    "the driver reported free_bytes 12, above the total of 8: implausible");
}

TEST_CASE("a pool of which nothing is left is the failure of a direct reading") {
  Simulation s(one_device(R"("pools":[{"kind":"vram","total":1152921504606846976}])"));
  CHECK(s.read_pool() == HMN_E_BACKEND);
  CHECK(std::string(s.error.message).find("total_bytes") != std::string::npos);
}

TEST_CASE("of telemetry and metrics, what cannot be is absent") {
  Simulation s(one_device(R"("telemetry":{"temperature_celsius":512,"power_watts":40},
    "metrics":[{"metric":"temperature","instance":"core","value":512},
               {"metric":"power_watts","value":40}])"));
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(s.context(), 0, 0, &t, nullptr) == HMN_OK);
  CHECK(t.present == HMN_TELEMETRY_HAS_POWER);
  CHECK(hmn_telemetry_read(s.context(), 0, HMN_TELEMETRY_HAS_TEMPERATURE, &t, nullptr) ==
        HMN_E_BACKEND);
  auto m = sized<hmn_metric>();
  auto error = sized<hmn_error>();
  CHECK(read_metric(s.context(), 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, &m, &error) ==
        HMN_E_BACKEND);
  CHECK(std::string(error.message) ==
        "the driver reported temperature 512, above 250: implausible");
  CHECK(read_metric(s.context(), 0, HMN_METRIC_POWER_WATTS, 0, &m, &error) == HMN_OK);
  const TakenSnapshot p(s, TakenSnapshot::every | HMN_COLLECT_METRICS);
  REQUIRE(p.telemetry.size() == 1);
  REQUIRE(p.telemetry[0].has_value());
  CHECK(p.telemetry[0]->present == HMN_TELEMETRY_HAS_POWER);
  check_implausible(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE,
                    "the driver reported temperature_celsius 512, above 250: implausible");
  const auto d = std::ranges::find(p.diagnostics, HMN_COLLECT_METRICS, &hmn_diagnostic::subject);
  REQUIRE(d != p.diagnostics.end());
  CHECK(d->metric == HMN_METRIC_TEMPERATURE);
  CHECK(d->reason == HMN_REASON_IMPLAUSIBLE);
  CHECK(p.info.metric_count == 1);
}

TEST_CASE("of the host's memory, what cannot be is absent") {
  Simulation s(R"({"host":{"system":{"total":8,"available":9}}})");
  auto m = sized<hmn_system_memory>();
  REQUIRE(hmn_system_memory_read(s.context(), 0, &m, nullptr) == HMN_OK);
  CHECK(m.present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  const TakenSnapshot p(s, HMN_COLLECT_SYSTEM);
  REQUIRE(p.system.has_value());
  CHECK(p.system->present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  const hmn_diagnostic* const d =
      about_field(p, HMN_COLLECT_SYSTEM, HMN_SYSTEM_MEMORY_HAS_AVAILABLE);
  REQUIRE(d != nullptr);
  CHECK(d->status == HMN_E_BACKEND);
  CHECK(d->present == HMN_DIAGNOSTIC_HAS_FIELD);
}

TEST_CASE("what a process cannot use is absent from its row, and the diagnostic has its pid") {
  Simulation s(
      one_device(R"("processes":[{"pid":7,"used":1152921504606846976},{"pid":8,"used":5}])"));
  const TakenSnapshot p(s);
  REQUIRE(p.usages.size() == 2);
  CHECK((p.usages[0].present & HMN_USAGE_HAS_USED) == 0);
  CHECK(p.usages[1].used_bytes == 5);
  const hmn_diagnostic* const d = about_field(p, HMN_COLLECT_PROCESSES, HMN_USAGE_HAS_USED);
  REQUIRE(d != nullptr);
  CHECK(d->status == HMN_E_BACKEND);
  CHECK(d->pid == 7);
}
