// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "backends/os/macos/describe.hpp"
#include "backends/os/macos/host.hpp"
#include "fake_kernel.hpp"

using namespace hmn;
using hmn_fake::Mac;

namespace {

constexpr int other = 4242;

struct Machine : Mac {
  Machine() {
    processes[other].path = "/Applications/A B.app/Contents/MacOS/A B";
    processes[other].arguments = {"A B", "--model", "llama 3"};
    processes[other].resident = 3 << 20;
  }
  macos::MacosHost host{Mac::calls()};
  Usage describe(std::uint32_t pid = other) {
    Usage row;
    row.pid = pid;
    host.describe(row);
    return row;
  }
};

std::string parse_arguments(std::int32_t count, std::string_view rest) {
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  std::string text;
  macos::append_arguments(text, bytes.append(rest));
  return text;
}

}  // namespace

TEST_CASE("a process is named by its path, with start, owner and resident set") {
  Machine machine;
  const Usage row = machine.describe();
  CHECK(row.name == "A B");
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.start_unix_ns == 1'700'000'000'250'000'000u);
  CHECK(row.uid == 501u);
  CHECK(row.host_resident == 3u << 20);
}

TEST_CASE("another user's process has a name, a start and an owner, but no resident set") {
  Machine machine;
  machine.processes[other].user = 0;
  const Usage row = machine.describe();
  CHECK(row.name == "A B");
  CHECK(row.uid == 0u);
  CHECK(row.start_unix_ns);
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("a process that has ended has no resident set") {
  Machine machine;
  machine.ending_pids.insert(other);
  for (int reading = 0; reading < 2; ++reading) {
    const Usage row = machine.describe();
    CHECK(row.name == "A B");
    CHECK(row.uid == 501u);
    CHECK_FALSE(row.host_resident);
  }
}

TEST_CASE("without a path the kernel's short name is used") {
  Machine machine;
  machine.processes[other].path = "/a/a-name-of-more-than-sixteen-bytes";
  machine.processes[other].is_zombie = true;
  const Usage row = machine.describe();
  CHECK(row.name == "a-name-of-more-t");
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("an invalid UTF-8 name is repaired") {
  Machine machine;
  machine.processes[other].path = "/bin/a\xff";
  CHECK(machine.describe().name == "a\xEF\xBF\xBD");
}

TEST_CASE("a missing process is reported as exited") {
  Machine machine;
  const Usage row = machine.describe(999'999);
  CHECK(row.name_state == NameState::exited);
  CHECK(row.name.empty());
  CHECK_FALSE(row.start_unix_ns);
}

TEST_CASE("values set by a source are kept") {
  Machine machine;
  Usage row;
  row.pid = other;
  row.name = "mine";
  row.name_state = NameState::resolved;
  row.uid = 7;
  machine.host.describe(row);
  CHECK(row.name == "mine");
  CHECK(row.uid == 7u);
  CHECK(row.start_unix_ns);
}

TEST_CASE("the command is read of own processes, and by root of any") {
  Machine machine;
  Usage row;
  row.pid = other;
  machine.host.describe_texts(row);
  CHECK(row.command == "A B --model llama 3");
  machine.processes[other].user = 0;
  Usage foreign;
  foreign.pid = other;
  machine.host.describe_texts(foreign);
  CHECK(foreign.command.empty());
  machine.caller = 0;
  machine.host.describe_texts(foreign);
  CHECK(foreign.command == "A B --model llama 3");
}

TEST_CASE("truncated and missing arguments are handled") {
  using namespace std::string_view_literals;
  CHECK(parse_arguments(2, "/bin/a\0\0\0a\0b\0SECRET=1\0"sv) == "a b");
  CHECK(parse_arguments(9, "/bin/a\0\0\0a\0b"sv) == "a b");
  CHECK(parse_arguments(3, "/bin/a\0a\0\0c\0"sv) == "a  c");
  CHECK(parse_arguments(0, "/bin/a\0a\0"sv).empty());
  CHECK(parse_arguments(-1, "/bin/a\0a\0"sv).empty());
  CHECK(parse_arguments(1, "/bin/a"sv).empty());
  CHECK(parse_arguments(1, "/bin/a\0\0\0"sv).empty());
  std::string text;
  macos::append_arguments(text, "ab");
  CHECK(text.empty());
}
