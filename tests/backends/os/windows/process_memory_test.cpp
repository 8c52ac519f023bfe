// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_memory.hpp"

#include <doctest/doctest.h>

#include "fake_kernel32.hpp"

using namespace hmn;
namespace field = process_memory_field;

namespace {

constexpr std::uint64_t mib = 1 << 20;

void set_counters() {
  fake::system() = {};
  fake::Counters& counters = fake::system().process;
  counters.ex.WorkingSetSize = 40 * mib;
  counters.ex.PeakWorkingSetSize = 50 * mib;
  counters.ex.PagefileUsage = 70 * mib;
  counters.ex.PrivateUsage = 70 * mib;
  counters.ex.PeakPagefileUsage = 90 * mib;
  counters.private_working_set = 30 * mib;
}

ProcessMemory read_memory(std::uint64_t fields) {
  ProcessMemory memory;
  REQUIRE(os::read_process_memory(GetCurrentProcess(), fields, memory));
  return memory;
}

}  // namespace

TEST_CASE("process_memory: each value is in its field") {
  set_counters();
  const ProcessMemory memory =
      read_memory(field::resident | field::peak_resident | field::committed |
                  field::peak_committed | field::private_set);
  CHECK(memory.resident == 40 * mib);
  CHECK(memory.peak_resident == 50 * mib);
  CHECK(memory.committed == 70 * mib);
  CHECK(memory.peak_committed == 90 * mib);
  CHECK(memory.private_set == 30 * mib);
  CHECK(memory.notes == 0);
}

TEST_CASE("process_memory: committed memory that is not touched raises only committed") {
  set_counters();
  const ProcessMemory before = read_memory(field::resident | field::committed);
  fake::system().process.ex.PrivateUsage += 64 * mib;
  const ProcessMemory after = read_memory(field::resident | field::committed);
  CHECK(*after.committed - *before.committed == 64 * mib);
  CHECK(after.resident == before.resident);
}

TEST_CASE("process_memory: Windows before 10 22H2 has no private working set") {
  set_counters();
  fake::system().has_ex2 = false;
  const ProcessMemory memory = read_memory(field::committed | field::private_set);
  CHECK(memory.committed == 70 * mib);
  CHECK_FALSE(memory.private_set);
  CHECK(memory.notes == note::partial);
}

TEST_CASE("process_memory: a value of 0 from the system is absent, with a reason") {
  set_counters();
  fake::system().process.ex.PrivateUsage = 0;
  ProcessMemory memory;
  const auto result = os::read_process_memory(GetCurrentProcess(), field::committed, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(result.failure().message.view().find("private bytes") != std::string_view::npos);
  CHECK_FALSE(memory.committed);
}

TEST_CASE("process_memory: a refusal carries the error of the system") {
  set_counters();
  fake::system().refuses_process = ERROR_ACCESS_DENIED;
  ProcessMemory memory;
  const auto result = os::read_process_memory(GetCurrentProcess(), field::resident, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().native.code == ERROR_ACCESS_DENIED);
  CHECK_FALSE(memory.resident);
}
