// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "support.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t kib = 1024;

}  // namespace

TEST_CASE("without control groups the memory of the host is read from meminfo") {
  const hmn_fake::Tree tree;
  tree.write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  tree.write("proc/meminfo",
             "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\nSwapFree: 40 kB\n"
             "CommitLimit: 550 kB\nCommitted_AS: 700 kB\n");
  SystemMemory memory;
  REQUIRE(make_host(tree)->system(memory));
  CHECK(memory.source == Source::os);
  CHECK(memory.total == 1000 * kib);
  CHECK(memory.available == 400 * kib);
  CHECK(memory.swap_total == 50 * kib);
  CHECK(memory.swap_free == 40 * kib);
  CHECK(memory.commit_limit == 550 * kib);
  CHECK(memory.committed == 700 * kib);
  CHECK_FALSE(memory.limit);
  CHECK_FALSE(memory.limit_used);
  CHECK(memory.notes == 0);
}

TEST_CASE("the stall percentage is read from pressure/memory") {
  const hmn_fake::Tree tree;
  tree.write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  tree.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  SystemMemory memory;
  REQUIRE(make_host(tree)->system(memory));
  CHECK_FALSE(memory.stall_percent);
  CHECK(memory.notes == 0);
  tree.write("proc/pressure/memory",
             "some avg10=12.34 avg60=0.50 avg300=0.00 total=105131\n"
             "full avg10=1.00 avg60=0.00 avg300=0.00 total=98000\n");
  REQUIRE(make_host(tree)->system(memory));
  CHECK(memory.stall_percent == 12.34);
  CHECK_FALSE(memory.pressure);
  CHECK(memory.notes == 0);
  for (const std::string text : {"", "full avg10=1.00\n", "some avg60=1.00\n", "some avg10=1\n",
                                 "some avg10=100.01\n", "some avg10=-1.00\n", "some avg10=1.0x\n",
                                 "some avg10=18446744073709551615.00\n", "some avg10=.50\n"}) {
    CAPTURE(text);
    tree.write("proc/pressure/memory", text);
    REQUIRE(make_host(tree)->system(memory));
    CHECK_FALSE(memory.stall_percent);
    CHECK(memory.notes == note::partial);
  }
  tree.write("proc/pressure/memory", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n");
  REQUIRE(make_host(tree)->system(memory));
  CHECK(memory.stall_percent == 100);
}

TEST_CASE("on kernels before 3.14 available memory is an estimate with a note") {
  const hmn_fake::Tree tree;
  tree.write("proc/meminfo",
             "MemTotal: 9000 kB\nMemFree: 1000 kB\nActive(file): 300 kB\nInactive(file): 500 kB\n"
             "SReclaimable: 100 kB\n");
  tree.write("proc/sys/vm/min_free_kbytes", "48\n");
  SystemMemory memory;
  REQUIRE(make_host(tree)->system(memory));
  // a low watermark of 60 kB: 940 + 740 + 50
  CHECK(memory.available == 1730 * kib);
  CHECK((memory.notes & note::estimated) != 0);
}

TEST_CASE("a malformed MemAvailable is not replaced by an estimate") {
  const hmn_fake::Tree tree;
  tree.write("proc/meminfo",
             "MemTotal: 9000 kB\nMemAvailable: 3 MB\nMemFree: 1000 kB\nActive(file): 300 kB\n"
             "Inactive(file): 500 kB\n");
  SystemMemory memory;
  REQUIRE(make_host(tree)->system(memory));
  CHECK_FALSE(memory.available);
  CHECK((memory.notes & note::estimated) == 0);
  CHECK((memory.notes & note::partial) != 0);
}

TEST_CASE("a missing meminfo and a malformed one are different errors") {
  const hmn_fake::Tree tree;
  SystemMemory memory;
  const auto missing = make_host(tree)->system(memory);
  REQUIRE_FALSE(missing);
  CHECK(missing.failure().code == Status::no_source);
  for (const std::string text : {"", "\n", "MemTotal: 12\n", "MemTotal: 12 kB"}) {
    CAPTURE(text);
    tree.write("proc/meminfo", text);
    const auto result = make_host(tree)->system(memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::backend);
    CHECK(mentions(result.failure(), "meminfo"));
  }
}

TEST_CASE("on the running system total and available memory are read") {
  SystemMemory memory;
  REQUIRE(make_real_host()->system(memory));
  CHECK(*memory.total > 0);
  CHECK(*memory.available <= *memory.total);
  if (memory.limit) CHECK(memory.limit_used);
}
