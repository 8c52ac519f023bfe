// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;
using Version = CgroupMembership::Version;

TEST_CASE("a process of the unified hierarchy") {
  const auto m = parse_cgroup_membership("0::/user.slice/a b.scope\n");
  CHECK(m.hierarchy == Version::v2);
  CHECK(m.path == "/user.slice/a b.scope");
}

TEST_CASE("on a hybrid machine the hierarchy that has the memory controller counts") {
  const auto v1 = parse_cgroup_membership("0::/v2\n5:cpu,cpuacct:/cpu\n4:memory,hugetlb:/v1\n");
  CHECK(v1.hierarchy == Version::v1);
  CHECK(v1.path == "/v1");
  const auto v2 = parse_cgroup_membership("2:freezer:/x\n1:name=memory:/y\n0::/v2\n");
  CHECK(v2.hierarchy == Version::v2);
  CHECK(v2.path == "/v2");
}

TEST_CASE("a path may hold colons, and a line without its end counts") {
  const auto m = parse_cgroup_membership("0::/a:b:c");
  CHECK(m.path == "/a:b:c");
}

TEST_CASE("no membership in nonsense") {
  for (const char* text : {"", "\n", "0::", "0::relative\n", "x::/a\n", "1:cpu:/a\n", "::/\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_membership(text).hierarchy == Version::none);
  }
}

TEST_CASE("membership: a line that is not understood is noted") {
  for (const char* text : {"0::/a\n", "0::/a", "1:cpu:/a\n", "3:name=x:/\n0::/a:b\n", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cgroup_membership(text).is_malformed);
  }
  for (const char* text : {"garbage", "\n", "4:memory\n0::/a\n", "0::relative\n", "x::/a\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_membership(text).is_malformed);
  }
  CHECK(parse_cgroup_membership("4:memory\n0::/a\n").path == "/a");
}

TEST_CASE("limits: numbers, max, and the unlimited values of v1") {
  using Is = CgroupLimit::Is;
  CHECK(parse_cgroup_limit("268435456\n").bytes == 268435456);
  CHECK(parse_cgroup_limit("0\n").what == Is::known);
  CHECK(parse_cgroup_limit("max\n").what == Is::unlimited);
  // PAGE_COUNTER_MAX with pages of 4, 16 and 64 KiB; RESOURCE_MAX before 3.19
  for (const char* text :
       {"9223372036854771712\n", "9223372036854759424\n", "9223372036854710272\n",
        "9223372036854775807\n", "18446744073709551615\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_limit(text).what == Is::unlimited);
  }
  CHECK(parse_cgroup_limit("9223372036854710271\n").what == Is::known);
  for (const char* text : {"", "\n", "-1\n", "12 kB\n", "maximum\n", "18446744073709551616\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_limit(text).what == Is::malformed);
  }
}

TEST_CASE("usage and the hierarchical limit") {
  CHECK(parse_cgroup_usage("9125888\n") == 9125888);
  CHECK_FALSE(parse_cgroup_usage("max\n"));
  CHECK(parse_cgroup_hierarchical_limit("cache 1\nhierarchical_memory_limit 1048576\n").bytes ==
        1048576);
  CHECK(parse_cgroup_hierarchical_limit("hierarchical_memsw_limit 5\n").what ==
        CgroupLimit::Is::malformed);
}

TEST_CASE("cache that the kernel gives back: what is neither mapped nor dirty") {
  const auto free_of = [](const char* text) { return parse_cgroup_free_cache(text, Version::v2); };
  const std::string lists = "anon 9\nfile 9000\nshmem 5000\ninactive_file 1000\nactive_file 500\n";
  CHECK(free_of(lists.c_str()) == 1500);
  CHECK(free_of((lists + "unevictable 800\nslab_reclaimable 700\n").c_str()) == 1500);
  // Mapped pages may be those of shared memory: no more than the active list is taken off.
  CHECK(free_of((lists + "file_mapped 100\n").c_str()) == 1400);
  CHECK(free_of((lists + "file_mapped 5000\n").c_str()) == 1000);
  CHECK(free_of((lists + "file_dirty 300\nfile_writeback 200\n").c_str()) == 1000);
  CHECK(free_of((lists + "file_mapped 400\nfile_dirty 1000\nfile_writeback 200").c_str()) == 0);
  CHECK(free_of("inactive_file 1000\n") == 1000);
  for (const char* text :
       {"", "anon 1000\n", "inactive_file\n", "inactive_file 1000 kB\n", "inactive_file -1\n",
        "inactive_file 1000\nfile_dirty much\n",
        "inactive_file 18446744073709551615\nactive_file 1\n",
        "inactive_file 1000\nfile_dirty 18446744073709551615\nfile_writeback 1\n"}) {
    CAPTURE(text);
    CHECK(free_of(text) == 0);
  }
}

TEST_CASE("cache of version 1 is counted with that of the groups below") {
  const char* const text =
      "inactive_file 1\nactive_file 2\nmapped_file 3\ntotal_inactive_file 1000\n"
      "total_active_file 500\ntotal_mapped_file 100\ntotal_dirty 20\ntotal_writeback 3\n";
  CHECK(parse_cgroup_free_cache(text, Version::v1) == 1377);
  CHECK(parse_cgroup_free_cache(text, Version::v2) == 3);
}

TEST_CASE("the line of version 2 among those of version 1") {
  CHECK(parse_v2_membership("0::/a/b\n").path == "/a/b");
  CHECK(parse_v2_membership("4:memory:/x\n1:name=systemd:/\n0::/\n").path == "/");
  CHECK(parse_v2_membership("4:memory:/x\n").path.empty());
  CHECK(parse_v2_membership("").hierarchy == Version::none);
}

TEST_CASE("members of a group: 0 is of another PID namespace") {
  CHECK(parse_group_members("12\n0\n7\n") == std::vector<std::uint32_t>{12, 0, 7});
  CHECK(parse_group_members("").empty());
}

TEST_CASE("video memory of a device is the sum of its regions") {
  constexpr std::string_view text =
      "drm/0000:03:00.0/vram0 100\ndrm/0000:03:00.0/stolen 7\ndrm/0000:03:00.0/vram1 20\n"
      "drm/0000:04:00.0/vram0 0\ndrm/0000:05:00.0/vram0 max\nother/0000:03:00.0/vram0 5\n";
  CHECK(parse_video_memory(text, "00000000:03:00.0").bytes == 120u);
  CHECK(parse_video_memory(text, "0000:03:00.0").regions == 2);
  CHECK(parse_video_memory(text, "0000:04:00.0").bytes == 0u);
  CHECK_FALSE(parse_video_memory(text, "0000:05:00.0").bytes);
  CHECK_FALSE(parse_video_memory(text, "0000:06:00.0").bytes);
  CHECK_FALSE(parse_video_memory(text, "").bytes);
}
