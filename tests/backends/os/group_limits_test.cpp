// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The memory limit that applies, with nested groups, containers' mounts and both versions.
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
  void set_membership(const std::string& text) const { tree_.write("proc/self/cgroup", text); }
  void add_mount(const std::string& root, const std::string& point, bool v2 = true) {
    mounts_.push_back({.root = root,
                       .point = tree_.path(point),
                       .type = v2 ? "cgroup2" : "cgroup",
                       .source = "cgroup",
                       .super_options = v2 ? "rw" : "rw,memory"});
    tree_.directory(point);
    hmn_fake::set_mountinfo(tree_, "self", mounts_);
  }
  void write_v2(const std::string& folder, const std::string& max,
                const std::string& current) const {
    tree_.write(folder + "/memory.max", max + "\n");
    tree_.write(folder + "/memory.current", current + "\n");
  }
  void write_v1(const std::string& folder, const std::string& limit, const std::string& usage,
                const char* hierarchy = "1\n") const {
    tree_.write(folder + "/memory.limit_in_bytes", limit + "\n");
    tree_.write(folder + "/memory.usage_in_bytes", usage + "\n");
    tree_.write(folder + "/memory.use_hierarchy", hierarchy);
  }
  void write_stat(const std::string& folder, const std::string& text) const {
    tree_.write(folder + "/memory.stat", text);
  }
  [[nodiscard]] MemoryLimit read_limit(const std::string& cgroup_root = {}) const {
    return GroupLimits(tree_.proc(), cgroup_root.empty() ? "" : tree_.path(cgroup_root)).read();
  }
  [[nodiscard]] GroupLimits open_limits() const { return {tree_.proc(), ""}; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  hmn_fake::Tree tree_;
  std::vector<hmn_fake::Mount> mounts_;
};

void check_limit(const MemoryLimit& limit, std::uint64_t bytes, std::uint64_t used) {
  CHECK(limit.bytes == bytes);
  CHECK(limit.used == used);
  CHECK_FALSE(limit.is_partial);
}

void check_no_limit(const MemoryLimit& limit) {
  CHECK_FALSE(limit.bytes);
  CHECK_FALSE(limit.used);
  CHECK_FALSE(limit.is_partial);
}

}  // namespace

TEST_CASE("v2: the limit of the own group applies") {
  Machine machine;
  machine.set_membership("0::/a/b\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b", "1000", "10");
  machine.write_v2("cg/a", "max", "20");
  check_limit(machine.read_limit(), 1000, 10);
}

TEST_CASE("v2: the tightest limit of nested groups applies, with the use of that group") {
  Machine machine;
  machine.set_membership("0::/a/b/c\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b/c", "3000", "30");
  machine.write_v2("cg/a/b", "1000", "40");
  machine.write_v2("cg/a", "2000", "50");
  check_limit(machine.read_limit(), 1000, 40);
}

TEST_CASE("v2: of two groups with equal limits the fuller one counts") {
  Machine machine;
  machine.set_membership("0::/a/b\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b", "1000", "10");
  machine.write_v2("cg/a", "1000", "900");
  check_limit(machine.read_limit(), 1000, 900);
}

TEST_CASE("reclaimable page cache counts as memory that is left") {
  Machine machine;
  machine.set_membership("0::/a\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a", "2800", "2600");
  CHECK(machine.read_limit().left == 200);
  machine.write_stat("cg/a", "inactive_file 1000\nactive_file 1500\n");
  const MemoryLimit limit = machine.read_limit();
  check_limit(limit, 2800, 2600);  // the charged memory stays the same
  CHECK(limit.left == 2700);
  machine.write_stat("cg/a",
                     "inactive_file 200\nactive_file 2300\nfile_mapped 300\nfile_dirty 1900\n");
  CHECK(machine.read_limit().left == 500);
  machine.write_stat("cg/a",
                     "inactive_file 9000\nactive_file 9000\n");  // at most the charged memory
  CHECK(machine.read_limit().left == 2800);
  machine.write_stat("cg/a", "inactive_file many\n");
  CHECK(machine.read_limit().left == 200);
  machine.tree().directory("cg/b/memory.stat");  // not readable
  machine.write_v2("cg/b", "2800", "2600");
  machine.set_membership("0::/b\n");
  CHECK(machine.read_limit().left == 200);
  CHECK(machine.read_limit().is_partial);
  machine.set_membership("0::/a\n");
  machine.write_v2("cg/a", "2800", "many");
  CHECK(machine.read_limit().left == 2800);
  machine.write_v2("cg/a", "max", "2600");
  CHECK_FALSE(machine.read_limit().left);
}

TEST_CASE("the group with the least memory left counts, whichever limit is lowest") {
  Machine machine;
  machine.set_membership("0::/a/b/c\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b/c", "1000", "100");
  machine.write_v2("cg/a/b", "max", "2900");
  machine.write_v2("cg/a", "3000", "2900");
  MemoryLimit limit = machine.read_limit();
  check_limit(limit, 1000, 100);
  CHECK(limit.left == 100);
  // Each group counts its own cache.
  machine.write_stat("cg/a/b/c", "inactive_file 50\n");
  machine.write_stat("cg/a", "inactive_file 400\n");
  CHECK(machine.read_limit().left == 500);
  machine.write_stat("cg/a", "inactive_file 2400\n");
  CHECK(machine.read_limit().left == 950);
}

TEST_CASE("v1: page cache is counted by the hierarchy setting of the group") {
  Machine machine;
  machine.set_membership("4:memory:/a/b\n");
  machine.add_mount("/", "cg/memory", false);
  machine.write_v1("cg/memory/a/b", "1000", "900");
  machine.write_v1("cg/memory/a", "2000", "1950");
  machine.write_stat("cg/memory/a/b", "inactive_file 1\ntotal_inactive_file 300\n");
  machine.write_stat("cg/memory/a", "inactive_file 1\ntotal_inactive_file 200\n");
  CHECK(machine.read_limit().left == 250);
  machine.write_v1("cg/memory/a", "2000", "1950", "0\n");
  CHECK(machine.read_limit().left == 400);
}

TEST_CASE("v2: no limit, the root group and a disabled controller yield no limit") {
  Machine machine;
  machine.set_membership("0::/a\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a", "max", "10");
  check_no_limit(machine.read_limit());
  machine.set_membership("0::/\n");
  check_no_limit(machine.read_limit());
  machine.tree().directory("cg/plain");
  machine.set_membership("0::/plain\n");
  check_no_limit(machine.read_limit());
}

TEST_CASE("v2: the limit is found in a cgroup namespace") {
  Machine machine;
  machine.set_membership("0::/\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg", "5000", "70");
  check_limit(machine.read_limit(), 5000, 70);
}

TEST_CASE("v2: without a cgroup namespace the mount starts at the group of the container") {
  Machine machine;
  machine.set_membership("0::/docker/abc/sub\n");
  machine.add_mount("/docker/abc", "cg");
  machine.write_v2("cg", "5000", "70");
  machine.write_v2("cg/sub", "max", "7");
  check_limit(machine.read_limit(), 5000, 70);
}

TEST_CASE("of several mounts the one that covers the most groups is read") {
  Machine machine;
  machine.set_membership("0::/docker/abc\n");
  machine.add_mount("/docker/abc", "inner");
  machine.add_mount("/", "outer");
  machine.write_v2("inner", "5000", "70");
  machine.write_v2("outer/docker/abc", "5000", "70");
  machine.write_v2("outer/docker", "4000", "3000");
  check_limit(machine.read_limit(), 4000, 3000);
}

TEST_CASE("a mount path with a space is decoded") {
  Machine machine;
  machine.set_membership("0::/a\n");
  machine.tree().write("my cg/a/memory.max", "9\n");
  machine.tree().write("my cg/a/memory.current", "3\n");
  std::string point = machine.tree().path("my cg");
  point.replace(point.find(' '), 1, "\\040");
  machine.tree().write("proc/self/mountinfo", "1 2 0:3 / " + point + " rw - cgroup2 c rw\n");
  check_limit(machine.read_limit(), 9, 3);
}

TEST_CASE("a group outside every mount is reported as missing, not as unlimited") {
  Machine machine;
  machine.set_membership("0::/\n");
  machine.add_mount("/../..", "cg");
  machine.write_v2("cg", "5000", "70");
  const MemoryLimit limit = machine.read_limit();
  CHECK_FALSE(limit.bytes);
  CHECK(limit.is_partial);
  machine.set_membership("0::/../other\n");
  CHECK(machine.read_limit().is_partial);
}

TEST_CASE("a malformed limit is reported as missing, and the others count") {
  Machine machine;
  machine.set_membership("0::/a/b\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b", "12 kB", "10");
  machine.write_v2("cg/a", "2000", "50");
  const MemoryLimit limit = machine.read_limit();
  CHECK(limit.bytes == 2000);
  CHECK(limit.used == 50);
  CHECK(limit.is_partial);
}

TEST_CASE("a malformed use is absent") {
  Machine machine;
  machine.set_membership("0::/a\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a", "2000", "many");
  CHECK(machine.read_limit().bytes == 2000);
  CHECK_FALSE(machine.read_limit().used);
  CHECK(machine.read_limit().is_partial);
}

TEST_CASE("v1: the tightest limit of nested groups applies") {
  Machine machine;
  machine.set_membership("9:name=systemd:/x\n4:memory:/a/b\n0::/\n");
  machine.add_mount("/", "cg/memory", false);
  machine.write_v1("cg/memory/a/b", "3000", "30");
  machine.write_v1("cg/memory/a", "1000", "40");
  machine.write_v1("cg/memory", "9223372036854771712", "50");
  check_limit(machine.read_limit(), 1000, 40);
}

TEST_CASE("v1: the largest value means that there is no limit") {
  Machine machine;
  machine.set_membership("4:memory:/a\n");
  machine.add_mount("/", "cg/memory", false);
  machine.write_v1("cg/memory/a", "9223372036854710272", "30");
  machine.write_v1("cg/memory", "9223372036854771712", "50");
  check_no_limit(machine.read_limit());
}

TEST_CASE("v1: a group that does not count its children does not limit them") {
  Machine machine;
  machine.set_membership("4:memory:/a/b\n");
  machine.add_mount("/", "cg/memory", false);
  machine.write_v1("cg/memory/a/b", "3000", "30");
  machine.write_v1("cg/memory/a", "1000", "40", "0\n");
  check_limit(machine.read_limit(), 3000, 30);
}

TEST_CASE("v1: a limit above the mount has no known use") {
  Machine machine;
  machine.set_membership("4:memory:/docker/abc\n");
  machine.add_mount("/docker/abc", "cg/memory", false);
  machine.write_v1("cg/memory", "9223372036854771712", "30");
  machine.tree().write("cg/memory/memory.stat", "cache 1\nhierarchical_memory_limit 2000\n");
  const MemoryLimit limit = machine.read_limit();
  CHECK(limit.bytes == 2000);
  CHECK_FALSE(limit.used);
  CHECK(limit.left == 1970);  // at least the memory charged below is charged there, too
  machine.tree().write("cg/memory/memory.stat",
                       std::string("hierarchical_memory_limit ") + unlimited_v1 + "\n");
  check_no_limit(machine.read_limit());
}

TEST_CASE("the root group of the machine is not read as a limit") {
  Machine machine;
  machine.set_membership("4:memory:/a\n");
  machine.add_mount("/", "cg/memory", false);
  machine.write_v1("cg/memory/a", "3000", "30");
  machine.write_v1("cg/memory", "1000", "50");
  machine.tree().write("cg/memory/a/memory.stat", "hierarchical_memory_limit 2000\n");
  check_limit(machine.read_limit(), 1000, 50);
  machine.tree().write("cg/memory/release_agent", "\n");
  check_limit(machine.read_limit(), 3000, 30);

  machine.set_membership("0::/a\n");
  machine.add_mount("/", "cg2");
  machine.write_v2("cg2/a", "3000", "30");
  machine.write_v2("cg2", "1000", "50");
  check_limit(machine.read_limit(), 1000, 50);
  machine.tree().write("cg2/cgroup.controllers", "memory\n");
  check_limit(machine.read_limit(), 3000, 30);
  machine.tree().write("cg2/cgroup.events",
                       "populated 1\n");  // the root of a container's namespace
  check_limit(machine.read_limit(), 1000, 50);
}

TEST_CASE("a configured root may be unified, v1 below memory/ or hybrid below unified/") {
  Machine machine;
  machine.set_membership("0::/a\n");
  machine.write_v2("elsewhere/a", "1000", "10");
  check_limit(machine.read_limit("elsewhere"), 1000, 10);
  machine.write_v2("hybrid/unified/a", "2000", "20");
  check_limit(machine.read_limit("hybrid"), 2000, 20);
  machine.set_membership("4:memory:/a\n");
  machine.write_v1("legacy/memory", unlimited_v1, "30");
  machine.write_v1("legacy/memory/a", "3000", "30");
  check_limit(machine.read_limit("legacy"), 3000, 30);
  CHECK(machine.read_limit("nowhere").is_partial);
}

TEST_CASE("without control groups or memory controller there is no limit") {
  const Machine machine;
  machine.tree().write("proc/self/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n");
  check_no_limit(machine.read_limit());
  check_no_limit(machine.read_limit("nowhere"));
  machine.tree().directory("empty");
  check_no_limit(machine.read_limit("empty"));
  machine.set_membership("");  // none is mounted
  check_no_limit(machine.read_limit());
  machine.set_membership("3:cpu:/a\n");
  check_no_limit(machine.read_limit());
}

TEST_CASE("a membership without a final newline is read") {
  Machine machine;
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a", "1073741824", "10");
  machine.set_membership("0::/a");
  check_limit(machine.read_limit(), 1073741824, 10);
}

TEST_CASE("a membership that is missing, empty or malformed leaves the limit unknown") {
  Machine machine;
  machine.add_mount("/", "cg");
  machine.write_v2("cg", "1073741824", "10");
  machine.write_v2("cg/a", "max", "10");
  const auto check_unknown = [&](const std::string& root) {
    CHECK_FALSE(machine.read_limit(root).bytes);
    CHECK(machine.read_limit(root).is_partial);
  };
  check_unknown("");
  check_unknown("cg");
  for (const char* text : {"", "garbage\n", "garbage", "0::a\n", "\n"}) {
    CAPTURE(text);
    machine.set_membership(text);
    check_unknown("");
    check_unknown("cg");
  }
  // Lines that are understood count; a malformed one may name a group with a lower limit.
  machine.write_v2("cg/a", "2147483648", "10");
  machine.set_membership("4:memory\n0::/a\n");
  CHECK(machine.read_limit().bytes == 1073741824);
  CHECK(machine.read_limit().is_partial);
  machine.tree().remove("proc/self/mountinfo");
  machine.tree().remove("proc/self/cgroup");
  check_unknown("");
}

TEST_CASE("v1: a missing or malformed limit is unknown, at the group and above it") {
  Machine machine;
  machine.set_membership("4:memory:/a\n");
  machine.add_mount("/", "cg/memory", false);
  machine.tree().directory("cg/memory/a");
  CHECK(machine.read_limit().is_partial);
  machine.write_v1("cg/memory/a", unlimited_v1, "1");
  machine.write_v1("cg/memory", unlimited_v1, "1");
  check_no_limit(machine.read_limit());
  machine.write_stat("cg/memory/a", "cache 1\nhierarchical_memory_limit much\n");
  CHECK(machine.read_limit().is_partial);
}

TEST_CASE("a later reading finds changed limits and memberships") {
  Machine machine;
  machine.set_membership("0::/a/b\n");
  machine.add_mount("/", "cg");
  machine.write_v2("cg/a/b", "1000", "10");
  machine.write_v2("cg/other", "500", "5");
  GroupLimits limits = machine.open_limits();
  check_limit(limits.read(), 1000, 10);
  machine.write_v2("cg/a/b", "800", "11");
  check_limit(limits.read(), 800, 11);
  machine.write_v2("cg/a", "700", "12");  // the controller is enabled in the parent, too
  check_limit(limits.read(), 700, 12);
  machine.write_v2("cg/a", "max", "12");
  machine.write_v2("cg/a/b", "max", "11");
  check_no_limit(limits.read());
  machine.set_membership("0::/other\n");
  check_limit(limits.read(), 500, 5);
  machine.set_membership("0::/gone\n");
  CHECK(limits.read().is_partial);
  machine.set_membership("0::/a/b\n");
  machine.write_v2("cg/a/b", "600", "13");
  check_limit(limits.read(), 600, 13);
}
