// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/query.hpp"

#include <doctest/doctest.h>

#include "model/metric.hpp"

using namespace hmn;
using namespace hmn::pdh;

namespace {

Row bytes(const char* name, std::int64_t whole, bool is_valid = true) {
  return {*parse_instance(name), is_valid, whole, 0};
}

Row load(const char* name, double percent, bool is_valid = true) {
  return {*parse_instance(name), is_valid, 0, percent};
}

}  // namespace

TEST_CASE("parts of one adapter are added up, another's are not") {
  const Row rows[] = {bytes("luid_0x0_0xA_phys_0", 100), bytes("luid_0x0_0xA_phys_1", 20),
                      bytes("luid_0x0_0xB_phys_0", 7)};
  wddm::SegmentSum sum;
  add_up(rows, 0xA, sum);
  CHECK(sum.bytes() == 120U);
  CHECK(!sum.lacks_a_part());
  wddm::SegmentSum none;
  add_up(rows, 0xC, none);
  CHECK(!none.bytes());
}

TEST_CASE("a part that cannot be read makes a lower bound, and alone no figure") {
  const Row rows[] = {bytes("luid_0x0_0xA_phys_0", 100), bytes("luid_0x0_0xA_phys_1", 20, false)};
  wddm::SegmentSum sum;
  add_up(rows, 0xA, sum);
  CHECK(sum.bytes() == 100U);
  CHECK(sum.lacks_a_part());
  const Row broken[] = {bytes("luid_0x0_0xA_phys_0", -5)};
  wddm::SegmentSum none;
  add_up(broken, 0xA, none);
  CHECK(!none.bytes());
  CHECK(none.lacks_a_part());
}

TEST_CASE("a sum that does not fit is a lower bound") {
  wddm::SegmentSum sum;
  sum.add(UINT64_MAX);
  sum.add(1);
  CHECK(sum.bytes() == UINT64_MAX);
  CHECK(sum.lacks_a_part());
}

TEST_CASE("each process has one row for an adapter, of all its parts") {
  const Row committed[] = {
      bytes("pid_1_luid_0x0_0xA_phys_0", 50), bytes("pid_2_luid_0x0_0xA_phys_0", 9),
      bytes("pid_1_luid_0x0_0xA_phys_1", 5), bytes("pid_1_luid_0x0_0xB_phys_0", 1000)};
  const Row resident[] = {bytes("pid_2_luid_0x0_0xA_phys_0", 4),
                          bytes("pid_3_luid_0x0_0xA_phys_0", 0)};
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

TEST_CASE("an engine is as busy as its processes together, a kind as its busiest engine") {
  const Row rows[] = {
      load("pid_1_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 30),
      load("pid_2_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 25),
      load("pid_1_luid_0x0_0xA_phys_0_eng_1_engtype_3D", 40),
      load("pid_1_luid_0x0_0xA_phys_0_eng_2_engtype_VideoDecode", 10),
      load("pid_2_luid_0x0_0xA_phys_0_eng_3_engtype_Copy", 90, false),
      load("pid_3_luid_0x0_0xB_phys_0_eng_0_engtype_3D", 99),
  };
  wddm::Loads out;
  add_up_loads(rows, 0xA, out);
  CHECK(out.adapter.percent[which::engine::graphics] == 55.0);
  CHECK(out.adapter.percent[which::engine::decode] == 10.0);
  CHECK(!out.adapter.percent[which::engine::copy]);
  CHECK(out.adapter.busiest() == 55.0);
  REQUIRE(out.processes.size() == 2);
  CHECK(out.processes[0].pid == 1);
  CHECK(out.processes[0].percent == 40.0);
  CHECK(out.processes[1].percent == 25.0);
}

TEST_CASE("more than all of an engine is all of it") {
  const Row rows[] = {load("pid_1_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 70),
                      load("pid_2_luid_0x0_0xA_phys_0_eng_0_engtype_3D", 70)};
  wddm::Loads out;
  add_up_loads(rows, 0xA, out);
  CHECK(out.adapter.busiest() == 100.0);
  wddm::Loads none;
  add_up_loads(rows, 0xB, none);
  CHECK(!none.adapter.busiest());
}
