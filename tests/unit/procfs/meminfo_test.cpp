// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

TEST_CASE("meminfo: totals, swap and commit values are read") {
  const Meminfo meminfo = parse_meminfo(
      "MemTotal:       24684096 kB\nMemFree:        20000000 kB\nMemAvailable:   22000000 kB\n"
      "SwapTotal:       1024 kB\nSwapFree:         512 kB\nCommitLimit:    12342048 kB\n"
      "Committed_AS:     77004 kB\nHugePages_Total:       0\n");
  CHECK(meminfo.total.value() == 24684096ULL * 1024);
  CHECK(meminfo.available.value() == 22000000ULL * 1024);
  CHECK(meminfo.swap_total.value() == 1024 * 1024);
  CHECK(meminfo.swap_free.value() == 512 * 1024);
  CHECK(meminfo.commit_limit.value() == 12342048ULL * 1024);
  CHECK(meminfo.committed.value() == 77004 * 1024);
}

// The values of the kernel's own formula, worked out by hand for a kernel of 3.10.
TEST_CASE("meminfo: available memory is estimated if the kernel does not print it") {
  const Meminfo meminfo = parse_meminfo(
      "MemTotal: 4000 kB\nMemFree: 1000 kB\nActive(file): 300 kB\nInactive(file): 500 kB\n"
      "SReclaimable: 100 kB\n");
  CHECK(meminfo.available.state == Amount::State::missing);
  CHECK(meminfo.estimate_available(0) == 1900 * 1024);
  // 1000 - 60 of free, 800 - 60 of the cache, 100 - 50 of the slab
  CHECK(meminfo.estimate_available(60 * 1024) == 1730 * 1024);
  // nothing of free, half of the cache, half of the slab
  CHECK(meminfo.estimate_available(5000 * 1024) == 450 * 1024);
}

TEST_CASE("meminfo: nothing is estimated without the values that the kernel uses") {
  CHECK_FALSE(parse_meminfo("MemFree: 1000 kB\n").estimate_available(0));
  CHECK_FALSE(parse_meminfo("Active(file): 1 kB\nInactive(file): 1 kB\n").estimate_available(0));
}

TEST_CASE("meminfo: an estimate beyond 64 bits is dropped") {
  const Meminfo meminfo = parse_meminfo(
      "MemFree: 18014398509481983 kB\nActive(file): 1000 kB\nInactive(file): 1000 kB\n");
  CHECK_FALSE(meminfo.estimate_available(0));
}

TEST_CASE("the memory stall percentage is the avg10 of the line some") {
  CHECK(parse_stall("some avg10=12.34 avg60=0.50 avg300=0.00 total=105131\nfull avg10=1.00\n") ==
        12.34);
  CHECK(parse_stall("some avg10=100.00 avg60=0.00\n") == 100);
  for (const char* text :
       {"", "full avg10=1.00\n", "some avg60=1.00\n", "some avg10=1\n", "some avg10=100.01\n",
        "some avg10=-1.00\n", "some avg10=1.0x\n", "some avg10=.50\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_stall(text));
  }
}

TEST_CASE("zfs: the cache above its minimum is reclaimable") {
  const char* const head = "13 1 0x01 147 39984 5312190528 1842738373\nname type data\n";
  const auto parse_lines = [&](const char* lines) {
    return parse_zfs_cache(std::string(head) + lines);
  };
  CHECK(
      parse_lines("hits 4 99\nc 4 7000\nc_min 4 1000\nc_max 4 9000\nsize 4 5000\nhdr_size 4 3\n") ==
      4000);
  CHECK(parse_lines("c_min                           4    1000\nsize                            4  "
                    "  900\n") == 0);
  CHECK_FALSE(parse_lines("size 4 5000\n"));
  CHECK_FALSE(parse_lines("c_min 4 1000\nsize 4 -1\n"));
  CHECK_FALSE(parse_zfs_cache(""));
}
