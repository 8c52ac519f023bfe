// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

TEST_CASE("a mount line is read with and without optional fields") {
  const auto v2 =
      parse_mount("31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 master:4 - cgroup2 c rw");
  REQUIRE(v2);
  CHECK(v2->root == "/");
  CHECK(v2->point == "/sys/fs/cgroup");
  CHECK(v2->is_cgroup_v2());
  CHECK_FALSE(v2->is_cgroup_v1_memory());
  const auto v1 =
      parse_mount("35 31 0:32 /docker/a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
  REQUIRE(v1);
  CHECK(v1->root == "/docker/a");
  CHECK(v1->is_cgroup_v1_memory());
  CHECK_FALSE(v1->is_cgroup_v2());
}

TEST_CASE("a mount of another v1 controller is not the memory controller") {
  CHECK_FALSE(parse_mount("1 2 0:3 / /a rw - cgroup cgroup rw,cpu")->is_cgroup_v1_memory());
  CHECK_FALSE(parse_mount("1 2 0:3 / /a rw - tmpfs memory rw,memory")->is_cgroup_v1_memory());
  CHECK_FALSE(parse_mount("1 2 0:3 / /a rw - cgroup cgroup rw,name=memory")->is_cgroup_v1_memory());
}

TEST_CASE("an incomplete mount line is refused") {
  for (const char* line : {"", "1 2 0:3", "1 2 0:3 / /a rw", "1 2 0:3 / /a rw shared:1",
                           "1 2 0:3 / /a rw -", "1 2 0:3 relative /a rw - ext4 b rw"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_mount(line));
  }
}

TEST_CASE("escaped blanks and backslashes are decoded") {
  CHECK(unescape_mount("/a\\040b\\011c\\134d") == "/a b\tc\\d");
  CHECK(unescape_mount("\\04") == "\\04");
  CHECK(unescape_mount("\\999") == "\\999");
  CHECK(unescape_mount("\\400") == "\\400");
}

TEST_CASE("the path of a group below a mount is found") {
  CHECK(locate_below_mount("/", "/a/b") == "/a/b");
  CHECK(locate_below_mount("/", "/") == "");
  CHECK(locate_below_mount("/docker/x", "/docker/x") == "");
  CHECK(locate_below_mount("/docker/x", "/docker/x/y") == "/y");
  CHECK(locate_below_mount("/..", "/../other") == "/other");
}

TEST_CASE("a group outside the root of a mount has no path below it") {
  CHECK_FALSE(locate_below_mount("/docker/x", "/docker/xy"));
  CHECK_FALSE(locate_below_mount("/docker/x", "/"));
  CHECK_FALSE(locate_below_mount("/../..", "/"));
  CHECK_FALSE(locate_below_mount("/", "/../other"));
  CHECK_FALSE(locate_below_mount("/..", "/../../other"));
}

TEST_CASE("only a mount of the whole v2 hierarchy is found") {
  CHECK(find_cgroup_v2_mount(
            "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n") ==
        "/sys/fs/cgroup");
  CHECK(find_cgroup_v2_mount("20 1 0:1 / /proc rw - proc proc rw\n"
                             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n") ==
        "/sys/fs/cgroup/unified");
  CHECK_FALSE(
      find_cgroup_v2_mount("29 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"));
  CHECK_FALSE(find_cgroup_v2_mount("29 23 0:26 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n"));
  CHECK_FALSE(find_cgroup_v2_mount("29 - cgroup2\n - cgroup2\n\n"));
}
