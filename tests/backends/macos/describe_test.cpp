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
  Usage described(std::uint32_t pid = other) {
    Usage row;
    row.pid = pid;
    host.describe(row);
    return row;
  }
};

std::string arguments(std::int32_t count, std::string_view rest) {
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  std::string out;
  macos::append_arguments(out, bytes.append(rest));
  return out;
}

}  // namespace

TEST_CASE("a process is named by its path") {
  Machine m;
  const Usage row = m.described();
  CHECK(row.name == "A B");
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.start_unix_ns == 1'700'000'000'250'000'000u);
  CHECK(row.uid == 501u);
  CHECK(row.host_resident == 3u << 20);
}

TEST_CASE("another user's process has a name, a start and an owner, but no resident set") {
  Machine m;
  m.processes[other].user = 0;
  const Usage row = m.described();
  CHECK(row.name == "A B");
  CHECK(row.uid == 0u);
  CHECK(row.start_unix_ns);
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("a process that has ended holds no memory") {
  Machine m;
  m.end_once_looked_at.insert(other);
  for (int look = 0; look < 2; ++look) {
    const Usage row = m.described();
    CHECK(row.name == "A B");
    CHECK(row.uid == 501u);
    CHECK_FALSE(row.host_resident);
  }
}

TEST_CASE("without a path the kernel's short name serves") {
  Machine m;
  m.processes[other].path = "/a/a-name-of-more-than-sixteen-bytes";
  m.processes[other].is_zombie = true;
  const Usage row = m.described();
  CHECK(row.name == "a-name-of-more-t");
  CHECK_FALSE(row.host_resident);
}

TEST_CASE("a name that is no UTF-8") {
  Machine m;
  m.processes[other].path = "/bin/a\xff";
  CHECK(m.described().name == "a\xEF\xBF\xBD");
}

TEST_CASE("what is gone is said to be") {
  Machine m;
  const Usage row = m.described(999'999);
  CHECK(row.name_state == NameState::exited);
  CHECK(row.name.empty());
  CHECK_FALSE(row.start_unix_ns);
}

TEST_CASE("what a source knows stays") {
  Machine m;
  Usage row;
  row.pid = other;
  row.name = "mine";
  row.name_state = NameState::resolved;
  row.uid = 7;
  m.host.describe(row);
  CHECK(row.name == "mine");
  CHECK(row.uid == 7u);
  CHECK(row.start_unix_ns);
}

TEST_CASE("the command of an own process, and of another's for root") {
  Machine m;
  Usage row;
  row.pid = other;
  m.host.describe_texts(row);
  CHECK(row.command == "A B --model llama 3");
  m.processes[other].user = 0;
  Usage foreign;
  foreign.pid = other;
  m.host.describe_texts(foreign);
  CHECK(foreign.command.empty());
  m.caller = 0;
  m.host.describe_texts(foreign);
  CHECK(foreign.command == "A B --model llama 3");
}

TEST_CASE("arguments that are cut or none") {
  using namespace std::string_view_literals;
  CHECK(arguments(2, "/bin/a\0\0\0a\0b\0SECRET=1\0"sv) == "a b");
  CHECK(arguments(9, "/bin/a\0\0\0a\0b"sv) == "a b");
  CHECK(arguments(3, "/bin/a\0a\0\0c\0"sv) == "a  c");
  CHECK(arguments(0, "/bin/a\0a\0"sv).empty());
  CHECK(arguments(-1, "/bin/a\0a\0"sv).empty());
  CHECK(arguments(1, "/bin/a"sv).empty());
  CHECK(arguments(1, "/bin/a\0\0\0"sv).empty());
  std::string out;
  macos::append_arguments(out, "ab");
  CHECK(out.empty());
}
