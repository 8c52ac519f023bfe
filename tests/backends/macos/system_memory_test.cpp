// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "backends/os/macos/host.hpp"
#include "fake_kernel.hpp"

using namespace hmn;
using hmn_fake::Mac;

namespace {

void set_swap(Mac& machine, std::uint64_t total, std::uint64_t available) {
  const mach::SwapUsage swap{total, available, total - available, 16384, 1};
  machine.values["vm.swapusage"].assign(reinterpret_cast<const char*>(&swap), sizeof swap);
}

}  // namespace

TEST_CASE("total, available and swap memory of the machine are read") {
  Mac machine;
  // Pages read ahead are counted among the free pages and among the file pages.
  machine.statistics.free_count = 1000;
  machine.statistics.speculative_count = 100;
  machine.statistics.external_page_count = 5000;
  machine.statistics.purgeable_count = 10;
  machine.statistics.active_count = 400'000;
  set_swap(machine, std::uint64_t{3} << 30, 1U << 30);
  SystemMemory memory;
  macos::MacosHost host(Mac::calls());
  REQUIRE(host.system(memory));
  CHECK(memory.source == Source::os);
  CHECK(memory.total == std::uint64_t{16} << 30);
  CHECK(memory.available == 5910u * 16384);
  CHECK(memory.swap_total == std::uint64_t{3} << 30);
  CHECK(memory.swap_free == 1u << 30);
  CHECK(memory.notes == note::estimated);
  CHECK_FALSE(memory.committed);
  CHECK_FALSE(memory.limit);
  CHECK(machine.host_rights == 0);
}

TEST_CASE("memory pressure is reported as the kernel's level") {
  Mac machine;
  SystemMemory memory;
  const auto read_pressure = [&](std::uint32_t level) {
    machine.set("kern.memorystatus_vm_pressure_level", level);
    REQUIRE(macos::MacosHost(Mac::calls()).system(memory));
    return memory.pressure;
  };
  set_swap(machine, 0, 0);
  CHECK(read_pressure(1) == MemoryPressure::normal);
  CHECK(read_pressure(2) == MemoryPressure::warning);
  CHECK(read_pressure(4) == MemoryPressure::critical);
  CHECK(memory.notes == note::estimated);
  CHECK_FALSE(memory.stall_percent);
  CHECK_FALSE(read_pressure(3));
  CHECK((memory.notes & note::partial) != 0);
  machine.values.erase("kern.memorystatus_vm_pressure_level");
  REQUIRE(macos::MacosHost(Mac::calls()).system(memory));
  CHECK_FALSE(memory.pressure);
  CHECK((memory.notes & note::partial) != 0);
}

TEST_CASE("available memory is at most the total") {
  Mac machine;
  machine.statistics.free_count = 4'000'000'000U;
  SystemMemory memory;
  REQUIRE(macos::MacosHost(Mac::calls()).system(memory));
  CHECK(memory.available == memory.total);
}

TEST_CASE("a value that the kernel refuses is absent") {
  Mac machine;
  machine.host_statistics_code = 5;
  SystemMemory memory;
  REQUIRE(macos::MacosHost(Mac::calls()).system(memory));
  CHECK(memory.total);
  CHECK_FALSE(memory.available);
  CHECK_FALSE(memory.swap_total);
  CHECK(memory.notes == note::partial);
  CHECK(machine.host_rights == 0);
  machine.values.erase("hw.memsize");
  const auto result = macos::MacosHost(Mac::calls()).system(memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::backend);
}
