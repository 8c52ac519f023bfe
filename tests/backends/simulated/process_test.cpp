// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "simulation.hpp"

namespace {

const auto own_pid = static_cast<std::uint32_t>(getpid());

hmn_status read_self(const Simulation& s, hmn_usage& out, hmn_error* error = nullptr) {
  out = sized<hmn_usage>();
  return hmn_usage_read_self(s.context(), 0, 0, &out, error);
}

hmn_status read_pid(const Simulation& s, std::uint32_t pid, hmn_usage& out) {
  out = sized<hmn_usage>();
  return hmn_usage_read(s.context(), 0, pid, 0, &out, nullptr);
}

std::uint64_t unix_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace

TEST_CASE("every field of a row is told") {
  Simulation s(one_device(
      R"("processes":[{"pid":4294967295,"used":1,"peak_used":16,"resident":2,"committed":3,
      "allocated":4,"shared":5,"purgeable":6,"evicted":7,"host_pool":8,"budget":9,
      "host_resident":10,"kinds":["compute","media"],"accounting":"resident",
      "instance":{"gpu":11,"compute":12},"busy_ns":13,"busy_percent":14.5,"window_ns":15,
      "name":"naïve proc","uid":0,"start_unix_ns":18446744073709551615,"notes":["lower_bound"]}])"));
  const TakenSnapshot p(s);
  REQUIRE(p.usages.size() == 1);
  const hmn_usage& u = p.usages[0];
  CHECK(u.present == 0x1ffff);
  CHECK(u.peak_used_bytes == 16);
  CHECK(u.backend == HMN_BACKEND_SIMULATED);
  CHECK(u.pid == UINT32_MAX);
  CHECK(u.notes == HMN_NOTE_LOWER_BOUND);
  CHECK(u.used_bytes == 1);
  CHECK(u.resident_bytes == 2);
  CHECK(u.committed_bytes == 3);
  CHECK(u.allocated_bytes == 4);
  CHECK(u.shared_bytes == 5);
  CHECK(u.purgeable_bytes == 6);
  CHECK(u.evicted_bytes == 7);
  CHECK(u.host_pool_bytes == 8);
  CHECK(u.budget_bytes == 9);
  CHECK(u.host_resident_bytes == 10);
  CHECK(u.kinds == (HMN_USAGE_KIND_COMPUTE | HMN_USAGE_KIND_MEDIA));
  CHECK(u.accounting == HMN_ACCOUNT_RESIDENT);
  CHECK(u.gpu_instance == 11);
  CHECK(u.compute_instance == 12);
  CHECK(u.busy_ns == 13);
  CHECK(u.busy_percent == 14.5);
  CHECK(u.window_ns == 15);
  CHECK(u.name_state == HMN_NAME_STATE_RESOLVED);
  CHECK(p.names[0] == "naïve proc");
  CHECK(u.uid == 0);
  CHECK(u.start_unix_ns == UINT64_MAX);
}

TEST_CASE("what a row does not say is taken from the host") {
  Simulation s(R"({"host":{"self":{"name":"me","uid":1000,"resident":"20MiB","start_unix_ns":5},
                           "processes":[{"pid":7,"name":"seven","uid":7,"start_unix_ns":70,
                                         "resident":"7MiB"},
                                        {"pid":8,"name_state":"protected"},
                                        {"pid":9,"name":"nine"}]},
                   "devices":[{"processes":[{"pid":7,"used":1},{"pid":8,"used":2},
                                            {"pid":9,"used":3,"name":"other","uid":1},
                                            {"pid":10,"used":4},
                                            {"pid":"self","used":5}]}]})");
  const TakenSnapshot p(s);
  REQUIRE(p.usages.size() == 5);
  const auto at = [&](std::uint32_t pid) {
    std::size_t i = 0;
    while (p.usages[i].pid != pid) REQUIRE(++i < p.usages.size());
    return i;
  };
  CHECK(p.names[at(7)] == "seven");
  CHECK(p.usages[at(7)].uid == 7);
  CHECK(p.usages[at(7)].start_unix_ns == 70);
  CHECK(p.usages[at(7)].host_resident_bytes == 7 * mib);
  CHECK(p.usages[at(8)].name_state == HMN_NAME_STATE_PROTECTED);
  CHECK(p.info.unreadable_process_count == 1);
  CHECK(p.names[at(9)] == "other");
  CHECK(p.usages[at(9)].uid == 1);
  CHECK(p.usages[at(10)].name_state == HMN_NAME_STATE_UNKNOWN);
  CHECK((p.usages[at(10)].present & HMN_USAGE_HAS_UID) == 0);
  CHECK(p.names[at(own_pid)] == "me");
  CHECK(p.usages[at(own_pid)].host_resident_bytes == 20 * mib);
}

TEST_CASE("name states are told without a name") {
  Simulation s(one_device(R"("processes":[{"pid":1,"name_state":"exited"},
      {"pid":2,"name_state":"protected"},{"pid":3,"name_state":"kernel"},
      {"pid":4,"name_state":"unknown"}])"));
  const TakenSnapshot p(s, HMN_COLLECT_PROCESSES);
  REQUIRE(p.usages.size() == 4);
  const std::uint32_t expected[] = {HMN_NAME_STATE_EXITED, HMN_NAME_STATE_PROTECTED,
                                    HMN_NAME_STATE_KERNEL, HMN_NAME_STATE_UNKNOWN};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(p.usages[i].name_state == expected[i]);
    CHECK(p.names[i].empty());
  }
}

TEST_CASE("the caller uses what its row says, or 0 without one") {
  hmn_usage u;
  Simulation listed(
      one_device(R"("processes":[{"pid":"self","used":"3GiB","kinds":["compute"]}])"));
  REQUIRE(read_self(listed, u) == HMN_OK);
  CHECK(u.used_bytes == 3 * gib);
  CHECK(u.pid == own_pid);
  REQUIRE(read_pid(listed, own_pid, u) == HMN_OK);
  CHECK(u.used_bytes == 3 * gib);
  Simulation unlisted(one_device(R"("processes":[{"pid":7,"used":1}])"));
  REQUIRE(read_self(unlisted, u) == HMN_OK);
  CHECK((u.present & HMN_USAGE_HAS_USED) != 0);
  CHECK(u.used_bytes == 0);
  CHECK(read_pid(unlisted, own_pid, u) == HMN_E_NO_PROCESS);
  CHECK(read_pid(unlisted, 7, u) == HMN_OK);
}

TEST_CASE("in a foreign PID namespace nothing is claimed of the caller, and rows are foreign") {
  const std::string row = "{\"pid\":" + std::to_string(own_pid) + ",\"used\":1}";
  Simulation s(
      "{\"pid_namespace\":\"foreign\",\"host\":{\"self\":{\"name\":\"me\"}},\"devices\":"
      "[{\"processes\":[" +
      row + "]}]}");
  hmn_usage u;
  auto error = sized<hmn_error>();
  CHECK(read_self(s, u, &error) == HMN_E_UNSUPPORTED);
  CHECK(std::string(error.message).find("PID namespace") != std::string::npos);
  const TakenSnapshot p(s);
  REQUIRE(p.usages.size() == 1);
  CHECK(p.usages[0].notes == HMN_NOTE_FOREIGN_PID);
  CHECK(p.usages[0].name_state == HMN_NAME_STATE_UNKNOWN);
  CHECK(!p.self[0]);
  Simulation reported(R"({"pid_namespace":"foreign",
                      "devices":[{"processes":[{"pid":"self","used":2}]}]})");
  REQUIRE(read_self(reported, u) == HMN_OK);
  CHECK(u.used_bytes == 2);
  CHECK(u.notes == 0);
}

TEST_CASE("a row without a figure stays, and a diagnostic says why") {
  Simulation s(one_device(R"("processes":[{"pid":7},{"pid":8,"shared":1,"missing":
      {"status":"permission","native":{"domain":"nvml","code":4},"message":"root only"}}])"));
  const TakenSnapshot p(s, HMN_COLLECT_PROCESSES);
  REQUIRE(p.usages.size() == 2);
  CHECK((p.usages[0].present & HMN_USAGE_HAS_USED) == 0);
  CHECK((p.usages[1].present & HMN_USAGE_HAS_USED) == 0);
  REQUIRE(p.diagnostics.size() == 2);
  CHECK(p.diagnostics[0].status == HMN_E_UNSUPPORTED);
  CHECK(p.diagnostics[0].pid == 7);
  const hmn_diagnostic& d = p.diagnostics[1];
  CHECK(d.status == HMN_E_PERMISSION);
  CHECK(d.pid == 8);
  CHECK(d.field == HMN_USAGE_HAS_USED);
  CHECK(d.native_domain == HMN_NATIVE_NVML);
  CHECK(d.native_code == 4);
  CHECK(std::string(d.message) == "root only");
  hmn_usage u;
  CHECK(read_pid(s, 7, u) == HMN_E_UNSUPPORTED);
  REQUIRE(read_pid(s, 8, u) == HMN_OK);
  CHECK(u.present == HMN_USAGE_HAS_SHARED);
}

TEST_CASE("a partition's processes stand under it") {
  Simulation s(R"({"devices":[{"uuid":"A","partitions":[
      {"uuid":"B","processes":[{"pid":7,"used":1,"instance":{"gpu":1,"compute":0}}]},
      {"uuid":"C","processes":[{"pid":7,"used":2,"instance":{"gpu":2,"compute":0}}]}]}]})");
  const TakenSnapshot p(s, HMN_COLLECT_PROCESSES);
  REQUIRE(p.usages.size() == 2);
  CHECK(p.usages[0].device_index == 1);
  CHECK(p.usages[1].device_index == 2);
  CHECK(p.usages[1].gpu_instance == 2);
}

TEST_CASE("simulated: a start may be an age, which every reading counts from one time") {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t before = unix_now();
  std::uint64_t first = 0;
  for (int readings = 0; readings < 2; ++readings) {
    Simulation s(R"({"devices":[{"processes":[{"pid":7,"used":1,"running_s":3600}]}]})");
    const TakenSnapshot p(s);
    REQUIRE(p.usages.size() == 1);
    const std::uint64_t start = p.usages[0].start_unix_ns;
    CHECK(start + 3600 * second <= unix_now());
    CHECK(start + 3600 * second + 600 * second > before);
    if (readings > 0) CHECK(start == first);
    first = start;
  }
}
