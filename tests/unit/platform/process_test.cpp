// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <doctest/doctest.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "platform/file.hpp"
#include "support.hpp"

using namespace hmn::platform;

TEST_CASE("process: the pid is the real one, including in a forked child") {
  char target[32];
  const auto length = read_link("/proc/self", target);
  REQUIRE(length.error == 0);
  CHECK(std::to_string(current_pid()) == std::string(target, length.value));
  const uint32_t parent = current_pid();
  const int code = test::in_child([&] {
    return current_pid() != parent && current_pid() == static_cast<uint32_t>(getpid()) ? 0 : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("process: a process that started within the slack after a time has started by then") {
  constexpr uint64_t time = 1'700'000'000'000'000'000;
  CHECK(has_started_by(0, time));
  CHECK(has_started_by(time, time));
  CHECK(has_started_by(time + 2'000'000'000, time));
  CHECK_FALSE(has_started_by(time + 2'000'000'001, time));
  CHECK(has_started_by(UINT64_MAX - 1, UINT64_MAX));
  CHECK(has_started_by(UINT64_MAX, UINT64_MAX - 1));
}

TEST_CASE("process: page size and clock ticks come from the system") {
  CHECK(page_size() == getauxval(AT_PAGESZ));
  CHECK(clock_ticks_per_second() == getauxval(AT_CLKTCK));
}

TEST_CASE("process: the environment is read after an ordinary start") {
  CHECK_FALSE(is_privileged_start());
  setenv("HMN_PLATFORM_TEST", "value", 1);
  REQUIRE(environment("HMN_PLATFORM_TEST") != nullptr);
  CHECK(environment("HMN_PLATFORM_TEST") == std::string("value"));
  unsetenv("HMN_PLATFORM_TEST");
  CHECK(environment("HMN_PLATFORM_TEST") == nullptr);
}

TEST_CASE("process: started set-user-id" * doctest::skip()) {
  REQUIRE(std::getenv("HMN_PLATFORM_TEST") != nullptr);
  CHECK(is_privileged_start());
  CHECK(environment("HMN_PLATFORM_TEST") == nullptr);
  // For LeakSanitizer, which traces its own process.
  CHECK(setresuid(geteuid(), geteuid(), geteuid()) == 0);
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

TEST_CASE("process: the environment is not read after a privileged start") {
  if (!test::can_run_itself()) return;
  const test::ScratchFolder scratch;
  const std::string program = scratch.path("set-user-id");
  std::filesystem::copy_file("/proc/self/exe", program);
  REQUIRE(chmod(scratch.path(".").c_str(), 0755) == 0);
  constexpr uid_t nobody = 65534;
  if (chown(program.c_str(), nobody, nobody) != 0 || chmod(program.c_str(), 04755) != 0) {
    MESSAGE("skipped: unit.platform: only root can make a set-user-id program");
    return;
  }
  setenv("HMN_PLATFORM_TEST", "value", 1);
  CHECK(test::run_test_case(program, "process: started set-user-id") == 0);
  unsetenv("HMN_PLATFORM_TEST");
}
