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

TEST_CASE("own memory is read from the kernel's task counters") {
  MemoryMachine machine;
  ProcessMemory memory;
  REQUIRE(machine.host.own_memory(field::resident | field::peak_resident | field::virtual_size |
                                      field::footprint | field::peak_footprint,
                                  memory));
  CHECK(memory.pid == static_cast<std::uint32_t>(getpid()));
  CHECK(memory.resident == 7u << 20);
  CHECK(memory.peak_resident == 9u << 20);
  CHECK(memory.virtual_size == std::uint64_t{400} << 30);
  CHECK(memory.footprint == 5u << 20);
  CHECK(memory.peak_footprint == 8u << 20);
  CHECK(memory.notes == 0);
}

TEST_CASE("only requested fields are read") {
  MemoryMachine machine;
  ProcessMemory memory;
  REQUIRE(machine.host.own_memory(field::footprint, memory));
  CHECK(memory.footprint);
  CHECK_FALSE(memory.resident);
  CHECK_FALSE(memory.peak_footprint);
  REQUIRE(machine.host.own_memory(field::peak_footprint, memory));
  CHECK(memory.peak_footprint == 8u << 20);
  CHECK_FALSE(memory.footprint);
}

TEST_CASE("values that macOS does not count are unsupported") {
  MemoryMachine machine;
  ProcessMemory memory;
  const auto alone =
      machine.host.own_memory(field::swap | field::committed | field::peak_committed, memory);
  REQUIRE_FALSE(alone);
  CHECK(alone.failure().code == Status::unsupported);
  REQUIRE(machine.host.own_memory(field::all, memory));
  CHECK(memory.notes == note::partial);
  CHECK_FALSE(memory.swap);
  CHECK_FALSE(memory.proportional);
  CHECK_FALSE(memory.peak_committed);
}

TEST_CASE("a refusal of task_info is reported with its code") {
  MemoryMachine machine;
  machine.task_info_code = 5;  // KERN_FAILURE
  ProcessMemory memory;
  const auto result = machine.host.own_memory(field::resident, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::backend);
  CHECK(result.failure().native.domain == NativeDomain::kern);
  CHECK(result.failure().native.code == 5);
  CHECK_FALSE(memory.resident);
  REQUIRE(machine.host.own_memory(field::resident | field::peak_footprint, memory));
  CHECK_FALSE(memory.resident);
  CHECK(memory.peak_footprint == 8u << 20);
  CHECK(memory.notes == note::partial);
}

TEST_CASE("a macOS without a footprint reports it as unsupported") {
  MemoryMachine machine;
  machine.max_task_info_words = 36;
  ProcessMemory memory;
  const auto result = machine.host.own_memory(field::footprint, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
}

TEST_CASE("a macOS without a peak footprint reports it as unsupported") {
  MemoryMachine machine;
  machine.own().peak_footprint = machine.processes[other_pid].peak_footprint = 0;
  ProcessMemory memory;
  for (const int pid : {machine.own_pid, other_pid}) {
    const auto alone =
        machine.host.memory(static_cast<std::uint32_t>(pid), field::peak_footprint, memory);
    REQUIRE_FALSE(alone);
    CHECK(alone.failure().code == Status::unsupported);
    REQUIRE(machine.host.memory(static_cast<std::uint32_t>(pid),
                                field::footprint | field::peak_footprint, memory));
    CHECK(memory.footprint);
    CHECK_FALSE(memory.peak_footprint);
    CHECK(memory.notes == note::partial);
  }
}

TEST_CASE("memory of another process of the same user is read, except the peak resident set") {
  MemoryMachine machine;
  ProcessMemory memory;
  REQUIRE(machine.host.memory(other_pid, field::cheap | field::footprint | field::peak_footprint,
                              memory));
  CHECK(memory.resident == 3u << 20);
  CHECK(memory.footprint == 2u << 20);
  CHECK(memory.peak_footprint == 6u << 20);
  CHECK(memory.virtual_size == 1u << 30);
  CHECK(memory.notes == 0);
  REQUIRE(machine.host.memory(other_pid, field::resident | field::peak_resident, memory));
  CHECK_FALSE(memory.peak_resident);
  CHECK(memory.notes == note::partial);
  const auto peak = machine.host.memory(other_pid, field::peak_resident, memory);
  REQUIRE_FALSE(peak);
  CHECK(peak.failure().code == Status::unsupported);
  CHECK(peak.failure().message.view().find("footprint") != std::string::npos);
}

TEST_CASE("memory of another user's process is refused, except to root") {
  MemoryMachine machine;
  machine.processes[other_pid].user = 0;
  ProcessMemory memory;
  for (const std::uint64_t fields : {field::resident, field::virtual_size, field::peak_footprint}) {
    const auto result = machine.host.memory(other_pid, fields, memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::permission);
    CHECK(result.failure().native.code == EPERM);
    CHECK(result.failure().message.view().find("root") != std::string::npos);
  }
  machine.caller = 0;
  CHECK(machine.host.memory(other_pid, field::resident, memory));
}

TEST_CASE("a missing process, and one that exits meanwhile, are reported as no_process") {
  MemoryMachine machine;
  ProcessMemory memory;
  for (const std::uint64_t fields :
       {field::resident, field::virtual_size, field::peak_resident, field::all}) {
    const auto result = machine.host.memory(999'999, fields, memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::no_process);
  }
  machine.vanishing_pids.insert(other_pid);
  CHECK(machine.host.memory(other_pid, field::footprint, memory).failure().code ==
        Status::no_process);
}

TEST_CASE("a zombie has no memory values, rather than 0") {
  MemoryMachine machine;
  machine.processes[other_pid].is_zombie = true;
  ProcessMemory memory;
  for (const bool keeps_account : {true, false}) {
    machine.processes[other_pid].keeps_account = keeps_account;
    for (const std::uint64_t fields :
         {field::resident, field::footprint, field::virtual_size, field::peak_footprint}) {
      const auto result = machine.host.memory(other_pid, fields, memory);
      REQUIRE_FALSE(result);
      CHECK(result.failure().code == Status::no_process);
      CHECK(result.failure().message.view().find("zombie") != std::string::npos);
      CHECK_FALSE(memory.resident);
      CHECK_FALSE(memory.peak_footprint);
    }
  }
}

TEST_CASE("a forked child reads its own memory with the same source") {
  MemoryMachine machine;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    machine.processes[getpid()].resident = 1 << 20;
    machine.own_pid = getpid();
    ProcessMemory memory;
    const bool ok = static_cast<bool>(machine.host.own_memory(field::resident, memory)) &&
                    memory.pid == static_cast<std::uint32_t>(getpid()) &&
                    memory.resident == 1u << 20;
    _exit(ok ? 0 : 1);
  }
  int code = 0;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
}
