// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include <doctest/doctest.h>

using namespace hmn::tegra;

TEST_CASE("clients with their pids, sizes in KiB, and the total") {
  const auto found = parse_nvmap(
      "CLIENT                        PROCESS      PID        SIZE\n"
      "user                             Xorg     1234      12345K\n"
      "user                  gnome shell x11     1300          0K\n"
      "kernel                           nvhost      0         64K\n"
      "total                                                123456K\n");
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[0].pid == 1234);
  CHECK(found.all[0].bytes == 12345 * 1024);
  CHECK(found.all[1].pid == 1300);
  CHECK(found.all[1].bytes == 0);
  CHECK(found.total == 123456 * 1024);
  CHECK_FALSE(found.is_odd);
}

TEST_CASE("an empty list has a total of nothing known") {
  CHECK_FALSE(parse_nvmap("").total);
  CHECK(parse_nvmap("total 0K\n").total == 0);
}

TEST_CASE("a line that is none of these is told") {
  for (const char* const text : {"user Xorg 1234 12345\n", "user Xorg x 1K\n", "1234 1K\n",
                                 "total\n", "total 1M\n", "user X 4294967296 1K\n"}) {
    CAPTURE(text);
    const auto found = parse_nvmap(text);
    CHECK(found.is_odd);
    CHECK(found.all.empty());
    CHECK_FALSE(found.total);
  }
}
