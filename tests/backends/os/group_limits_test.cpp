// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The limit that really applies: nested groups, containers' mounts, both versions.
#include "backends/os/linux/group_limits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support.hpp"

using hmn::os::GroupLimits;
using hmn::os::MemoryLimit;

namespace {

constexpr const char* unlimited_v1 = "9223372036854771712";

class Machine {
 public:
  void member(const std::string& text) const { tree_.write("proc/self/cgroup", text); }
  void mount(const std::string& root, const std::string& point, bool v2 = true) {
    mounts_.push_back({.root = root,
                       .point = tree_.path(point),
                       .type = v2 ? "cgroup2" : "cgroup",
                       .source = "cgroup",
                       .super_options = v2 ? "rw" : "rw,memory"});
    tree_.directory(point);
    hmn_fake::set_mountinfo(tree_, "self", mounts_);
  }
  void v2(const std::string& folder, const std::string& max, const std::string& current) const {
    tree_.write(folder + "/memory.max", max + "\n");
    tree_.write(folder + "/memory.current", current + "\n");
  }
  void v1(const std::string& folder, const std::string& limit, const std::string& usage,
          const char* hierarchy = "1\n") const {
    tree_.write(folder + "/memory.limit_in_bytes", limit + "\n");
    tree_.write(folder + "/memory.usage_in_bytes", usage + "\n");
    tree_.write(folder + "/memory.use_hierarchy", hierarchy);
  }
  void stat(const std::string& folder, const std::string& text) const {
    tree_.write(folder + "/memory.stat", text);
  }
  [[nodiscard]] MemoryLimit find(const std::string& cgroup_root = {}) const {
    return GroupLimits(tree_.proc(), cgroup_root.empty() ? "" : tree_.path(cgroup_root)).read();
  }
  [[nodiscard]] GroupLimits open() const { return {tree_.proc(), ""}; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  hmn_fake::Tree tree_;
  std::vector<hmn_fake::Mount> mounts_;
};

void check(const MemoryLimit& m, std::uint64_t bytes, std::uint64_t used) {
  CHECK(m.bytes == bytes);
  CHECK(m.used == used);
  CHECK_FALSE(m.is_partial);
}

void check_none(const MemoryLimit& m) {
  CHECK_FALSE(m.bytes);
  CHECK_FALSE(m.used);
  CHECK_FALSE(m.is_partial);
}

}  // namespace

TEST_CASE("v2: the limit of the own group") {
  Machine m;
  m.member("0::/a/b\n");
  m.mount("/", "cg");
  m.v2("cg/a/b", "1000", "10");
  m.v2("cg/a", "max", "20");
  check(m.find(), 1000, 10);
}

TEST_CASE("v2: the tightest of nested groups, with that group's use") {
  Machine m;
  m.member("0::/a/b/c\n");
  m.mount("/", "cg");
  m.v2("cg/a/b/c", "3000", "30");
  m.v2("cg/a/b", "1000", "40");
  m.v2("cg/a", "2000", "50");
  check(m.find(), 1000, 40);
}

TEST_CASE("v2: of equal limits the outer one is fuller") {
  Machine m;
  m.member("0::/a/b\n");
  m.mount("/", "cg");
  m.v2("cg/a/b", "1000", "10");
  m.v2("cg/a", "1000", "900");
  check(m.find(), 1000, 900);
}

TEST_CASE("cache that the kernel gives back is left, what it does not is not") {
  Machine m;
  m.member("0::/a\n");
  m.mount("/", "cg");
  m.v2("cg/a", "2800", "2600");
  CHECK(m.find().left == 200);
  m.stat("cg/a", "inactive_file 1000\nactive_file 1500\n");
  const MemoryLimit found = m.find();
  check(found, 2800, 2600);  // charged is what it is
  CHECK(found.left == 2700);
  m.stat("cg/a", "inactive_file 200\nactive_file 2300\nfile_mapped 300\nfile_dirty 1900\n");
  CHECK(m.find().left == 500);
  m.stat("cg/a", "inactive_file 9000\nactive_file 9000\n");  // no more than is charged
  CHECK(m.find().left == 2800);
  m.stat("cg/a", "inactive_file many\n");
  CHECK(m.find().left == 200);
  m.tree().directory("cg/b/memory.stat");  // which cannot be read
  m.v2("cg/b", "2800", "2600");
  m.member("0::/b\n");
  CHECK(m.find().left == 200);
  CHECK(m.find().is_partial);
  m.member("0::/a\n");
  m.v2("cg/a", "2800", "many");
  CHECK(m.find().left == 2800);
  m.v2("cg/a", "max", "2600");
  CHECK_FALSE(m.find().left);
}

TEST_CASE("the group with the least left counts, whichever limit is the lowest") {
  Machine m;
  m.member("0::/a/b/c\n");
  m.mount("/", "cg");
  m.v2("cg/a/b/c", "1000", "100");
  m.v2("cg/a/b", "max", "2900");
  m.v2("cg/a", "3000", "2900");
  MemoryLimit found = m.find();
  check(found, 1000, 100);
  CHECK(found.left == 100);
  // Of each group its own cache.
  m.stat("cg/a/b/c", "inactive_file 50\n");
  m.stat("cg/a", "inactive_file 400\n");
  CHECK(m.find().left == 500);
  m.stat("cg/a", "inactive_file 2400\n");
  CHECK(m.find().left == 950);
}

TEST_CASE("v1: cache of a group that counts its children, and of one that does not") {
  Machine m;
  m.member("4:memory:/a/b\n");
  m.mount("/", "cg/memory", false);
  m.v1("cg/memory/a/b", "1000", "900");
  m.v1("cg/memory/a", "2000", "1950");
  m.stat("cg/memory/a/b", "inactive_file 1\ntotal_inactive_file 300\n");
  m.stat("cg/memory/a", "inactive_file 1\ntotal_inactive_file 200\n");
  CHECK(m.find().left == 250);
  m.v1("cg/memory/a", "2000", "1950", "0\n");
  CHECK(m.find().left == 400);
}

TEST_CASE("v2: no limit anywhere, the root group, a controller that is not enabled") {
  Machine m;
  m.member("0::/a\n");
  m.mount("/", "cg");
  m.v2("cg/a", "max", "10");
  check_none(m.find());
  m.member("0::/\n");
  check_none(m.find());
  m.tree().directory("cg/plain");
  m.member("0::/plain\n");
  check_none(m.find());
}

TEST_CASE("v2: a container with a cgroup namespace of its own") {
  Machine m;
  m.member("0::/\n");
  m.mount("/", "cg");
  m.v2("cg", "5000", "70");
  check(m.find(), 5000, 70);
}

TEST_CASE("a container without one: the mount begins at its group") {
  Machine m;
  m.member("0::/docker/abc/sub\n");
  m.mount("/docker/abc", "cg");
  m.v2("cg", "5000", "70");
  m.v2("cg/sub", "max", "7");
  check(m.find(), 5000, 70);
}

TEST_CASE("of several mounts the one that shows the most groups") {
  Machine m;
  m.member("0::/docker/abc\n");
  m.mount("/docker/abc", "inner");
  m.mount("/", "outer");
  m.v2("inner", "5000", "70");
  m.v2("outer/docker/abc", "5000", "70");
  m.v2("outer/docker", "4000", "3000");
  check(m.find(), 4000, 3000);
}

TEST_CASE("a mount whose path has a blank") {
  Machine m;
  m.member("0::/a\n");
  m.tree().write("my cg/a/memory.max", "9\n");
  m.tree().write("my cg/a/memory.current", "3\n");
  std::string point = m.tree().path("my cg");
  point.replace(point.find(' '), 1, "\\040");
  m.tree().write("proc/self/mountinfo", "1 2 0:3 / " + point + " rw - cgroup2 c rw\n");
  check(m.find(), 9, 3);
}

TEST_CASE("a group that no mount shows is said to be missing, not unlimited") {
  Machine m;
  m.member("0::/\n");
  m.mount("/../..", "cg");
  m.v2("cg", "5000", "70");
  const MemoryLimit found = m.find();
  CHECK_FALSE(found.bytes);
  CHECK(found.is_partial);
  m.member("0::/../other\n");
  CHECK(m.find().is_partial);
}

TEST_CASE("a limit that makes no sense is said to be missing; the others count") {
  Machine m;
  m.member("0::/a/b\n");
  m.mount("/", "cg");
  m.v2("cg/a/b", "12 kB", "10");
  m.v2("cg/a", "2000", "50");
  const MemoryLimit found = m.find();
  CHECK(found.bytes == 2000);
  CHECK(found.used == 50);
  CHECK(found.is_partial);
}

TEST_CASE("a use that makes no sense is absent") {
  Machine m;
  m.member("0::/a\n");
  m.mount("/", "cg");
  m.v2("cg/a", "2000", "many");
  CHECK(m.find().bytes == 2000);
  CHECK_FALSE(m.find().used);
  CHECK(m.find().is_partial);
}

TEST_CASE("v1: the tightest of nested groups") {
  Machine m;
  m.member("9:name=systemd:/x\n4:memory:/a/b\n0::/\n");
  m.mount("/", "cg/memory", false);
  m.v1("cg/memory/a/b", "3000", "30");
  m.v1("cg/memory/a", "1000", "40");
  m.v1("cg/memory", "9223372036854771712", "50");
  check(m.find(), 1000, 40);
}

TEST_CASE("v1: unlimited is no limit") {
  Machine m;
  m.member("4:memory:/a\n");
  m.mount("/", "cg/memory", false);
  m.v1("cg/memory/a", "9223372036854710272", "30");
  m.v1("cg/memory", "9223372036854771712", "50");
  check_none(m.find());
}

TEST_CASE("v1: a group that does not count its children does not limit them") {
  Machine m;
  m.member("4:memory:/a/b\n");
  m.mount("/", "cg/memory", false);
  m.v1("cg/memory/a/b", "3000", "30");
  m.v1("cg/memory/a", "1000", "40", "0\n");
  check(m.find(), 3000, 30);
}

TEST_CASE("v1: a limit above what is mounted, whose use cannot be known") {
  Machine m;
  m.member("4:memory:/docker/abc\n");
  m.mount("/docker/abc", "cg/memory", false);
  m.v1("cg/memory", "9223372036854771712", "30");
  m.tree().write("cg/memory/memory.stat", "cache 1\nhierarchical_memory_limit 2000\n");
  const MemoryLimit found = m.find();
  CHECK(found.bytes == 2000);
  CHECK_FALSE(found.used);
  CHECK(found.left == 1970);  // at least what is charged below it is charged there
  m.tree().write("cg/memory/memory.stat",
                 std::string("hierarchical_memory_limit ") + unlimited_v1 + "\n");
  check_none(m.find());
}

TEST_CASE("the machine's own group has no limit and none above it, and is not read") {
  Machine m;
  m.member("4:memory:/a\n");
  m.mount("/", "cg/memory", false);
  m.v1("cg/memory/a", "3000", "30");
  m.v1("cg/memory", "1000", "50");
  m.tree().write("cg/memory/a/memory.stat", "hierarchical_memory_limit 2000\n");
  check(m.find(), 1000, 50);
  m.tree().write("cg/memory/release_agent", "\n");
  check(m.find(), 3000, 30);

  m.member("0::/a\n");
  m.mount("/", "cg2");
  m.v2("cg2/a", "3000", "30");
  m.v2("cg2", "1000", "50");
  check(m.find(), 1000, 50);
  m.tree().write("cg2/cgroup.controllers", "memory\n");
  check(m.find(), 3000, 30);
  m.tree().write("cg2/cgroup.events", "populated 1\n");  // the topmost that a container sees
  check(m.find(), 1000, 50);
}

TEST_CASE("a given root: unified, v1 below memory/, hybrid below unified/") {
  Machine m;
  m.member("0::/a\n");
  m.v2("elsewhere/a", "1000", "10");
  check(m.find("elsewhere"), 1000, 10);
  m.v2("hybrid/unified/a", "2000", "20");
  check(m.find("hybrid"), 2000, 20);
  m.member("4:memory:/a\n");
  m.v1("legacy/memory", unlimited_v1, "30");
  m.v1("legacy/memory/a", "3000", "30");
  check(m.find("legacy"), 3000, 30);
  CHECK(m.find("nowhere").is_partial);
}

TEST_CASE("a kernel without control groups, and one without the memory controller") {
  const Machine m;
  m.tree().write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  check_none(m.find());
  check_none(m.find("nowhere"));
  m.tree().directory("empty");
  check_none(m.find("empty"));
  m.member("");  // none is mounted
  check_none(m.find());
  m.member("3:cpu:/a\n");
  check_none(m.find());
}

TEST_CASE("a membership without its last line's end is a membership") {
  Machine m;
  m.mount("/", "cg");
  m.v2("cg/a", "1073741824", "10");
  m.member("0::/a");
  check(m.find(), 1073741824, 10);
}

TEST_CASE(
    "a membership that is missing, empty or not understood does not show that no limit applies") {
  Machine m;
  m.mount("/", "cg");
  m.v2("cg", "1073741824", "10");
  m.v2("cg/a", "max", "10");
  const auto check_unknown = [&](const std::string& root) {
    CHECK_FALSE(m.find(root).bytes);
    CHECK(m.find(root).is_partial);
  };
  check_unknown("");
  check_unknown("cg");
  for (const char* text : {"", "garbage\n", "garbage", "0::a\n", "\n"}) {
    CAPTURE(text);
    m.member(text);
    check_unknown("");
    check_unknown("cg");
  }
  // The lines that are understood count; another may name a group with a lower limit.
  m.v2("cg/a", "2147483648", "10");
  m.member("4:memory\n0::/a\n");
  CHECK(m.find().bytes == 1073741824);
  CHECK(m.find().is_partial);
  m.tree().remove("proc/self/mountinfo");
  m.tree().remove("proc/self/cgroup");
  check_unknown("");
}

TEST_CASE("v1: a limit that is missing or not understood, at the group or above it, is not known") {
  Machine m;
  m.member("4:memory:/a\n");
  m.mount("/", "cg/memory", false);
  m.tree().directory("cg/memory/a");
  CHECK(m.find().is_partial);
  m.v1("cg/memory/a", unlimited_v1, "1");
  m.v1("cg/memory", unlimited_v1, "1");
  check_none(m.find());
  m.stat("cg/memory/a", "cache 1\nhierarchical_memory_limit much\n");
  CHECK(m.find().is_partial);
}

TEST_CASE("a later reading finds what has changed") {
  Machine m;
  m.member("0::/a/b\n");
  m.mount("/", "cg");
  m.v2("cg/a/b", "1000", "10");
  m.v2("cg/other", "500", "5");
  GroupLimits limits = m.open();
  check(limits.read(), 1000, 10);
  m.v2("cg/a/b", "800", "11");
  check(limits.read(), 800, 11);
  m.v2("cg/a", "700", "12");  // the controller is enabled further out
  check(limits.read(), 700, 12);
  m.v2("cg/a", "max", "12");
  m.v2("cg/a/b", "max", "11");
  check_none(limits.read());
  m.member("0::/other\n");
  check(limits.read(), 500, 5);
  m.member("0::/gone\n");
  CHECK(limits.read().is_partial);
  m.member("0::/a/b\n");
  m.v2("cg/a/b", "600", "13");
  check(limits.read(), 600, 13);
}
