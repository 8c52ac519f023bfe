// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Implausible values are absent with a diagnostic in the public interface.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "abi/support/keys.h"
#include "simulation.hpp"

namespace {

// Returns the diagnostic about a field.
const hmn_diagnostic* find_diagnostic(const SnapshotCopy& snapshot, hmn_flags subject,
                                      hmn_fields field) {
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics) {
    if (diagnostic.subject == subject && (diagnostic.field & field) != 0) return &diagnostic;
  }
  return nullptr;
}

void check_implausible(const SnapshotCopy& snapshot, hmn_flags subject, hmn_fields field,
                       const char* message) {
  const hmn_diagnostic* const diagnostic = find_diagnostic(snapshot, subject, field);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->status == HMN_E_BACKEND);
  CHECK(diagnostic->reason == HMN_REASON_IMPLAUSIBLE);
  CHECK(diagnostic->backend == HMN_BACKEND_SIMULATED);
  CHECK(diagnostic->field == field);
  CHECK((diagnostic->present & HMN_DIAGNOSTIC_HAS_DEVICE) != 0);
  CHECK(diagnostic->device_index == 0);
  CHECK(std::string(diagnostic->message) == message);
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) != 0);
}

}  // namespace

TEST_CASE("a total of 2^60 bytes is absent with its parts, directly and in a snapshot") {
  Simulation simulation(make_machine(
      R"("pools":[{"kind":"vram","total":1152921504606846976,"free":12,"used":34,"budget":56}])"));
  REQUIRE(simulation.read_pool() == HMN_OK);
  CHECK(simulation.pool.present == HMN_POOL_HAS_BUDGET);
  CHECK(simulation.pool.total_bytes == 0);
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools.size() == 1);
  CHECK(snapshot.pools[0].present == HMN_POOL_HAS_BUDGET);
  check_implausible(snapshot, HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL,
                    "the driver reported total_bytes 1152921504606846976, above 281474976710656: "
                    "implausible");
}

TEST_CASE("free memory above the total is absent") {
  Simulation simulation(make_machine(R"("pools":[{"kind":"vram","total":8,"free":12,"used":3}])"));
  REQUIRE(simulation.read_pool() == HMN_OK);
  CHECK(simulation.pool.present == (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_USED));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools.size() == 1);
  CHECK(snapshot.pools[0].present == simulation.pool.present);
  check_implausible(snapshot, HMN_COLLECT_POOLS, HMN_POOL_HAS_FREE,
                    "the driver reported free_bytes 12, above the total of 8: implausible");
}

TEST_CASE("a pool without any plausible value fails a direct reading") {
  Simulation simulation(make_machine(R"("pools":[{"kind":"vram","total":1152921504606846976}])"));
  CHECK(simulation.read_pool() == HMN_E_BACKEND);
  CHECK(std::string(simulation.error.message).find("total_bytes") != std::string::npos);
}

TEST_CASE("an implausible value of telemetry or metrics is absent") {
  Simulation simulation(make_machine(R"("telemetry":{"temperature_celsius":512,"power_watts":40},
    "metrics":[{"metric":"temperature","instance":"core","value":512},
               {"metric":"power_watts","value":40}])"));
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(simulation.context(), 0, 0, &telemetry, nullptr) == HMN_OK);
  CHECK(telemetry.present == HMN_TELEMETRY_HAS_POWER);
  CHECK(hmn_telemetry_read(simulation.context(), 0, HMN_TELEMETRY_HAS_TEMPERATURE, &telemetry,
                           nullptr) == HMN_E_BACKEND);
  auto metric = sized<hmn_metric>();
  auto error = sized<hmn_error>();
  CHECK(read_metric(simulation.context(), 0, HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE, &metric,
                    &error) == HMN_E_BACKEND);
  CHECK(std::string(error.message) ==
        "the driver reported temperature 512, above 250: implausible");
  CHECK(read_metric(simulation.context(), 0, HMN_METRIC_POWER_WATTS, 0, &metric, &error) == HMN_OK);
  const SnapshotCopy snapshot(simulation, SnapshotCopy::all_subjects | HMN_COLLECT_METRICS);
  REQUIRE(snapshot.telemetry.size() == 1);
  REQUIRE(snapshot.telemetry[0].has_value());
  CHECK(snapshot.telemetry[0]->present == HMN_TELEMETRY_HAS_POWER);
  check_implausible(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE,
                    "the driver reported temperature_celsius 512, above 250: implausible");
  const auto metric_diagnostic =
      std::ranges::find(snapshot.diagnostics, HMN_COLLECT_METRICS, &hmn_diagnostic::subject);
  REQUIRE(metric_diagnostic != snapshot.diagnostics.end());
  CHECK(metric_diagnostic->metric == HMN_METRIC_TEMPERATURE);
  CHECK(metric_diagnostic->reason == HMN_REASON_IMPLAUSIBLE);
  CHECK(snapshot.info.metric_count == 1);
}

TEST_CASE("an implausible value of host memory is absent") {
  Simulation simulation(R"({"host":{"system":{"total":8,"available":9}}})");
  auto memory = sized<hmn_system_memory>();
  REQUIRE(hmn_system_memory_read(simulation.context(), 0, &memory, nullptr) == HMN_OK);
  CHECK(memory.present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_SYSTEM);
  REQUIRE(snapshot.system.has_value());
  CHECK(snapshot.system->present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  const hmn_diagnostic* const diagnostic =
      find_diagnostic(snapshot, HMN_COLLECT_SYSTEM, HMN_SYSTEM_MEMORY_HAS_AVAILABLE);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->status == HMN_E_BACKEND);
  CHECK(diagnostic->present == HMN_DIAGNOSTIC_HAS_FIELD);
}

TEST_CASE("an implausible value of a process is absent, and the diagnostic has its PID") {
  Simulation simulation(
      make_machine(R"("processes":[{"pid":7,"used":1152921504606846976},{"pid":8,"used":5}])"));
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.usages.size() == 2);
  CHECK((snapshot.usages[0].present & HMN_USAGE_HAS_USED) == 0);
  CHECK(snapshot.usages[1].used_bytes == 5);
  const hmn_diagnostic* const diagnostic =
      find_diagnostic(snapshot, HMN_COLLECT_PROCESSES, HMN_USAGE_HAS_USED);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->status == HMN_E_BACKEND);
  CHECK(diagnostic->pid == 7);
}
