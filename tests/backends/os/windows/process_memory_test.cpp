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
  fake::Counters& p = fake::system().process;
  p.ex.WorkingSetSize = 40 * mib;
  p.ex.PeakWorkingSetSize = 50 * mib;
  p.ex.PagefileUsage = 70 * mib;
  p.ex.PrivateUsage = 70 * mib;
  p.ex.PeakPagefileUsage = 90 * mib;
  p.private_working_set = 30 * mib;
}

ProcessMemory read(std::uint64_t fields) {
  ProcessMemory out;
  REQUIRE(os::read_process_memory(GetCurrentProcess(), fields, out));
  return out;
}

}  // namespace

TEST_CASE("process_memory: each figure in its field") {
  set_counters();
  const ProcessMemory m = read(field::resident | field::peak_resident | field::committed |
                               field::peak_committed | field::private_set);
  CHECK(m.resident == 40 * mib);
  CHECK(m.peak_resident == 50 * mib);
  CHECK(m.committed == 70 * mib);
  CHECK(m.peak_committed == 90 * mib);
  CHECK(m.private_set == 30 * mib);
  CHECK(m.notes == 0);
}

TEST_CASE("process_memory: what is committed and not touched raises that alone") {
  set_counters();
  const ProcessMemory before = read(field::resident | field::committed);
  fake::system().process.ex.PrivateUsage += 64 * mib;
  const ProcessMemory after = read(field::resident | field::committed);
  CHECK(*after.committed - *before.committed == 64 * mib);
  CHECK(after.resident == before.resident);
}

TEST_CASE("process_memory: a Windows before 10 22H2 has no private working set") {
  set_counters();
  fake::system().has_ex2 = false;
  const ProcessMemory m = read(field::committed | field::private_set);
  CHECK(m.committed == 70 * mib);
  CHECK_FALSE(m.private_set);
  CHECK(m.notes == note::partial);
}

TEST_CASE("process_memory: a figure that the system leaves at 0 is absent, with a reason") {
  set_counters();
  fake::system().process.ex.PrivateUsage = 0;
  ProcessMemory m;
  const auto said = os::read_process_memory(GetCurrentProcess(), field::committed, m);
  REQUIRE_FALSE(said);
  CHECK(said.why().code == Status::unsupported);
  CHECK(said.why().message.view().find("private bytes") != std::string_view::npos);
  CHECK_FALSE(m.committed);
}

TEST_CASE("process_memory: a refusal has the system's error") {
  set_counters();
  fake::system().refuses_process = ERROR_ACCESS_DENIED;
  ProcessMemory m;
  const auto said = os::read_process_memory(GetCurrentProcess(), field::resident, m);
  REQUIRE_FALSE(said);
  CHECK(said.why().native.code == ERROR_ACCESS_DENIED);
  CHECK_FALSE(m.resident);
}
