// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;
using Version = CgroupMembership::Version;

TEST_CASE("cgroup v2: the membership is the path of the 0:: line") {
  const auto membership = parse_cgroup_membership("0::/user.slice/a b.scope\n");
  CHECK(membership.version == Version::v2);
  CHECK(membership.path == "/user.slice/a b.scope");
}

TEST_CASE("cgroup: on a hybrid machine the hierarchy with the memory controller counts") {
  const auto v1 = parse_cgroup_membership("0::/v2\n5:cpu,cpuacct:/cpu\n4:memory,hugetlb:/v1\n");
  CHECK(v1.version == Version::v1);
  CHECK(v1.path == "/v1");
  const auto v2 = parse_cgroup_membership("2:freezer:/x\n1:name=memory:/y\n0::/v2\n");
  CHECK(v2.version == Version::v2);
  CHECK(v2.path == "/v2");
}

TEST_CASE("cgroup: a path may contain colons, and a line without a line end counts") {
  const auto membership = parse_cgroup_membership("0::/a:b:c");
  CHECK(membership.path == "/a:b:c");
}

TEST_CASE("cgroup: invalid text gives no membership") {
  for (const char* text : {"", "\n", "0::", "0::relative\n", "x::/a\n", "1:cpu:/a\n", "::/\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_membership(text).version == Version::none);
  }
}

TEST_CASE("cgroup: a malformed membership line is noted") {
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

TEST_CASE("cgroup: limits are numbers, max or the unlimited values of v1") {
  using State = CgroupLimit::State;
  CHECK(parse_cgroup_limit("268435456\n").bytes == 268435456);
  CHECK(parse_cgroup_limit("0\n").state == State::limited);
  CHECK(parse_cgroup_limit("max\n").state == State::unlimited);
  // PAGE_COUNTER_MAX with pages of 4, 16 and 64 KiB; RESOURCE_MAX before 3.19
  for (const char* text :
       {"9223372036854771712\n", "9223372036854759424\n", "9223372036854710272\n",
        "9223372036854775807\n", "18446744073709551615\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_limit(text).state == State::unlimited);
  }
  CHECK(parse_cgroup_limit("9223372036854710271\n").state == State::limited);
  for (const char* text : {"", "\n", "-1\n", "12 kB\n", "maximum\n", "18446744073709551616\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_limit(text).state == State::malformed);
  }
}

TEST_CASE("cgroup: usage and the hierarchical limit are read") {
  CHECK(parse_cgroup_usage("9125888\n") == 9125888);
  CHECK_FALSE(parse_cgroup_usage("max\n"));
  CHECK(parse_cgroup_hierarchical_limit("cache 1\nhierarchical_memory_limit 1048576\n").bytes ==
        1048576);
  CHECK(parse_cgroup_hierarchical_limit("hierarchical_memsw_limit 5\n").state ==
        CgroupLimit::State::malformed);
}

TEST_CASE("cgroup: reclaimable cache is file cache that is neither mapped nor dirty") {
  const auto free_cache = [](const char* text) {
    return parse_cgroup_reclaimable_cache(text, Version::v2);
  };
  const std::string lists = "anon 9\nfile 9000\nshmem 5000\ninactive_file 1000\nactive_file 500\n";
  CHECK(free_cache(lists.c_str()) == 1500);
  CHECK(free_cache((lists + "unevictable 800\nslab_reclaimable 700\n").c_str()) == 1500);
  // Mapped pages may be those of shared memory: no more than the active list is taken off.
  CHECK(free_cache((lists + "file_mapped 100\n").c_str()) == 1400);
  CHECK(free_cache((lists + "file_mapped 5000\n").c_str()) == 1000);
  CHECK(free_cache((lists + "file_dirty 300\nfile_writeback 200\n").c_str()) == 1000);
  CHECK(free_cache((lists + "file_mapped 400\nfile_dirty 1000\nfile_writeback 200").c_str()) == 0);
  CHECK(free_cache("inactive_file 1000\n") == 1000);
  for (const char* text :
       {"", "anon 1000\n", "inactive_file\n", "inactive_file 1000 kB\n", "inactive_file -1\n",
        "inactive_file 1000\nfile_dirty much\n",
        "inactive_file 18446744073709551615\nactive_file 1\n",
        "inactive_file 1000\nfile_dirty 18446744073709551615\nfile_writeback 1\n"}) {
    CAPTURE(text);
    CHECK(free_cache(text) == 0);
  }
}

TEST_CASE("cgroup v1: cache includes that of the groups below") {
  const char* const text =
      "inactive_file 1\nactive_file 2\nmapped_file 3\ntotal_inactive_file 1000\n"
      "total_active_file 500\ntotal_mapped_file 100\ntotal_dirty 20\ntotal_writeback 3\n";
  CHECK(parse_cgroup_reclaimable_cache(text, Version::v1) == 1377);
  CHECK(parse_cgroup_reclaimable_cache(text, Version::v2) == 3);
}

TEST_CASE("cgroup: the line of v2 is found among those of v1") {
  CHECK(parse_v2_membership("0::/a/b\n").path == "/a/b");
  CHECK(parse_v2_membership("4:memory:/x\n1:name=systemd:/\n0::/\n").path == "/");
  CHECK(parse_v2_membership("4:memory:/x\n").path.empty());
  CHECK(parse_v2_membership("").version == Version::none);
}

TEST_CASE("cgroup: members are listed, with 0 for a process of another PID namespace") {
  CHECK(parse_group_pids("12\n0\n7\n") == std::vector<std::uint32_t>{12, 0, 7});
  CHECK(parse_group_pids("").empty());
}

TEST_CASE("dmem: the video memory of a device is the sum of its regions") {
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
