// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include <doctest/doctest.h>

using namespace hmn::tegra;

TEST_CASE("nvmap: clients have PID and size in KiB, and a total follows") {
  const auto clients = parse_nvmap(
      "CLIENT                        PROCESS      PID        SIZE\n"
      "user                             Xorg     1234      12345K\n"
      "user                  gnome shell x11     1300          0K\n"
      "kernel                           nvhost      0         64K\n"
      "total                                                123456K\n");
  REQUIRE(clients.all.size() == 2);
  CHECK(clients.all[0].pid == 1234);
  CHECK(clients.all[0].bytes == 12345 * 1024);
  CHECK(clients.all[1].pid == 1300);
  CHECK(clients.all[1].bytes == 0);
  CHECK(clients.total == 123456 * 1024);
  CHECK_FALSE(clients.is_malformed);
}

TEST_CASE("nvmap: an empty list has no total") {
  CHECK_FALSE(parse_nvmap("").total);
  CHECK(parse_nvmap("total 0K\n").total == 0);
}

TEST_CASE("nvmap: a malformed line is reported") {
  for (const char* const text : {"user Xorg 1234 12345\n", "user Xorg x 1K\n", "1234 1K\n",
                                 "total\n", "total 1M\n", "user X 4294967296 1K\n"}) {
    CAPTURE(text);
    const auto clients = parse_nvmap(text);
    CHECK(clients.is_malformed);
    CHECK(clients.all.empty());
    CHECK_FALSE(clients.total);
  }
}
