// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "support.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t kib = 1024;

}  // namespace

TEST_CASE("the host's memory, without control groups") {
  const hmn_fake::Tree tree;
  tree.write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  tree.write("proc/meminfo",
             "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\nSwapFree: 40 kB\n"
             "CommitLimit: 550 kB\nCommitted_AS: 700 kB\n");
  SystemMemory m;
  REQUIRE(host_on(tree)->system(m));
  CHECK(m.from == Source::os);
  CHECK(m.total == 1000 * kib);
  CHECK(m.available == 400 * kib);
  CHECK(m.swap_total == 50 * kib);
  CHECK(m.swap_free == 40 * kib);
  CHECK(m.commit_limit == 550 * kib);
  CHECK(m.committed == 700 * kib);
  CHECK_FALSE(m.limit);
  CHECK_FALSE(m.limit_used);
  CHECK(m.notes == 0);
}

TEST_CASE("the share of time in which tasks waited for memory") {
  const hmn_fake::Tree tree;
  tree.write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  tree.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  SystemMemory m;
  REQUIRE(host_on(tree)->system(m));
  CHECK_FALSE(m.stall_percent);
  CHECK(m.notes == 0);
  tree.write("proc/pressure/memory",
             "some avg10=12.34 avg60=0.50 avg300=0.00 total=105131\n"
             "full avg10=1.00 avg60=0.00 avg300=0.00 total=98000\n");
  REQUIRE(host_on(tree)->system(m));
  CHECK(m.stall_percent == 12.34);
  CHECK_FALSE(m.pressure);
  CHECK(m.notes == 0);
  for (const std::string text : {"", "full avg10=1.00\n", "some avg60=1.00\n", "some avg10=1\n",
                                 "some avg10=100.01\n", "some avg10=-1.00\n", "some avg10=1.0x\n",
                                 "some avg10=18446744073709551615.00\n", "some avg10=.50\n"}) {
    CAPTURE(text);
    tree.write("proc/pressure/memory", text);
    REQUIRE(host_on(tree)->system(m));
    CHECK_FALSE(m.stall_percent);
    CHECK(m.notes == note::partial);
  }
  tree.write("proc/pressure/memory", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n");
  REQUIRE(host_on(tree)->system(m));
  CHECK(m.stall_percent == 100);
}

TEST_CASE("on a kernel before 3.14 available is an estimate, and says so") {
  const hmn_fake::Tree tree;
  tree.write("proc/meminfo",
             "MemTotal: 9000 kB\nMemFree: 1000 kB\nActive(file): 300 kB\nInactive(file): 500 kB\n"
             "SReclaimable: 100 kB\n");
  tree.write("proc/sys/vm/min_free_kbytes", "48\n");
  SystemMemory m;
  REQUIRE(host_on(tree)->system(m));
  // a low watermark of 60 kB: 940 + 740 + 50
  CHECK(m.available == 1730 * kib);
  CHECK((m.notes & note::estimated) != 0);
}

TEST_CASE("an available that makes no sense is not estimated away") {
  const hmn_fake::Tree tree;
  tree.write("proc/meminfo",
             "MemTotal: 9000 kB\nMemAvailable: 3 MB\nMemFree: 1000 kB\nActive(file): 300 kB\n"
             "Inactive(file): 500 kB\n");
  SystemMemory m;
  REQUIRE(host_on(tree)->system(m));
  CHECK_FALSE(m.available);
  CHECK((m.notes & note::estimated) == 0);
  CHECK((m.notes & note::partial) != 0);
}

TEST_CASE("no meminfo, and one that makes no sense") {
  const hmn_fake::Tree tree;
  SystemMemory m;
  const auto none = host_on(tree)->system(m);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::no_source);
  for (const std::string text : {"", "\n", "MemTotal: 12\n", "MemTotal: 12 kB"}) {
    CAPTURE(text);
    tree.write("proc/meminfo", text);
    const auto r = host_on(tree)->system(m);
    REQUIRE_FALSE(r);
    CHECK(r.why().code == Status::backend);
    CHECK(mentions(r.why(), "meminfo"));
  }
}

TEST_CASE("the running system") {
  SystemMemory m;
  REQUIRE(host_here()->system(m));
  CHECK(*m.total > 0);
  CHECK(*m.available <= *m.total);
  if (m.limit) CHECK(m.limit_used);
}
