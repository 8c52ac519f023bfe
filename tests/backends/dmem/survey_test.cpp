// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Memory of control groups on a fake tree with the files of Documentation/admin-guide/
// cgroup-v2.rst, "DMEM": a group's value includes its children, and the root group of a machine has
// none.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "make_host.hpp"

using namespace hmn;

namespace {

const std::string id(64, 'a');
const std::string container = "docker-" + id + ".scope";

std::string format_vram(std::uint64_t bytes, const char* card = "0000:03:00.0") {
  return std::string("drm/") + card + "/vram0 " + std::to_string(bytes) + "\n";
}

class SurveyedMachine {
 public:
  SurveyedMachine() {
    tree_.write("proc/self/cgroup", "0::/\n");
    tree_.directory("sys/fs/cgroup");
    tree_.write("sys/fs/cgroup/memory.max/dmem.current",
                format_vram(1));  // no group has such a name
  }
  // A group whose children do not have the controller.
  void add_leaf(const std::string& group, const std::string& used,
                const std::string& limits = "") const {
    hmn_fake::set_cgroup_v2(tree_, group,
                            {{"dmem.current", used},
                             {"dmem.max", limits.empty() ? unlimited : limits},
                             {"cgroup.subtree_control", "memory pids\n"},
                             {"cgroup.procs", ""}});
  }
  void add_node(const std::string& group, const std::string& used,
                const std::string& limits = "") const {
    add_leaf(group, used, limits);
    enable_children(group);
  }
  void enable_children(const std::string& group) const {
    hmn_fake::set_cgroup_v2(tree_, group, {{"cgroup.subtree_control", "memory dmem pids\n"}});
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::make_host(tree_); }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  static constexpr const char* unlimited = "drm/0000:03:00.0/vram0 max\n";
  hmn_fake::Tree tree_;
};

struct GroupRow {
  std::string group;
  std::uint64_t used = 0;
  std::optional<std::uint64_t> limit;

  friend bool operator==(const GroupRow&, const GroupRow&) = default;
};

std::vector<GroupRow> read_rows(const GroupMemory& memory) {
  std::vector<GroupRow> rows;
  for (const GroupMemory::Part& part : memory.parts) {
    CHECK(part.device == *parse_pci_address("0000:03:00.0"));
    REQUIRE(part.group < memory.names.size());
    rows.push_back({memory.names[part.group], part.used, part.limit});
  }
  std::sort(rows.begin(), rows.end(),
            [](const GroupRow& left, const GroupRow& right) { return left.group < right.group; });
  return rows;
}

std::vector<GroupRow> read_rows(const SurveyedMachine& machine) {
  GroupMemory memory;
  CHECK(machine.host()->groups(memory));
  return read_rows(memory);
}

}  // namespace

TEST_CASE("only groups without children in the controller are listed") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_node("user.slice", format_vram(700));
  machine.add_leaf("user.slice/a.service", format_vram(300));
  machine.add_leaf("user.slice/b.service", format_vram(400), format_vram(4096));
  machine.add_leaf("user.slice/idle.service", format_vram(0), format_vram(4096));
  machine.add_leaf("init.scope", format_vram(5));
  CHECK(read_rows(machine) == std::vector<GroupRow>{{"/init.scope", 5, {}},
                                                    {"/user.slice/a.service", 300, {}},
                                                    {"/user.slice/b.service", 400, 4096}});
}

TEST_CASE("a container is listed by its name, with all groups in it") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_node("system.slice", format_vram(900));
  machine.add_node("system.slice/" + container, format_vram(900));
  machine.add_leaf("system.slice/" + container + "/init.scope", format_vram(100));
  machine.add_leaf("system.slice/" + container + "/web.service", format_vram(800));
  CHECK(read_rows(machine) == std::vector<GroupRow>{{"docker:" + id, 900, {}}});
}

TEST_CASE("the limit is the tightest of the group and its ancestors") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_node("pods", format_vram(30), format_vram(1000));
  machine.add_leaf("pods/wide", format_vram(10), format_vram(2000));
  machine.add_leaf("pods/narrow", format_vram(20), format_vram(500));
  CHECK(read_rows(machine) ==
        std::vector<GroupRow>{{"/pods/narrow", 20, 500}, {"/pods/wide", 10, 1000}});
}

TEST_CASE("a process that sees only its own group gets that group") {
  const SurveyedMachine machine;
  machine.add_leaf("", format_vram(77), format_vram(100));
  CHECK(read_rows(machine) == std::vector<GroupRow>{{"/", 77, 100}});
}

TEST_CASE("groups below a group without the controller are not searched") {
  const SurveyedMachine machine;
  machine.add_leaf("", format_vram(77));
  machine.add_leaf("sub", format_vram(77));
  CHECK(read_rows(machine) == std::vector<GroupRow>{{"/", 77, {}}});
}

TEST_CASE("tiles are added up, and each device has its own row") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_leaf("a", format_vram(1) + "drm/0000:03:00.0/vram1 2\ndrm/0000:03:00.0/stolen 9\n" +
                            format_vram(8, "0000:04:00.0"));
  GroupMemory memory;
  REQUIRE(machine.host()->groups(memory));
  REQUIRE(memory.parts.size() == 2);
  CHECK(memory.names == std::vector<std::string>{"/a"});
  CHECK(memory.parts[0].used == 3);
  CHECK(memory.parts[1].device == *parse_pci_address("0000:04:00.0"));
  CHECK(memory.parts[1].used == 8);
  CHECK(memory.parts[1].group == 0);
}

TEST_CASE("without the controller nothing is listed or searched") {
  const SurveyedMachine machine;
  hmn_fake::set_cgroup_v2(machine.tree(), "", {{"cgroup.subtree_control", "cpu memory\n"}});
  machine.add_leaf("a", format_vram(5));
  CHECK(read_rows(machine).empty());
  CHECK(machine.host()->describe_source(Source::dmem)->state == State::absent);
  machine.enable_children("");
  CHECK(machine.host()->describe_source(Source::dmem)->state == State::ready);
}

TEST_CASE("a malformed or unreadable group is reported as missing") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_leaf("a", format_vram(5) + "drm/0000:03:00.0/vram1 lots\n");
  machine.add_leaf("b", format_vram(6));
  machine.tree().directory("sys/fs/cgroup/c/dmem.current");  // EISDIR
  GroupMemory memory;
  const auto result = machine.host()->groups(memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::limit);
  CHECK(result.failure().source == Source::dmem);
  CHECK(read_rows(memory) == std::vector<GroupRow>{{"/b", 6, {}}});
}

TEST_CASE("a group that disappears during the survey is not an error") {
  const SurveyedMachine machine;
  machine.enable_children("");
  machine.add_leaf("a", format_vram(5));
  machine.tree().directory("sys/fs/cgroup/gone");
  CHECK(read_rows(machine) == std::vector<GroupRow>{{"/a", 5, {}}});
}

TEST_CASE("groups nested too deeply are reported as missing") {
  const SurveyedMachine machine;
  std::string group;
  machine.enable_children("");
  for (int i = 0; i < 40; ++i) {
    group += (i == 0 ? "" : "/") + std::string("deeper");
    machine.add_node(group, format_vram(5));
  }
  machine.add_leaf("shallow", format_vram(6));
  GroupMemory memory;
  const auto result = machine.host()->groups(memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::limit);
  CHECK(read_rows(memory) == std::vector<GroupRow>{{"/shallow", 6, {}}});
}

TEST_CASE("a walk through too many groups ends with an error") {
  const SurveyedMachine machine;
  machine.enable_children("");
  for (int i = 0; i < 4100; ++i) machine.tree().directory("sys/fs/cgroup/" + std::to_string(i));
  machine.add_leaf("last", format_vram(5));
  GroupMemory memory;
  const auto result = machine.host()->groups(memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::limit);
  CHECK(result.failure().source == Source::dmem);
}
