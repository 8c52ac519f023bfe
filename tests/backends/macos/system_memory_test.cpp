// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "backends/os/macos/host.hpp"
#include "fake_kernel.hpp"

using namespace hmn;
using hmn_fake::Mac;

namespace {

void set_swap(Mac& m, std::uint64_t total, std::uint64_t available) {
  const mach::SwapUsage s{total, available, total - available, 16384, 1};
  m.values["vm.swapusage"].assign(reinterpret_cast<const char*>(&s), sizeof s);
}

}  // namespace

TEST_CASE("the machine's memory") {
  Mac m;
  // What is read ahead stands among the free pages and among the files'.
  m.statistics.free_count = 1000;
  m.statistics.speculative_count = 100;
  m.statistics.external_page_count = 5000;
  m.statistics.purgeable_count = 10;
  m.statistics.active_count = 400'000;
  set_swap(m, std::uint64_t{3} << 30, 1U << 30);
  SystemMemory out;
  macos::MacosHost host(Mac::calls());
  REQUIRE(host.system(out));
  CHECK(out.from == Source::os);
  CHECK(out.total == std::uint64_t{16} << 30);
  CHECK(out.available == 5910u * 16384);
  CHECK(out.swap_total == std::uint64_t{3} << 30);
  CHECK(out.swap_free == 1u << 30);
  CHECK(out.notes == note::estimated);
  CHECK_FALSE(out.committed);
  CHECK_FALSE(out.limit);
  CHECK(m.host_rights == 0);
}

TEST_CASE("what the kernel says of the pressure") {
  Mac m;
  SystemMemory out;
  const auto reported = [&](std::uint32_t level) {
    m.set("kern.memorystatus_vm_pressure_level", level);
    REQUIRE(macos::MacosHost(Mac::calls()).system(out));
    return out.pressure;
  };
  set_swap(m, 0, 0);
  CHECK(reported(1) == MemoryPressure::normal);
  CHECK(reported(2) == MemoryPressure::warning);
  CHECK(reported(4) == MemoryPressure::critical);
  CHECK(out.notes == note::estimated);
  CHECK_FALSE(out.stall_percent);
  CHECK_FALSE(reported(3));
  CHECK((out.notes & note::partial) != 0);
  m.values.erase("kern.memorystatus_vm_pressure_level");
  REQUIRE(macos::MacosHost(Mac::calls()).system(out));
  CHECK_FALSE(out.pressure);
  CHECK((out.notes & note::partial) != 0);
}

TEST_CASE("an estimate is never more than there is") {
  Mac m;
  m.statistics.free_count = 4'000'000'000U;
  SystemMemory out;
  REQUIRE(macos::MacosHost(Mac::calls()).system(out));
  CHECK(out.available == out.total);
}

TEST_CASE("what the kernel refuses is absent") {
  Mac m;
  m.host_statistics_code = 5;
  SystemMemory out;
  REQUIRE(macos::MacosHost(Mac::calls()).system(out));
  CHECK(out.total);
  CHECK_FALSE(out.available);
  CHECK_FALSE(out.swap_total);
  CHECK(out.notes == note::partial);
  CHECK(m.host_rights == 0);
  m.values.erase("hw.memsize");
  const auto got = macos::MacosHost(Mac::calls()).system(out);
  REQUIRE_FALSE(got);
  CHECK(got.why().code == Status::backend);
}
