// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

std::string changing(const std::string& changes) {
  return R"({"host":{"self":{"resident":"100MiB"},"system":{"total":"1GiB"}},
             "devices":[{"uuid":"A","pools":[{"kind":"vram","total":"8GiB","used":"1GiB"}]}],
             "changes":[)" +
         changes + "]}";
}

std::string use(const std::string& moment, const std::string& used) {
  return "{" + moment +
         R"(,"devices":[{"uuid":"A","pools":[{"kind":"vram","total":"8GiB","used":")" + used +
         "\"}]}]}";
}

std::uint64_t used(const Simulation& s) {
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.pools.size() == 1);
  return p.pools[0].used_bytes;
}

}  // namespace

TEST_CASE("changes take place at their reading") {
  Simulation s(changing(use(R"("at_reading":2)", "2GiB") + "," + use(R"("at_reading":4)", "4GiB")));
  const std::uint64_t expected[] = {1, 2, 2, 4, 4};
  for (const std::uint64_t gibs : expected) CHECK(used(s) == gibs * gib);
}

TEST_CASE("the figure that was left out follows the change") {
  Simulation s(changing(use(R"("at_reading":1)", "3GiB")));
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  CHECK(p.pools[0].free_bytes == 5 * gib);
}

TEST_CASE("a change waits for those before it") {
  Simulation s(changing(use(R"("at_reading":3)", "3GiB") + "," + use(R"("at_reading":1)", "7GiB")));
  CHECK(used(s) == gib);
  CHECK(used(s) == gib);
  CHECK(used(s) == 7 * gib);
}

TEST_CASE("changes take place after their time") {
  std::uint64_t seen = 0;
  const auto read = [&](const Simulation& s) {
    seen = used(s);
    return seen == 3 * gib;
  };
  const double spent = milliseconds_of([&] {
    Simulation s(changing(use(R"("after_ms":0)", "2GiB") + "," + use(R"("after_ms":300)", "3GiB")));
    if (!read(s)) CHECK(seen == 2 * gib);
    CHECK(comes_true([&] { return read(s); }));
  });
  CHECK(spent >= 300);
}

TEST_CASE("host memory changes by readings of its own, in step with snapshots") {
  Simulation s(changing(
      R"({"at_reading":2,"host":{"self":{"resident":"200MiB"},"system":{"total":"2GiB"}}})"));
  for (const std::uint64_t step : {1U, 2U, 2U}) {
    const TakenSnapshot p(s);
    REQUIRE(p.memory);
    REQUIRE(p.system);
    CHECK(p.memory->resident_bytes == step * 100 * mib);
    CHECK(p.system->total_bytes == step * gib);
  }
}

TEST_CASE("a device that is removed is lost, and keeps its index when it is back") {
  Simulation s(R"({"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]},
                              {"uuid":"B","pools":[{"kind":"vram","total":2}]}],
      "changes":[{"at_reading":2,"devices":[{"uuid":"B","pools":[{"kind":"vram","total":2}]}]},
                 {"at_reading":3,"devices":[{"uuid":"C"},
                     {"uuid":"B","pools":[{"kind":"vram","total":2}]},
                     {"uuid":"A","pools":[{"kind":"vram","total":3}]}]}]})");
  CHECK(TakenSnapshot(s, HMN_COLLECT_POOLS).pools.size() == 2);
  const TakenSnapshot gone(s, HMN_COLLECT_POOLS);
  REQUIRE(gone.devices.size() == 2);
  CHECK(gone.devices[0].state == HMN_RUN_STATE_LOST);
  CHECK(gone.devices[1].state == HMN_RUN_STATE_READY);
  REQUIRE(gone.pools.size() == 1);
  CHECK(gone.pools[0].device_index == 1);
  CHECK(gone.pools[0].total_bytes == 2);
  const TakenSnapshot back(s, HMN_COLLECT_POOLS);
  REQUIRE(back.devices.size() == 3);
  CHECK(back.devices[0].state == HMN_RUN_STATE_READY);
  CHECK(std::string(back.devices[2].uuid) == "C");
  CHECK(back.pools[0].total_bytes == 3);
  CHECK(back.pools[1].total_bytes == 2);
}

TEST_CASE("a device without a uuid is known by its id") {
  Simulation s(R"({"devices":[{"id":"a","name":"first"},{"id":"b","name":"second"}],
      "changes":[{"at_reading":2,"devices":[{"id":"b","name":"second"},
                                            {"id":"a","name":"renamed"}]}]})");
  const TakenSnapshot before(s);
  const TakenSnapshot after(s);
  REQUIRE(after.devices.size() == 2);
  CHECK(std::string(after.devices[0].name) == "renamed");
  CHECK(std::string(after.devices[1].name) == "second");
}

TEST_CASE("processes and failures can change, and all devices go") {
  Simulation s(R"({"devices":[{"uuid":"A","processes":[]}],"changes":[
      {"at_reading":2,"devices":[{"uuid":"A","processes":[{"pid":7,"used":1,"name":"late"}]}]},
      {"at_reading":3,"failures":[{"call":"processes","status":"limit"}]},
      {"at_reading":4,"devices":[],"failures":[]}]})");
  CHECK(TakenSnapshot(s).usages.empty());
  const TakenSnapshot second(s);
  REQUIRE(second.usages.size() == 1);
  CHECK(second.names[0] == "late");
  const TakenSnapshot third(s);
  CHECK(third.about(HMN_COLLECT_PROCESSES)->status == HMN_E_LIMIT);
  const TakenSnapshot fourth(s);
  REQUIRE(fourth.devices.size() == 1);
  CHECK(fourth.devices[0].state == HMN_RUN_STATE_LOST);
}

TEST_CASE("a device falls asleep and wakes") {
  Simulation s(R"({"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]}],"changes":[
      {"at_reading":2,"devices":[
          {"uuid":"A","state":"asleep","pools":[{"kind":"vram","total":1}]}]},
      {"at_reading":3,"devices":[{"uuid":"A","pools":[{"kind":"vram","total":1}]}]}]})");
  CHECK(TakenSnapshot(s).devices[0].state == HMN_RUN_STATE_READY);
  const TakenSnapshot asleep(s);
  CHECK(asleep.devices[0].state == HMN_RUN_STATE_ASLEEP);
  CHECK(asleep.pools.empty());
  const TakenSnapshot awake(s);
  CHECK(awake.devices[0].state == HMN_RUN_STATE_READY);
  CHECK(awake.pools.size() == 1);
}
