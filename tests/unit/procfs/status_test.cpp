// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The lines of the Rust predecessor's tests are among these; where the result differs the list in
// docs/backends/os.md explains why.
#include "procfs/process.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

using Pids = std::vector<std::uint32_t>;

TEST_CASE("status: VmRSS is read among other lines") {
  CHECK(parse_status("Name:\tcargo\nVmRSS:\t   12345 kB\nThreads:\t1\n").vm_rss.value() ==
        12'641'280);
  CHECK(parse_status("VmRSS:\t       0 kB\n").vm_rss.value() == 0);
  CHECK(
      parse_status("Name:\tcargo\nVmPeak:\t    8192 kB\nVmSize:\t    8192 kB\nVmLck:\t       0 kB\n"
                   "VmRSS:\t    4096 kB\n")
          .vm_rss.value() == 4'194'304);
}

TEST_CASE("status: an absent VmRSS line is reported as missing") {
  CHECK(parse_status("Name:\tcargo\nThreads:\t1\n").vm_rss.state == Amount::State::missing);
}

TEST_CASE("status: a VmRSS that is not a number is malformed") {
  CHECK(parse_status("VmRSS:\tnot_a_number kB\n").vm_rss.state == Amount::State::malformed);
}

TEST_CASE("status: a unit is read, never assumed") {
  CHECK(parse_status("VmRSS:\t   42\n").vm_rss.state == Amount::State::malformed);
  CHECK(parse_status("VmRSS: 12 kB kB\n").vm_rss.state == Amount::State::malformed);
  CHECK(parse_status(" VmRSS: 7 kB\n").vm_rss.state == Amount::State::missing);
  CHECK(parse_status("VmRSS:7kB\n").vm_rss.state == Amount::State::malformed);
  CHECK(parse_status("VmRSS: 1 kB\nVmRSS: 2 kB\n").vm_rss.value() == 1024);
}

TEST_CASE("status: VmSize, VmHWM and VmSwap are read") {
  const StatusMemory memory = parse_status("VmSize:\t 10 kB\nVmHWM:\t 20 kB\nVmSwap:\t 30 kB\n");
  CHECK(memory.vm_size.value() == 10240);
  CHECK(memory.vm_hwm.value() == 20480);
  CHECK(memory.vm_swap.value() == 30720);
  CHECK_FALSE(memory.vm_rss.value());
}

TEST_CASE("smaps_rollup: the proportional and the private set are read") {
  const SmapsRollup rollup = parse_smaps_rollup(
      "00100000-ff709000 ---p 00000000 00:00 0    [rollup]\n"
      "Rss:                 884 kB\nPss:                 385 kB\nPss_Anon:            301 kB\n"
      "Private_Clean:       120 kB\nPrivate_Dirty:        68 kB\nPrivate_Hugetlb:    2048 kB\n");
  CHECK(rollup.pss.value() == 385 * 1024);
  CHECK(rollup.unique().value() == 188 * 1024);
}

TEST_CASE("smaps_rollup: a private set with a missing or malformed part has no value") {
  CHECK(parse_smaps_rollup("Private_Clean: 1 kB\n").unique().state == Amount::State::missing);
  CHECK(parse_smaps_rollup("Private_Dirty: 1 kB\n").unique().state == Amount::State::missing);
  CHECK(parse_smaps_rollup("Private_Clean: 1 MB\nPrivate_Dirty: 1 kB\n").unique().state ==
        Amount::State::malformed);
  CHECK(parse_smaps_rollup("Private_Clean: 18014398509481983 kB\nPrivate_Dirty: 1 kB\n")
            .unique()
            .state == Amount::State::malformed);
}

TEST_CASE("status: the pid in each namespace is read, outermost first") {
  CHECK(parse_namespace_pids("Name:\tx\nNStgid:\t9\t1\nNSpid:\t26235\t1\nNSpgid:\t8\t1\n") ==
        Pids{26235, 1});
  CHECK(parse_namespace_pids("NSpid:  2578 24 25\n") == Pids{2578, 24, 25});
  CHECK(parse_namespace_pids("NSpid:\t7") == Pids{7});
}

TEST_CASE("status: an absent or malformed NSpid line gives no pids") {
  CHECK(parse_namespace_pids("Name:\tx\n").empty());
  CHECK(parse_namespace_pids("").empty());
  CHECK(parse_namespace_pids("NSpid:\n").empty());
  CHECK(parse_namespace_pids("NSpid:\t12x\t1\n").empty());
  CHECK(parse_namespace_pids("NSpid:\t4294967296\n").empty());
  CHECK(parse_namespace_pids("Name:\tNSpid:\t7\n").empty());
}

TEST_CASE("status: effective capabilities are read as hexadecimal digits") {
  CHECK(parse_effective_capabilities("CapPrm:\t1\nCapEff:\t000001ffffffffff\n") ==
        0x1ffffffffffULL);
  for (const char* text : {"", "CapEff:\n", "CapEff:\tx\n", "CapPrm:\t1\n"})
    CHECK(parse_effective_capabilities(text) == 0);
}
