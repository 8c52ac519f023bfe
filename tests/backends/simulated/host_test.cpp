// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "simulation.hpp"

namespace {

const auto host_pid = static_cast<std::uint32_t>(getpid());
constexpr hmn_flags all_host_fields = 1023;

hmn_status read_self_memory(const Simulation& simulation, hmn_process_memory& out,
                            hmn_error* error = nullptr) {
  out = sized<hmn_process_memory>();
  return hmn_process_memory_read_self(simulation.context(), all_host_fields, &out, error);
}

hmn_status read_process_memory(const Simulation& simulation, std::uint32_t pid,
                               hmn_process_memory& out) {
  out = sized<hmn_process_memory>();
  return hmn_process_memory_read(simulation.context(), pid, all_host_fields, &out, nullptr);
}

hmn_status read_system(const Simulation& simulation, hmn_system_memory& out,
                       hmn_error* error = nullptr) {
  out = sized<hmn_system_memory>();
  return hmn_system_memory_read(simulation.context(), 0, &out, error);
}

}  // namespace

TEST_CASE("every value of the caller's memory is reported") {
  Simulation simulation(R"({"host":{"self":{"resident":1,"peak_resident":2,"virtual":3,"swap":4,
      "proportional":5,"private":6,"committed":7,"footprint":18446744073709551615,
      "peak_footprint":8,"peak_committed":9,
      "notes":["estimated"]}}})");
  hmn_process_memory memory;
  REQUIRE(read_self_memory(simulation, memory) == HMN_OK);
  CHECK(memory.present == all_host_fields);
  CHECK(memory.notes == HMN_NOTE_ESTIMATED);
  CHECK(memory.backend == HMN_BACKEND_SIMULATED);
  CHECK(memory.pid == host_pid);
  CHECK(memory.resident_bytes == 1);
  CHECK(memory.peak_resident_bytes == 2);
  CHECK(memory.virtual_bytes == 3);
  CHECK(memory.swap_bytes == 4);
  CHECK(memory.proportional_bytes == 5);
  CHECK(memory.private_bytes == 6);
  CHECK(memory.committed_bytes == 7);
  CHECK(memory.footprint_bytes == UINT64_MAX);
  CHECK(memory.peak_footprint_bytes == 8);
  CHECK(memory.peak_committed_bytes == 9);
  memory = sized<hmn_process_memory>();
  REQUIRE(hmn_process_memory_read_self(simulation.context(), 0, &memory, nullptr) == HMN_OK);
  CHECK(memory.present == (HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL));
}

TEST_CASE("every value of the host's memory is reported") {
  Simulation simulation(R"({"host":{"system":{"total":2,"available":1,"swap_total":4,"swap_free":3,
      "limit":5,"limit_used":6,"commit_limit":7,"committed":8,"pressure":"critical",
      "stall_percent":0.5,"notes":["estimated"]}}})");
  hmn_system_memory memory;
  REQUIRE(read_system(simulation, memory) == HMN_OK);
  CHECK(memory.present == 2047);
  CHECK(memory.usable_bytes == 0);  // a limit of 5, of which 6 are in use
  CHECK(memory.notes == HMN_NOTE_ESTIMATED);
  CHECK(memory.backend == HMN_BACKEND_SIMULATED);
  CHECK(memory.pressure == HMN_PRESSURE_CRITICAL);
  CHECK(memory.stall_percent == 0.5);
  CHECK(memory.total_bytes == 2);
  CHECK(memory.available_bytes == 1);
  CHECK(memory.swap_total_bytes == 4);
  CHECK(memory.swap_free_bytes == 3);
  CHECK(memory.limit_bytes == 5);
  CHECK(memory.limit_used_bytes == 6);
  CHECK(memory.commit_limit_bytes == 7);
  CHECK(memory.committed_bytes == 8);
}

TEST_CASE("host memory that is not described is unknown, and the message says what to add") {
  Simulation simulation("{}");
  hmn_process_memory memory;
  auto error = sized<hmn_error>();
  CHECK(read_self_memory(simulation, memory, &error) == HMN_E_UNSUPPORTED);
  CHECK(std::string(error.message).find("\"host\": \"real\"") != std::string::npos);
  CHECK(read_process_memory(simulation, 1, memory) == HMN_E_NO_PROCESS);
  hmn_system_memory system;
  CHECK(read_system(simulation, system, &error) == HMN_E_UNSUPPORTED);
  const SnapshotCopy snapshot(simulation);
  CHECK(!snapshot.memory);
  CHECK(!snapshot.system);
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("\"host\": \"real\" reads the real host and reports its source as OS") {
  Simulation simulation(R"({"host":"real"})");
  hmn_process_memory memory;
  REQUIRE(read_self_memory(simulation, memory) == HMN_OK);
  CHECK(memory.backend == HMN_BACKEND_OS);
  CHECK(memory.resident_bytes > 1000);
  REQUIRE(read_process_memory(simulation, host_pid, memory) == HMN_OK);
  CHECK(memory.backend == HMN_BACKEND_OS);
  hmn_system_memory system;
  REQUIRE(read_system(simulation, system) == HMN_OK);
  CHECK(system.backend == HMN_BACKEND_OS);
  CHECK(system.total_bytes > mib);
}

TEST_CASE("the real host supplies parts that are not described") {
  Simulation simulation(R"({"host":{"otherwise":"real","self":{"resident":"1GiB"}}})");
  hmn_process_memory memory;
  REQUIRE(read_self_memory(simulation, memory) == HMN_OK);
  CHECK(memory.backend == HMN_BACKEND_SIMULATED);
  CHECK(memory.resident_bytes == gib);
  hmn_system_memory system;
  REQUIRE(read_system(simulation, system) == HMN_OK);
  CHECK(system.backend == HMN_BACKEND_OS);
  Simulation system_only(R"({"host":{"otherwise":"real","system":{"total":"1GiB"}}})");
  REQUIRE(read_self_memory(system_only, memory) == HMN_OK);
  CHECK(memory.backend == HMN_BACKEND_OS);
  REQUIRE(read_system(system_only, system) == HMN_OK);
  CHECK(system.total_bytes == gib);
  CHECK(system.present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
}

TEST_CASE("a row of a described process is not completed from the real host") {
  Simulation simulation(R"({"host":"real","devices":[{"processes":[{"pid":1,"used":1}]}]})");
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_PROCESSES);
  REQUIRE(snapshot.usages.size() == 1);
  CHECK(snapshot.usages[0].name_state == HMN_NAME_STATE_UNKNOWN);
  Simulation own_row(R"({"host":"real","devices":[{"processes":[{"pid":"self","used":1}]}]})");
  const SnapshotCopy own_snapshot(own_row, HMN_COLLECT_PROCESSES);
  REQUIRE(own_snapshot.usages.size() == 1);
  CHECK(own_snapshot.usages[0].name_state == HMN_NAME_STATE_RESOLVED);
#if !HMN_TEST_EMULATED  // qemu-user's /proc/self/stat has no resident set
  CHECK(own_snapshot.usages[0].host_resident_bytes > 1000);
#endif
}

TEST_CASE("memory is read for described processes by their name state") {
  Simulation simulation(R"({"host":{"processes":[{"pid":7,"resident":"7MiB","swap":1},
      {"pid":8,"name_state":"exited"},{"pid":9,"name_state":"protected"},
      {"pid":10,"name_state":"kernel"},{"pid":11,"name":"bare"}]}})");
  hmn_process_memory memory;
  REQUIRE(read_process_memory(simulation, 7, memory) == HMN_OK);
  CHECK(memory.pid == 7);
  CHECK(memory.resident_bytes == 7 * mib);
  CHECK(memory.present == (HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_SWAP));
  CHECK((memory.notes & HMN_NOTE_PARTIAL) != 0);
  CHECK(read_process_memory(simulation, 8, memory) == HMN_E_NO_PROCESS);
  CHECK(read_process_memory(simulation, 9, memory) == HMN_E_PERMISSION);
  CHECK(read_process_memory(simulation, 10, memory) == HMN_E_UNSUPPORTED);
  CHECK(read_process_memory(simulation, 11, memory) == HMN_E_UNSUPPORTED);
  CHECK(read_process_memory(simulation, 12, memory) == HMN_E_NO_PROCESS);
}

TEST_CASE("the caller's own PID finds the described self") {
  Simulation simulation(R"({"host":{"self":{"resident":"3MiB"}}})");
  hmn_process_memory memory;
  REQUIRE(read_process_memory(simulation, host_pid, memory) == HMN_OK);
  CHECK(memory.resident_bytes == 3 * mib);
}
