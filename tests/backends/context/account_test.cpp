// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The account that a driver keeps of a process which it no longer lists: by its pid, which may have
// been given to another process since.
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "machine.hpp"

namespace {

constexpr std::uint64_t boot_s = 1'700'000'000;
constexpr std::uint64_t start_s = boot_s + 10;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

std::string ended(std::uint32_t pid, std::uint64_t since_s) {
  return R"({"pid": )" + std::to_string(pid) + R"(, "most": "3 GiB", "start_us": )" +
         std::to_string(since_s) + "000001}";
}

// Begun ten seconds after the machine.
void add_process(const Machine& m, std::uint32_t pid) {
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  hmn_fake::add_process(m.tree(), hmn_fake::simple_process(pid, "trainer", 10 * ticks, 100));
}

hmn_usage read(const Machine& m, std::uint32_t pid, hmn_status expected) {
  auto u = sized<hmn_usage>();
  auto error = sized<hmn_error>();
  const hmn_status said = hmn_usage_read(m.context(), 0, pid, 0, &u, &error);
  CAPTURE(error.message);
  CHECK(said == expected);
  return u;
}

}  // namespace

// The pids are large: else one may be that of this suite.
TEST_CASE("an account that the driver has kept") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "accounts": [)" + ended(4104711, start_s) + "," +
                            ended(4104712, start_s) + "," + ended(4104713, start_s - 9) + "]"));
  const Machine m;
  hmn_fake::set_boot_time(m.tree(), boot_s);
  const auto own_pid = static_cast<std::uint32_t>(getpid());
  add_process(m, own_pid);
  hmn_fake::set_self(m.tree(), own_pid);
  m.tree().link("proc/" + std::to_string(own_pid) + "/ns/pid", "pid:[4026531836]");
  add_process(m, 4104712);
  add_process(m, 4104713);
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, m.tree().proc().c_str(), nullptr) ==
          HMN_OK);

  SUBCASE("of a process that has ended") {
    const hmn_usage u = read(m, 4104711, HMN_OK);
    CHECK(u.present == (HMN_USAGE_HAS_PEAK_USED | HMN_USAGE_HAS_START_TIME));
    CHECK(u.peak_used_bytes == 3 * gib);
    CHECK(u.name_state == HMN_NAME_STATE_EXITED);
    CHECK(u.start_unix_ns == start_s * ns_per_s + 1000);
    CHECK(u.pid == 4104711);
    CHECK(u.used_bytes == 0);
  }
  SUBCASE("of a process that goes on and holds nothing now") {
    const hmn_usage u = read(m, 4104712, HMN_OK);
    CHECK(u.peak_used_bytes == 3 * gib);
    CHECK((u.present & HMN_USAGE_HAS_USED) == 0);
    CHECK(u.name_state == HMN_NAME_STATE_RESOLVED);
    CHECK(u.start_unix_ns == start_s * ns_per_s);
  }
  SUBCASE("is not that of a process which began later under its pid") {
    read(m, 4104713, HMN_E_NO_PROCESS);
    read(m, 4104714, HMN_E_NO_PROCESS);
  }
  SUBCASE("is no row of a list") {
    const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES);
    for (const hmn_usage& u : p.usages()) CHECK((u.pid < 4104711 || u.pid > 4104713));
  }
}
