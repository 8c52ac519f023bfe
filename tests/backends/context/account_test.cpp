// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The driver's account of a process that it no longer lists. The PID of the process may have
// been reused since.
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "machine.hpp"

namespace {

constexpr std::uint64_t boot_s = 1'700'000'000;
constexpr std::uint64_t start_s = boot_s + 10;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

std::string make_ended_account(std::uint32_t pid, std::uint64_t since_s) {
  return R"({"pid": )" + std::to_string(pid) + R"(, "most": "3 GiB", "start_us": )" +
         std::to_string(since_s) + "000001}";
}

// Adds a process that started ten seconds after boot.
void add_process(const Machine& machine, std::uint32_t pid) {
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  hmn_fake::add_process(machine.tree(), hmn_fake::simple_process(pid, "trainer", 10 * ticks, 100));
}

hmn_usage read_usage(const Machine& machine, std::uint32_t pid, hmn_status expected) {
  auto usage = sized<hmn_usage>();
  auto error = sized<hmn_error>();
  const hmn_status status = hmn_usage_read(machine.context(), 0, pid, 0, &usage, &error);
  CAPTURE(error.message);
  CHECK(status == expected);
  return usage;
}

}  // namespace

// The PIDs are large, so that none is that of this suite.
TEST_CASE("the driver keeps the account of a process") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "accounts": [)" + make_ended_account(4104711, start_s) + "," +
                            make_ended_account(4104712, start_s) + "," +
                            make_ended_account(4104713, start_s - 9) + "]"));
  const Machine machine;
  hmn_fake::set_boot_time(machine.tree(), boot_s);
  const auto own_pid = static_cast<std::uint32_t>(getpid());
  add_process(machine, own_pid);
  hmn_fake::set_self(machine.tree(), own_pid);
  machine.tree().link("proc/" + std::to_string(own_pid) + "/ns/pid", "pid:[4026531836]");
  add_process(machine, 4104712);
  add_process(machine, 4104713);
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, machine.tree().proc().c_str(),
                               nullptr) == HMN_OK);

  SUBCASE("the process has ended") {
    const hmn_usage usage = read_usage(machine, 4104711, HMN_OK);
    CHECK(usage.present == (HMN_USAGE_HAS_PEAK_USED | HMN_USAGE_HAS_START_TIME));
    CHECK(usage.peak_used_bytes == 3 * gib);
    CHECK(usage.name_state == HMN_NAME_STATE_EXITED);
    CHECK(usage.start_unix_ns == start_s * ns_per_s + 1000);
    CHECK(usage.pid == 4104711);
    CHECK(usage.used_bytes == 0);
  }
  SUBCASE("the process is running and holds nothing now") {
    const hmn_usage usage = read_usage(machine, 4104712, HMN_OK);
    CHECK(usage.peak_used_bytes == 3 * gib);
    CHECK((usage.present & HMN_USAGE_HAS_USED) == 0);
    CHECK(usage.name_state == HMN_NAME_STATE_RESOLVED);
    CHECK(usage.start_unix_ns == start_s * ns_per_s);
  }
  SUBCASE("the process started later under the same PID") {
    read_usage(machine, 4104713, HMN_E_NO_PROCESS);
    read_usage(machine, 4104714, HMN_E_NO_PROCESS);
  }
  SUBCASE("processes with only an account are not listed") {
    const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES);
    for (const hmn_usage& usage : snapshot.usages())
      CHECK((usage.pid < 4104711 || usage.pid > 4104713));
  }
}
