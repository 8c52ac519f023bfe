// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "backends/os/macos/host.hpp"
#include "fake_kernel.hpp"

using namespace hmn;
using hmn_fake::Mac;
namespace field = process_memory_field;

namespace {

constexpr int other_pid = 4242;

struct MemoryMachine : Mac {
  MemoryMachine() {
    own().resident = 7 << 20;
    own().footprint = 5 << 20;
    own().peak_footprint = 8 << 20;
    own().virtual_size = std::uint64_t{400} << 30;
    peak_resident = 9 << 20;
    processes[other_pid].resident = 3 << 20;
    processes[other_pid].footprint = 2 << 20;
    processes[other_pid].peak_footprint = 6 << 20;
    processes[other_pid].virtual_size = 1 << 30;
  }
  macos::MacosHost host{Mac::calls()};
};

}  // namespace

TEST_CASE("own memory is what the kernel counts of the task") {
  MemoryMachine m;
  ProcessMemory out;
  REQUIRE(m.host.own_memory(field::resident | field::peak_resident | field::virtual_size |
                                field::footprint | field::peak_footprint,
                            out));
  CHECK(out.pid == static_cast<std::uint32_t>(getpid()));
  CHECK(out.resident == 7u << 20);
  CHECK(out.peak_resident == 9u << 20);
  CHECK(out.virtual_size == std::uint64_t{400} << 30);
  CHECK(out.footprint == 5u << 20);
  CHECK(out.peak_footprint == 8u << 20);
  CHECK(out.notes == 0);
}

TEST_CASE("only what is asked for is told") {
  MemoryMachine m;
  ProcessMemory out;
  REQUIRE(m.host.own_memory(field::footprint, out));
  CHECK(out.footprint);
  CHECK_FALSE(out.resident);
  CHECK_FALSE(out.peak_footprint);
  REQUIRE(m.host.own_memory(field::peak_footprint, out));
  CHECK(out.peak_footprint == 8u << 20);
  CHECK_FALSE(out.footprint);
}

TEST_CASE("what macOS does not count is unsupported") {
  MemoryMachine m;
  ProcessMemory out;
  const auto alone = m.host.own_memory(field::swap | field::committed | field::peak_committed, out);
  REQUIRE_FALSE(alone);
  CHECK(alone.why().code == Status::unsupported);
  REQUIRE(m.host.own_memory(field::all, out));
  CHECK(out.notes == note::partial);
  CHECK_FALSE(out.swap);
  CHECK_FALSE(out.proportional);
  CHECK_FALSE(out.peak_committed);
}

TEST_CASE("task_info refuses") {
  MemoryMachine m;
  m.task_info_code = 5;  // KERN_FAILURE
  ProcessMemory out;
  const auto got = m.host.own_memory(field::resident, out);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::backend);
  CHECK(got.why().native.domain == NativeDomain::kern);
  CHECK(got.why().native.code == 5);
  CHECK_FALSE(out.resident);
  REQUIRE(m.host.own_memory(field::resident | field::peak_footprint, out));
  CHECK_FALSE(out.resident);
  CHECK(out.peak_footprint == 8u << 20);
  CHECK(out.notes == note::partial);
}

TEST_CASE("a macOS that counts no footprint") {
  MemoryMachine m;
  m.task_info_most = 36;
  ProcessMemory out;
  const auto got = m.host.own_memory(field::footprint, out);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::unsupported);
}

TEST_CASE("a macOS that keeps no account of the peak") {
  MemoryMachine m;
  m.own().peak_footprint = m.processes[other_pid].peak_footprint = 0;
  ProcessMemory out;
  for (const int pid : {m.own_pid, other_pid}) {
    const auto alone = m.host.memory(static_cast<std::uint32_t>(pid), field::peak_footprint, out);
    REQUIRE_FALSE(alone);
    CHECK(alone.why().code == Status::unsupported);
    REQUIRE(m.host.memory(static_cast<std::uint32_t>(pid), field::footprint | field::peak_footprint,
                          out));
    CHECK(out.footprint);
    CHECK_FALSE(out.peak_footprint);
    CHECK(out.notes == note::partial);
  }
}

TEST_CASE("another process of the same user") {
  MemoryMachine m;
  ProcessMemory out;
  REQUIRE(m.host.memory(other_pid, field::cheap | field::footprint | field::peak_footprint, out));
  CHECK(out.resident == 3u << 20);
  CHECK(out.footprint == 2u << 20);
  CHECK(out.peak_footprint == 6u << 20);
  CHECK(out.virtual_size == 1u << 30);
  CHECK(out.notes == 0);
  REQUIRE(m.host.memory(other_pid, field::resident | field::peak_resident, out));
  CHECK_FALSE(out.peak_resident);
  CHECK(out.notes == note::partial);
  const auto peak = m.host.memory(other_pid, field::peak_resident, out);
  REQUIRE_FALSE(peak);
  CHECK(peak.why().code == Status::unsupported);
  CHECK(peak.why().message.view().find("footprint") != std::string::npos);
}

TEST_CASE("another user's process is refused, but not root") {
  MemoryMachine m;
  m.processes[other_pid].user = 0;
  ProcessMemory out;
  for (const std::uint64_t asked : {field::resident, field::virtual_size, field::peak_footprint}) {
    const auto got = m.host.memory(other_pid, asked, out);
    REQUIRE_FALSE(got);
    CHECK(got.why().code == Status::permission);
    CHECK(got.why().native.code == EPERM);
    CHECK(got.why().message.view().find("root") != std::string::npos);
  }
  m.caller = 0;
  CHECK(m.host.memory(other_pid, field::resident, out));
}

TEST_CASE("a process that is not there, and one that vanishes") {
  MemoryMachine m;
  ProcessMemory out;
  for (const std::uint64_t asked :
       {field::resident, field::virtual_size, field::peak_resident, field::all}) {
    const auto got = m.host.memory(999'999, asked, out);
    REQUIRE_FALSE(got);
    CHECK(got.why().code == Status::no_process);
  }
  m.gone_when_asked.insert(other_pid);
  CHECK(m.host.memory(other_pid, field::footprint, out).why().code == Status::no_process);
}

TEST_CASE("a zombie has no memory, not none in use") {
  MemoryMachine m;
  m.processes[other_pid].is_zombie = true;
  ProcessMemory out;
  for (const bool keeps_account : {true, false}) {
    m.processes[other_pid].keeps_account = keeps_account;
    for (const std::uint64_t asked :
         {field::resident, field::footprint, field::virtual_size, field::peak_footprint}) {
      const auto got = m.host.memory(other_pid, asked, out);
      REQUIRE_FALSE(got);
      CHECK(got.why().code == Status::no_process);
      CHECK(got.why().message.view().find("zombie") != std::string::npos);
      CHECK_FALSE(out.resident);
      CHECK_FALSE(out.peak_footprint);
    }
  }
}

TEST_CASE("a forked child reads its own memory with the same source") {
  MemoryMachine m;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    m.processes[getpid()].resident = 1 << 20;
    m.own_pid = getpid();
    ProcessMemory out;
    const bool ok = static_cast<bool>(m.host.own_memory(field::resident, out)) &&
                    out.pid == static_cast<std::uint32_t>(getpid()) && out.resident == 1u << 20;
    _exit(ok ? 0 : 1);
  }
  int code = 0;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
}
