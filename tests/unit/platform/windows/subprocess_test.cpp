// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/subprocess.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <cerrno>
#include <cstdlib>

#include "platform/clock.hpp"
#include "platform/windows/system.hpp"
#include "support.hpp"

using namespace hmn::platform;
using Kind = Outcome::Kind;

namespace {

constexpr uint64_t patience = 60 * ns_per_second;

Command make_command(std::vector<std::string> arguments) {
  Command command;
  command.path = test::path_in_own_folder("hmn_platform_child.exe");
  command.arguments = std::move(arguments);
  command.deadline_ns = monotonic_ns() + patience;
  command.output_cap = 1U << 20;
  return command;
}

bool has_ended(DWORD pid) {
  const Handle process(OpenProcess(SYNCHRONIZE, FALSE, pid));
  return !process || WaitForSingleObject(process.get(), 20'000) == WAIT_OBJECT_0;
}

}  // namespace

TEST_CASE("subprocess: the exit code and the whole output are returned") {
  const Outcome result = run(make_command({"exit", "7"}));
  CHECK(result.kind == Kind::finished);
  CHECK(result.has_exit_status);
  CHECK(result.exit_code == 7);
  CHECK(result.signal == 0);
  CHECK(result.output.empty());

  const Outcome flood = run(make_command({"flood", "200000"}));
  CHECK(flood.kind == Kind::finished);
  CHECK(flood.output == std::string(200000, 'x'));
}

TEST_CASE("subprocess: each argument is passed unchanged") {
  const Outcome result =
      run(make_command({"arguments", "", "b c", "\"", "a\\\\\"b", "end\\", "x y\\\\",
                        "\xC3\xA9\xF0\x9F\x92\xBB", "%PATH%", "a&b|c>d"}));
  CHECK(result.kind == Kind::finished);
  CHECK(result.output ==
        "[]\r\n[b c]\r\n[\"]\r\n[a\\\\\"b]\r\n[end\\]\r\n[x y\\\\]\r\n"
        "[\xC3\xA9\xF0\x9F\x92\xBB]\r\n[%PATH%]\r\n[a&b|c>d]\r\n");
}

TEST_CASE("subprocess: our environment is not inherited") {
  SetEnvironmentVariableW(L"HMN_PLANTED", L"1");
  const Outcome result = run(make_command({"environment"}));
  SetEnvironmentVariableW(L"HMN_PLANTED", nullptr);
  CHECK(result.kind == Kind::finished);
  CHECK(result.output.find("SystemRoot=C:\\") != std::string::npos);
  CHECK(result.output.find("HMN_PLANTED") == std::string::npos);
}

TEST_CASE("subprocess: input is empty, and stderr is captured only on request") {
  CHECK(run(make_command({"input"})).exit_code == 5);
  CHECK(run(make_command({"errors"})).output.empty());
  Command command = make_command({"errors"});
  command.include_stderr = true;
  CHECK(run(command).output == "words");
}

TEST_CASE("subprocess: no other handle of ours is inherited") {
  SECURITY_ATTRIBUTES inheritable{sizeof inheritable, nullptr, TRUE};
  // Far from the numbers that a process has from its start.
  std::vector<Handle> events;
  for (int i = 0; i < 300; ++i)
    events.emplace_back(CreateEventW(&inheritable, TRUE, FALSE, nullptr));
  const auto number = reinterpret_cast<uintptr_t>(events.back().get());
  const Outcome result = run(make_command({"handle", std::to_string(number)}));
  CHECK(result.kind == Kind::finished);
  CHECK(result.exit_code == 0);
}

TEST_CASE("subprocess: a program is killed at the output cap, and its output so far is kept") {
  Command command = make_command({"flood", "100000"});
  command.output_cap = 1000;
  const Outcome result = run(command);
  CHECK(result.kind == Kind::output_too_long);
  CHECK(result.output == std::string(1000, 'x'));
  command.output_cap = 100000;
  CHECK(run(command).kind == Kind::finished);
}

TEST_CASE("subprocess: the program and its children are killed at the deadline") {
  Command command = make_command({"parent"});
  // The output ends in a line when the other one has started.
  const uint64_t start = monotonic_ns();
  command.deadline_ns = start + 3 * ns_per_second;
  const Outcome result = run(command);
  CHECK(result.kind == Kind::timed_out);
  CHECK(monotonic_ns() - start >= 3 * ns_per_second);
  if (result.output.empty()) return;  // too slow to start the other one in time
  CHECK(has_ended(static_cast<DWORD>(std::strtoul(result.output.c_str(), nullptr, 10))));
}

TEST_CASE("subprocess: nothing starts after the deadline") {
  Command command = make_command({"exit", "0"});
  command.deadline_ns = monotonic_ns();
  CHECK(run(command).kind == Kind::timed_out);
}

TEST_CASE("subprocess: a missing program and an invalid path are distinguished") {
  Command command = make_command({});
  command.path = test::path_in_own_folder("hmn_absent.exe");
  const Outcome absent = run(command);
  CHECK(absent.kind == Kind::not_found);
  CHECK(absent.error == ENOENT);
  for (const char* path : {"hmn_platform_child.exe", "C:hmn.exe", "C:\\a.bat", "C:\\a.cmd", ""}) {
    command.path = path;
    INFO(path);
    CHECK(run(command).kind == Kind::not_runnable);
    CHECK(run(command).error == EINVAL);
  }
  command = make_command({std::string("a\0b", 3)});
  CHECK(run(command).error == EINVAL);
}
