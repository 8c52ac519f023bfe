// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

std::string make_changing_machine(const std::string& changes) {
  return R"({"host":{"self":{"resident":"100MiB"},"system":{"total":"1GiB"}},
             "devices":[{"uuid":"A","pools":[{"kind":"vram","total":"8GiB","used":"1GiB"}]}],
             "changes":[)" +
         changes + "]}";
}

std::string format_change(const std::string& time, const std::string& used) {
  return "{" + time + R"(,"devices":[{"uuid":"A","pools":[{"kind":"vram","total":"8GiB","used":")" +
         used + "\"}]}]}";
}

std::uint64_t read_used(const Simulation& simulation) {
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools.size() == 1);
  return snapshot.pools[0].used_bytes;
}

}  // namespace

TEST_CASE("changes take place at their reading") {
  Simulation simulation(make_changing_machine(format_change(R"("at_reading":2)", "2GiB") + "," +
                                              format_change(R"("at_reading":4)", "4GiB")));
  const std::uint64_t expected[] = {1, 2, 2, 4, 4};
  for (const std::uint64_t gibs : expected) CHECK(read_used(simulation) == gibs * gib);
}

TEST_CASE("the derived value follows the change") {
  Simulation simulation(make_changing_machine(format_change(R"("at_reading":1)", "3GiB")));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  CHECK(snapshot.pools[0].free_bytes == 5 * gib);
}

TEST_CASE("a change waits for those before it") {
  Simulation simulation(make_changing_machine(format_change(R"("at_reading":3)", "3GiB") + "," +
                                              format_change(R"("at_reading":1)", "7GiB")));
  CHECK(read_used(simulation) == gib);
  CHECK(read_used(simulation) == gib);
  CHECK(read_used(simulation) == 7 * gib);
}

TEST_CASE("changes take place after their time") {
  std::uint64_t last_used = 0;
  const auto read = [&](const Simulation& simulation) {
    last_used = read_used(simulation);
    return last_used == 3 * gib;
  };
  const double elapsed_ms = measure_ms([&] {
    Simulation simulation(make_changing_machine(format_change(R"("after_ms":0)", "2GiB") + "," +
                                                format_change(R"("after_ms":300)", "3GiB")));
    if (!read(simulation)) CHECK(last_used == 2 * gib);
    CHECK(becomes_true([&] { return read(simulation); }));
  });
  CHECK(elapsed_ms >= 300);
}

TEST_CASE("host memory changes with its own readings, in step with snapshots") {
  Simulation simulation(make_changing_machine(
      R"({"at_reading":2,"host":{"self":{"resident":"200MiB"},"system":{"total":"2GiB"}}})"));
  for (const std::uint64_t step : {1U, 2U, 2U}) {
    const SnapshotCopy snapshot(simulation);
    REQUIRE(snapshot.memory);
    REQUIRE(snapshot.system);
    CHECK(snapshot.memory->resident_bytes == step * 100 * mib);
    CHECK(snapshot.system->total_bytes == step * gib);
  }
}

TEST_CASE("a removed device is lost, and keeps its index when it returns") {
  Simulation simulation(R"({"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]},
                              {"uuid":"B","pools":[{"kind":"vram","total":2}]}],
      "changes":[{"at_reading":2,"devices":[{"uuid":"B","pools":[{"kind":"vram","total":2}]}]},
                 {"at_reading":3,"devices":[{"uuid":"C"},
                     {"uuid":"B","pools":[{"kind":"vram","total":2}]},
                     {"uuid":"A","pools":[{"kind":"vram","total":3}]}]}]})");
  CHECK(SnapshotCopy(simulation, HMN_COLLECT_POOLS).pools.size() == 2);
  const SnapshotCopy removed(simulation, HMN_COLLECT_POOLS);
  REQUIRE(removed.devices.size() == 2);
  CHECK(removed.devices[0].state == HMN_RUN_STATE_LOST);
  CHECK(removed.devices[1].state == HMN_RUN_STATE_READY);
  REQUIRE(removed.pools.size() == 1);
  CHECK(removed.pools[0].device_index == 1);
  CHECK(removed.pools[0].total_bytes == 2);
  const SnapshotCopy restored(simulation, HMN_COLLECT_POOLS);
  REQUIRE(restored.devices.size() == 3);
  CHECK(restored.devices[0].state == HMN_RUN_STATE_READY);
  CHECK(std::string(restored.devices[2].uuid) == "C");
  CHECK(restored.pools[0].total_bytes == 3);
  CHECK(restored.pools[1].total_bytes == 2);
}

TEST_CASE("a device without a UUID is identified by its id") {
  Simulation simulation(R"({"devices":[{"id":"a","name":"first"},{"id":"b","name":"second"}],
      "changes":[{"at_reading":2,"devices":[{"id":"b","name":"second"},
                                            {"id":"a","name":"renamed"}]}]})");
  const SnapshotCopy before(simulation);
  const SnapshotCopy after(simulation);
  REQUIRE(after.devices.size() == 2);
  CHECK(std::string(after.devices[0].name) == "renamed");
  CHECK(std::string(after.devices[1].name) == "second");
}

TEST_CASE("processes and failures can change, and all devices can be removed") {
  Simulation simulation(R"({"devices":[{"uuid":"A","processes":[]}],"changes":[
      {"at_reading":2,"devices":[{"uuid":"A","processes":[{"pid":7,"used":1,"name":"late"}]}]},
      {"at_reading":3,"failures":[{"call":"processes","status":"limit"}]},
      {"at_reading":4,"devices":[],"failures":[]}]})");
  CHECK(SnapshotCopy(simulation).usages.empty());
  const SnapshotCopy second(simulation);
  REQUIRE(second.usages.size() == 1);
  CHECK(second.names[0] == "late");
  const SnapshotCopy third(simulation);
  CHECK(third.find_diagnostic(HMN_COLLECT_PROCESSES)->status == HMN_E_LIMIT);
  const SnapshotCopy fourth(simulation);
  REQUIRE(fourth.devices.size() == 1);
  CHECK(fourth.devices[0].state == HMN_RUN_STATE_LOST);
}

TEST_CASE("a device falls asleep and wakes") {
  Simulation simulation(R"({"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]}],"changes":[
      {"at_reading":2,"devices":[
          {"uuid":"A","state":"asleep","pools":[{"kind":"vram","total":1}]}]},
      {"at_reading":3,"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]}]}]})");
  CHECK(SnapshotCopy(simulation).devices[0].state == HMN_RUN_STATE_READY);
  const SnapshotCopy asleep(simulation);
  CHECK(asleep.devices[0].state == HMN_RUN_STATE_ASLEEP);
  CHECK(asleep.pools.empty());
  const SnapshotCopy awake(simulation);
  CHECK(awake.devices[0].state == HMN_RUN_STATE_READY);
  CHECK(awake.pools.size() == 1);
}
