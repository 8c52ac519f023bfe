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

Command child(std::vector<std::string> arguments) {
  Command c;
  c.path = test::beside("hmn_platform_child.exe");
  c.arguments = std::move(arguments);
  c.deadline_ns = monotonic_ns() + patience;
  c.output_cap = 1U << 20;
  return c;
}

bool has_ended(DWORD pid) {
  const Handle h(OpenProcess(SYNCHRONIZE, FALSE, pid));
  return !h || WaitForSingleObject(h.get(), 20'000) == WAIT_OBJECT_0;
}

}  // namespace

TEST_CASE("subprocess: the exit code and the whole output come back") {
  const Outcome nothing = run(child({"exit", "7"}));
  CHECK(nothing.what == Kind::finished);
  CHECK(nothing.exit_known);
  CHECK(nothing.exit_code == 7);
  CHECK(nothing.signal == 0);
  CHECK(nothing.output.empty());

  const Outcome much = run(child({"flood", "200000"}));
  CHECK(much.what == Kind::finished);
  CHECK(much.output == std::string(200000, 'x'));
}

TEST_CASE("subprocess: each argument arrives as it was given") {
  const Outcome o = run(child({"arguments", "", "b c", "\"", "a\\\\\"b", "end\\", "x y\\\\",
                               "\xC3\xA9\xF0\x9F\x92\xBB", "%PATH%", "a&b|c>d"}));
  CHECK(o.what == Kind::finished);
  CHECK(o.output ==
        "[]\r\n[b c]\r\n[\"]\r\n[a\\\\\"b]\r\n[end\\]\r\n[x y\\\\]\r\n"
        "[\xC3\xA9\xF0\x9F\x92\xBB]\r\n[%PATH%]\r\n[a&b|c>d]\r\n");
}

TEST_CASE("subprocess: what we have in our environment stays with us") {
  SetEnvironmentVariableW(L"HMN_PLANTED", L"1");
  const Outcome o = run(child({"environment"}));
  SetEnvironmentVariableW(L"HMN_PLANTED", nullptr);
  CHECK(o.what == Kind::finished);
  CHECK(o.output.find("SystemRoot=C:\\") != std::string::npos);
  CHECK(o.output.find("HMN_PLANTED") == std::string::npos);
}

TEST_CASE("subprocess: input is empty, and errors are output only when that is asked for") {
  CHECK(run(child({"input"})).exit_code == 5);
  CHECK(run(child({"errors"})).output.empty());
  Command with = child({"errors"});
  with.with_errors = true;
  CHECK(run(with).output == "words");
}

TEST_CASE("subprocess: no other handle of ours is inherited") {
  SECURITY_ATTRIBUTES inheritable{sizeof inheritable, nullptr, TRUE};
  // Far from the numbers that a process has from its start.
  std::vector<Handle> many;
  for (int i = 0; i < 300; ++i) many.emplace_back(CreateEventW(&inheritable, TRUE, FALSE, nullptr));
  const auto number = reinterpret_cast<uintptr_t>(many.back().get());
  const Outcome o = run(child({"handle", std::to_string(number)}));
  CHECK(o.what == Kind::finished);
  CHECK(o.exit_code == 0);
}

TEST_CASE("subprocess: past the cap it is killed, and the beginning is kept") {
  Command c = child({"flood", "100000"});
  c.output_cap = 1000;
  const Outcome o = run(c);
  CHECK(o.what == Kind::output_too_long);
  CHECK(o.output == std::string(1000, 'x'));
  c.output_cap = 100000;
  CHECK(run(c).what == Kind::finished);
}

TEST_CASE("subprocess: at the deadline the program goes, and what it has started") {
  Command c = child({"parent"});
  // The output ends in a line when the other one has started.
  const uint64_t start = monotonic_ns();
  c.deadline_ns = start + 3 * ns_per_second;
  const Outcome o = run(c);
  CHECK(o.what == Kind::timed_out);
  CHECK(monotonic_ns() - start >= 3 * ns_per_second);
  if (o.output.empty()) return;  // it came to nothing in that time
  CHECK(has_ended(static_cast<DWORD>(std::strtoul(o.output.c_str(), nullptr, 10))));
}

TEST_CASE("subprocess: a deadline that has passed starts nothing") {
  Command c = child({"exit", "0"});
  c.deadline_ns = monotonic_ns();
  CHECK(run(c).what == Kind::timed_out);
}

TEST_CASE("subprocess: what is no program is told apart") {
  Command c = child({});
  c.path = test::beside("hmn_absent.exe");
  const Outcome absent = run(c);
  CHECK(absent.what == Kind::not_found);
  CHECK(absent.error == ENOENT);
  for (const char* path : {"hmn_platform_child.exe", "C:hmn.exe", "C:\\a.bat", "C:\\a.cmd", ""}) {
    c.path = path;
    INFO(path);
    CHECK(run(c).what == Kind::not_runnable);
    CHECK(run(c).error == EINVAL);
  }
  c = child({std::string("a\0b", 3)});
  CHECK(run(c).error == EINVAL);
}
