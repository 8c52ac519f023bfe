// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "simulation.hpp"

namespace {

const auto own_pid = static_cast<std::uint32_t>(getpid());

hmn_status read_own_usage(const Simulation& simulation, hmn_usage& out,
                          hmn_error* error = nullptr) {
  out = sized<hmn_usage>();
  return hmn_usage_read_self(simulation.context(), 0, 0, &out, error);
}

hmn_status read_process_usage(const Simulation& simulation, std::uint32_t pid, hmn_usage& out) {
  out = sized<hmn_usage>();
  return hmn_usage_read(simulation.context(), 0, pid, 0, &out, nullptr);
}

std::uint64_t unix_now() {
  const auto elapsed = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
}

}  // namespace

TEST_CASE("every field of a row is reported") {
  Simulation simulation(make_machine(
      R"("processes":[{"pid":4294967295,"used":1,"peak_used":16,"resident":2,"committed":3,
      "allocated":4,"shared":5,"purgeable":6,"evicted":7,"host_pool":8,"budget":9,
      "host_resident":10,"kinds":["compute","media"],"accounting":"resident",
      "instance":{"gpu":11,"compute":12},"busy_ns":13,"busy_percent":14.5,"window_ns":15,
      "name":"naïve proc","uid":0,"start_unix_ns":18446744073709551615,"notes":["lower_bound"]}])"));
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.usages.size() == 1);
  const hmn_usage& usage = snapshot.usages[0];
  CHECK(usage.present == 0x1ffff);
  CHECK(usage.peak_used_bytes == 16);
  CHECK(usage.backend == HMN_BACKEND_SIMULATED);
  CHECK(usage.pid == UINT32_MAX);
  CHECK(usage.notes == HMN_NOTE_LOWER_BOUND);
  CHECK(usage.used_bytes == 1);
  CHECK(usage.resident_bytes == 2);
  CHECK(usage.committed_bytes == 3);
  CHECK(usage.allocated_bytes == 4);
  CHECK(usage.shared_bytes == 5);
  CHECK(usage.purgeable_bytes == 6);
  CHECK(usage.evicted_bytes == 7);
  CHECK(usage.host_pool_bytes == 8);
  CHECK(usage.budget_bytes == 9);
  CHECK(usage.host_resident_bytes == 10);
  CHECK(usage.kinds == (HMN_USAGE_KIND_COMPUTE | HMN_USAGE_KIND_MEDIA));
  CHECK(usage.accounting == HMN_ACCOUNT_RESIDENT);
  CHECK(usage.gpu_instance == 11);
  CHECK(usage.compute_instance == 12);
  CHECK(usage.busy_ns == 13);
  CHECK(usage.busy_percent == 14.5);
  CHECK(usage.window_ns == 15);
  CHECK(usage.name_state == HMN_NAME_STATE_RESOLVED);
  CHECK(snapshot.names[0] == "naïve proc");
  CHECK(usage.uid == 0);
  CHECK(usage.start_unix_ns == UINT64_MAX);
}

TEST_CASE("a value missing from a row is taken from the host") {
  Simulation simulation(
      R"({"host":{"self":{"name":"me","uid":1000,"resident":"20MiB","start_unix_ns":5},
                           "processes":[{"pid":7,"name":"seven","uid":7,"start_unix_ns":70,
                                         "resident":"7MiB"},
                                        {"pid":8,"name_state":"protected"},
                                        {"pid":9,"name":"nine"}]},
                   "devices":[{"processes":[{"pid":7,"used":1},{"pid":8,"used":2},
                                            {"pid":9,"used":3,"name":"other","uid":1},
                                            {"pid":10,"used":4},
                                            {"pid":"self","used":5}]}]})");
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.usages.size() == 5);
  const auto find_index = [&](std::uint32_t pid) {
    std::size_t i = 0;
    while (snapshot.usages[i].pid != pid) REQUIRE(++i < snapshot.usages.size());
    return i;
  };
  CHECK(snapshot.names[find_index(7)] == "seven");
  CHECK(snapshot.usages[find_index(7)].uid == 7);
  CHECK(snapshot.usages[find_index(7)].start_unix_ns == 70);
  CHECK(snapshot.usages[find_index(7)].host_resident_bytes == 7 * mib);
  CHECK(snapshot.usages[find_index(8)].name_state == HMN_NAME_STATE_PROTECTED);
  CHECK(snapshot.info.unreadable_process_count == 1);
  CHECK(snapshot.names[find_index(9)] == "other");
  CHECK(snapshot.usages[find_index(9)].uid == 1);
  CHECK(snapshot.usages[find_index(10)].name_state == HMN_NAME_STATE_UNKNOWN);
  CHECK((snapshot.usages[find_index(10)].present & HMN_USAGE_HAS_UID) == 0);
  CHECK(snapshot.names[find_index(own_pid)] == "me");
  CHECK(snapshot.usages[find_index(own_pid)].host_resident_bytes == 20 * mib);
}

TEST_CASE("name states are reported without a name") {
  Simulation simulation(make_machine(R"("processes":[{"pid":1,"name_state":"exited"},
      {"pid":2,"name_state":"protected"},{"pid":3,"name_state":"kernel"},
      {"pid":4,"name_state":"unknown"}])"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_PROCESSES);
  REQUIRE(snapshot.usages.size() == 4);
  const std::uint32_t expected[] = {HMN_NAME_STATE_EXITED, HMN_NAME_STATE_PROTECTED,
                                    HMN_NAME_STATE_KERNEL, HMN_NAME_STATE_UNKNOWN};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(snapshot.usages[i].name_state == expected[i]);
    CHECK(snapshot.names[i].empty());
  }
}

TEST_CASE("own use of the caller is that of its row, or 0 without a row") {
  hmn_usage usage;
  Simulation with_row(
      make_machine(R"("processes":[{"pid":"self","used":"3GiB","kinds":["compute"]}])"));
  REQUIRE(read_own_usage(with_row, usage) == HMN_OK);
  CHECK(usage.used_bytes == 3 * gib);
  CHECK(usage.pid == own_pid);
  REQUIRE(read_process_usage(with_row, own_pid, usage) == HMN_OK);
  CHECK(usage.used_bytes == 3 * gib);
  Simulation without_row(make_machine(R"("processes":[{"pid":7,"used":1}])"));
  REQUIRE(read_own_usage(without_row, usage) == HMN_OK);
  CHECK((usage.present & HMN_USAGE_HAS_USED) != 0);
  CHECK(usage.used_bytes == 0);
  CHECK(read_process_usage(without_row, own_pid, usage) == HMN_E_NO_PROCESS);
  CHECK(read_process_usage(without_row, 7, usage) == HMN_OK);
}

TEST_CASE("in a foreign PID namespace rows are foreign and own use is unknown") {
  const std::string row = "{\"pid\":" + std::to_string(own_pid) + ",\"used\":1}";
  Simulation simulation(
      "{\"pid_namespace\":\"foreign\",\"host\":{\"self\":{\"name\":\"me\"}},\"devices\":"
      "[{\"processes\":[" +
      row + "]}]}");
  hmn_usage usage;
  auto error = sized<hmn_error>();
  CHECK(read_own_usage(simulation, usage, &error) == HMN_E_UNSUPPORTED);
  CHECK(std::string(error.message).find("PID namespace") != std::string::npos);
  const SnapshotCopy snapshot(simulation);
  REQUIRE(snapshot.usages.size() == 1);
  CHECK(snapshot.usages[0].notes == HMN_NOTE_FOREIGN_PID);
  CHECK(snapshot.usages[0].name_state == HMN_NAME_STATE_UNKNOWN);
  CHECK(!snapshot.self[0]);
  Simulation with_own_row(R"({"pid_namespace":"foreign",
                      "devices":[{"processes":[{"pid":"self","used":2}]}]})");
  REQUIRE(read_own_usage(with_own_row, usage) == HMN_OK);
  CHECK(usage.used_bytes == 2);
  CHECK(usage.notes == 0);
}

TEST_CASE("a row without a value is kept, and a diagnostic has the reason") {
  Simulation simulation(make_machine(R"("processes":[{"pid":7},{"pid":8,"shared":1,"missing":
      {"status":"permission","native":{"domain":"nvml","code":4},"message":"root only"}}])"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_PROCESSES);
  REQUIRE(snapshot.usages.size() == 2);
  CHECK((snapshot.usages[0].present & HMN_USAGE_HAS_USED) == 0);
  CHECK((snapshot.usages[1].present & HMN_USAGE_HAS_USED) == 0);
  REQUIRE(snapshot.diagnostics.size() == 2);
  CHECK(snapshot.diagnostics[0].status == HMN_E_UNSUPPORTED);
  CHECK(snapshot.diagnostics[0].pid == 7);
  const hmn_diagnostic& diagnostic = snapshot.diagnostics[1];
  CHECK(diagnostic.status == HMN_E_PERMISSION);
  CHECK(diagnostic.pid == 8);
  CHECK(diagnostic.field == HMN_USAGE_HAS_USED);
  CHECK(diagnostic.native_domain == HMN_NATIVE_NVML);
  CHECK(diagnostic.native_code == 4);
  CHECK(std::string(diagnostic.message) == "root only");
  hmn_usage usage;
  CHECK(read_process_usage(simulation, 7, usage) == HMN_E_UNSUPPORTED);
  REQUIRE(read_process_usage(simulation, 8, usage) == HMN_OK);
  CHECK(usage.present == HMN_USAGE_HAS_SHARED);
}

TEST_CASE("processes of a partition are listed under it") {
  Simulation simulation(R"({"devices":[{"uuid":"A","partitions":[
      {"uuid":"B","processes":[{"pid":7,"used":1,"instance":{"gpu":1,"compute":0}}]},
      {"uuid":"C","processes":[{"pid":7,"used":2,"instance":{"gpu":2,"compute":0}}]}]}]})");
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_PROCESSES);
  REQUIRE(snapshot.usages.size() == 2);
  CHECK(snapshot.usages[0].device_index == 1);
  CHECK(snapshot.usages[1].device_index == 2);
  CHECK(snapshot.usages[1].gpu_instance == 2);
}

TEST_CASE("simulated: a start may be given as an age, which every reading counts from one time") {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t before = unix_now();
  std::uint64_t first = 0;
  for (int readings = 0; readings < 2; ++readings) {
    Simulation simulation(R"({"devices":[{"processes":[{"pid":7,"used":1,"running_s":3600}]}]})");
    const SnapshotCopy snapshot(simulation);
    REQUIRE(snapshot.usages.size() == 1);
    const std::uint64_t start = snapshot.usages[0].start_unix_ns;
    CHECK(start + 3600 * second <= unix_now());
    CHECK(start + 3600 * second + 600 * second > before);
    if (readings > 0) CHECK(start == first);
    first = start;
  }
}
