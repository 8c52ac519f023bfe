// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/query.hpp"

#include <doctest/doctest.h>

#include "model/metric.hpp"

using namespace hmn;
using namespace hmn::pdh;

namespace {

Row make_bytes_row(const char* name, std::int64_t whole, bool is_valid = true) {
  return {*parse_instance(name), is_valid, whole, 0};
}

Row make_load_row(const char* name, double percent, bool is_valid = true) {
  return {*parse_instance(name), is_valid, 0, percent};
}

}  // namespace

TEST_CASE("the parts of an adapter are summed, and other adapters ignored") {
  const Row rows[] = {make_bytes_row("luid_0x0_0xA_phys_0", 100),
                      make_bytes_row("luid_0x0_0xA_phys_1", 20),
                      make_bytes_row("luid_0x0_0xB_phys_0", 7)};
  wddm::SegmentSum sum;
  add_up(rows, 0xA, sum);
  CHECK(sum.bytes() == 120U);
  CHECK(!sum.is_incomplete());
  wddm::SegmentSum none;
  add_up(rows, 0xC, none);
  CHECK(!none.bytes());
}

TEST_CASE("an unreadable part makes the sum a lower bound, or unknown if it is the only one") {
  const Row rows[] = {make_bytes_row("luid_0x0_0xA_phys_0", 100),
                      make_bytes_row("luid_0x0_0xA_phys_1", 20, false)};
  wddm::SegmentSum sum;
  add_up(rows, 0xA, sum);
  CHECK(sum.bytes() == 100U);
  CHECK(sum.is_incomplete());
  const Row broken[] = {make_bytes_row("luid_0x0_0xA_phys_0", -5)};
  wddm::SegmentSum none;
  add_up(broken, 0xA, none);
  CHECK(!none.bytes());
  CHECK(none.is_incomplete());
}

TEST_CASE("a sum beyond 64 bits is a lower bound") {
  wddm::SegmentSum sum;
  sum.add(UINT64_MAX);
  sum.add(1);
  CHECK(sum.bytes() == UINT64_MAX);
  CHECK(sum.is_incomplete());
}

TEST_CASE("a process has one row per adapter, over all its parts") {
  const Row committed[] = {make_bytes_row("pid_1_luid_0x0_0xA_phys_0", 50),
                           make_bytes_row("pid_2_luid_0x0_0xA_phys_0", 9),
                           make_bytes_row("pid_1_luid_0x0_0xA_phys_1", 5),
                           make_bytes_row("pid_1_luid_0x0_0xB_phys_0", 1000)};
  const Row resident[] = {make_bytes_row("pid_2_luid_0x0_0xA_phys_0", 4),
                          make_bytes_row("pid_3_luid_0x0_0xA_phys_0", 0)};
  std::vector<wddm::ProcessMemory> all;
  add_up(committed, 0xA, &wddm::ProcessMemory::dedicated_committed, all);
  add_up(resident, 0xA, &wddm::ProcessMemory::dedicated_resident, all);
  REQUIRE(all.size() == 3);
  CHECK(all[0].pid == 1);
  CHECK(all[0].dedicated_committed.bytes() == 55U);
  CHECK(!all[0].dedicated_resident.bytes());
  CHECK(all[1].pid == 2);
  CHECK(all[1].dedicated_committed.bytes() == 9U);
  CHECK(all[1].dedicated_resident.bytes() == 4U);
  CHECK(all[2].pid == 3);
  CHECK(all[2].dedicated_resident.bytes() == 0U);
}

TEST_CASE("an engine's load is the sum of its processes, and a type's that of its busiest engine") {
  const Row rows[] = {
      make_load_row("pid_1_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 30),
      make_load_row("pid_2_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 25),
      make_load_row("pid_1_luid_0x0_0xA_phys_0_eng_1_engtype_3D", 40),
      make_load_row("pid_1_luid_0x0_0xA_phys_0_eng_2_engtype_VideoDecode", 10),
      make_load_row("pid_2_luid_0x0_0xA_phys_0_eng_3_engtype_Copy", 90, false),
      make_load_row("pid_3_luid_0x0_0xB_phys_0_eng_0_engtype_3D", 99),
  };
  wddm::LoadReading loads;
  add_up_loads(rows, 0xA, loads);
  CHECK(loads.adapter.percent[metric_instance::engine::graphics] == 55.0);
  CHECK(loads.adapter.percent[metric_instance::engine::decode] == 10.0);
  CHECK(!loads.adapter.percent[metric_instance::engine::copy]);
  CHECK(loads.adapter.busiest_percent() == 55.0);
  REQUIRE(loads.processes.size() == 2);
  CHECK(loads.processes[0].pid == 1);
  CHECK(loads.processes[0].percent == 40.0);
  CHECK(loads.processes[1].percent == 25.0);
}

TEST_CASE("a load above 100 percent is limited to 100") {
  const Row rows[] = {make_load_row("pid_1_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 70),
                      make_load_row("pid_2_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 70)};
  wddm::LoadReading loads;
  add_up_loads(rows, 0xA, loads);
  CHECK(loads.adapter.busiest_percent() == 100.0);
  wddm::LoadReading none;
  add_up_loads(rows, 0xB, none);
  CHECK(!none.adapter.busiest_percent());
}
