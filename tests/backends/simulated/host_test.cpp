// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "simulation.hpp"

namespace {

const auto host_pid = static_cast<std::uint32_t>(getpid());
constexpr hmn_flags every_host_field = 1023;

hmn_status read_host_self(const Simulation& s, hmn_process_memory& out,
                          hmn_error* error = nullptr) {
  out = sized<hmn_process_memory>();
  return hmn_process_memory_read_self(s.context(), every_host_field, &out, error);
}

hmn_status read_host_pid(const Simulation& s, std::uint32_t pid, hmn_process_memory& out) {
  out = sized<hmn_process_memory>();
  return hmn_process_memory_read(s.context(), pid, every_host_field, &out, nullptr);
}

hmn_status read_system(const Simulation& s, hmn_system_memory& out, hmn_error* error = nullptr) {
  out = sized<hmn_system_memory>();
  return hmn_system_memory_read(s.context(), 0, &out, error);
}

}  // namespace

TEST_CASE("every figure of the caller's memory is told") {
  Simulation s(R"({"host":{"self":{"resident":1,"peak_resident":2,"virtual":3,"swap":4,
      "proportional":5,"private":6,"committed":7,"footprint":18446744073709551615,
      "peak_footprint":8,"peak_committed":9,
      "notes":["estimated"]}}})");
  hmn_process_memory m;
  REQUIRE(read_host_self(s, m) == HMN_OK);
  CHECK(m.present == every_host_field);
  CHECK(m.notes == HMN_NOTE_ESTIMATED);
  CHECK(m.backend == HMN_BACKEND_SIMULATED);
  CHECK(m.pid == host_pid);
  CHECK(m.resident_bytes == 1);
  CHECK(m.peak_resident_bytes == 2);
  CHECK(m.virtual_bytes == 3);
  CHECK(m.swap_bytes == 4);
  CHECK(m.proportional_bytes == 5);
  CHECK(m.private_bytes == 6);
  CHECK(m.committed_bytes == 7);
  CHECK(m.footprint_bytes == UINT64_MAX);
  CHECK(m.peak_footprint_bytes == 8);
  CHECK(m.peak_committed_bytes == 9);
  m = sized<hmn_process_memory>();
  REQUIRE(hmn_process_memory_read_self(s.context(), 0, &m, nullptr) == HMN_OK);
  CHECK(m.present == (HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL));
}

TEST_CASE("every figure of the host's memory is told") {
  Simulation s(R"({"host":{"system":{"total":2,"available":1,"swap_total":4,"swap_free":3,
      "limit":5,"limit_used":6,"commit_limit":7,"committed":8,"pressure":"critical",
      "stall_percent":0.5,"notes":["estimated"]}}})");
  hmn_system_memory m;
  REQUIRE(read_system(s, m) == HMN_OK);
  CHECK(m.present == 2047);
  CHECK(m.usable_bytes == 0);  // a limit of 5, of which 6 are in use
  CHECK(m.notes == HMN_NOTE_ESTIMATED);
  CHECK(m.backend == HMN_BACKEND_SIMULATED);
  CHECK(m.pressure == HMN_PRESSURE_CRITICAL);
  CHECK(m.stall_percent == 0.5);
  CHECK(m.total_bytes == 2);
  CHECK(m.available_bytes == 1);
  CHECK(m.swap_total_bytes == 4);
  CHECK(m.swap_free_bytes == 3);
  CHECK(m.limit_bytes == 5);
  CHECK(m.limit_used_bytes == 6);
  CHECK(m.commit_limit_bytes == 7);
  CHECK(m.committed_bytes == 8);
}

TEST_CASE("host memory that is not described is not known, and the sentence says what to add") {
  Simulation s("{}");
  hmn_process_memory m;
  auto error = sized<hmn_error>();
  CHECK(read_host_self(s, m, &error) == HMN_E_UNSUPPORTED);
  CHECK(std::string(error.message).find("\"host\": \"real\"") != std::string::npos);
  CHECK(read_host_pid(s, 1, m) == HMN_E_NO_PROCESS);
  hmn_system_memory system;
  CHECK(read_system(s, system, &error) == HMN_E_UNSUPPORTED);
  const TakenSnapshot p(s);
  CHECK(!p.memory);
  CHECK(!p.system);
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("the real host is used where the file says so, and says that it is") {
  Simulation s(R"({"host":"real"})");
  hmn_process_memory m;
  REQUIRE(read_host_self(s, m) == HMN_OK);
  CHECK(m.backend == HMN_BACKEND_OS);
  CHECK(m.resident_bytes > 1000);
  REQUIRE(read_host_pid(s, host_pid, m) == HMN_OK);
  CHECK(m.backend == HMN_BACKEND_OS);
  hmn_system_memory system;
  REQUIRE(read_system(s, system) == HMN_OK);
  CHECK(system.backend == HMN_BACKEND_OS);
  CHECK(system.total_bytes > mib);
}

TEST_CASE("the real host fills what is not described") {
  Simulation s(R"({"host":{"otherwise":"real","self":{"resident":"1GiB"}}})");
  hmn_process_memory m;
  REQUIRE(read_host_self(s, m) == HMN_OK);
  CHECK(m.backend == HMN_BACKEND_SIMULATED);
  CHECK(m.resident_bytes == gib);
  hmn_system_memory system;
  REQUIRE(read_system(s, system) == HMN_OK);
  CHECK(system.backend == HMN_BACKEND_OS);
  Simulation other(R"({"host":{"otherwise":"real","system":{"total":"1GiB"}}})");
  REQUIRE(read_host_self(other, m) == HMN_OK);
  CHECK(m.backend == HMN_BACKEND_OS);
  REQUIRE(read_system(other, system) == HMN_OK);
  CHECK(system.total_bytes == gib);
  CHECK(system.present == HMN_SYSTEM_MEMORY_HAS_TOTAL);
}

TEST_CASE("a row of a described process is not completed from the real host") {
  Simulation s(R"({"host":"real","devices":[{"processes":[{"pid":1,"used":1}]}]})");
  const TakenSnapshot p(s, HMN_COLLECT_PROCESSES);
  REQUIRE(p.usages.size() == 1);
  CHECK(p.usages[0].name_state == HMN_NAME_STATE_UNKNOWN);
  Simulation own(R"({"host":"real","devices":[{"processes":[{"pid":"self","used":1}]}]})");
  const TakenSnapshot q(own, HMN_COLLECT_PROCESSES);
  REQUIRE(q.usages.size() == 1);
  CHECK(q.usages[0].name_state == HMN_NAME_STATE_RESOLVED);
#if !HMN_TEST_EMULATED  // qemu-user's /proc/self/stat has no resident set
  CHECK(q.usages[0].host_resident_bytes > 1000);
#endif
}

TEST_CASE("memory of described processes, and of those that have none") {
  Simulation s(R"({"host":{"processes":[{"pid":7,"resident":"7MiB","swap":1},
      {"pid":8,"name_state":"exited"},{"pid":9,"name_state":"protected"},
      {"pid":10,"name_state":"kernel"},{"pid":11,"name":"bare"}]}})");
  hmn_process_memory m;
  REQUIRE(read_host_pid(s, 7, m) == HMN_OK);
  CHECK(m.pid == 7);
  CHECK(m.resident_bytes == 7 * mib);
  CHECK(m.present == (HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_SWAP));
  CHECK((m.notes & HMN_NOTE_PARTIAL) != 0);
  CHECK(read_host_pid(s, 8, m) == HMN_E_NO_PROCESS);
  CHECK(read_host_pid(s, 9, m) == HMN_E_PERMISSION);
  CHECK(read_host_pid(s, 10, m) == HMN_E_UNSUPPORTED);
  CHECK(read_host_pid(s, 11, m) == HMN_E_UNSUPPORTED);
  CHECK(read_host_pid(s, 12, m) == HMN_E_NO_PROCESS);
}

TEST_CASE("the caller's own pid finds the described self") {
  Simulation s(R"({"host":{"self":{"resident":"3MiB"}}})");
  hmn_process_memory m;
  REQUIRE(read_host_pid(s, host_pid, m) == HMN_OK);
  CHECK(m.resident_bytes == 3 * mib);
}
