// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the control groups hold, on a fake tree with the files of Documentation/admin-guide/
// cgroup-v2.rst, "DMEM": a group's value has those of the groups in it, and a machine's root has
// none.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "host_of.hpp"

using namespace hmn;

namespace {

const std::string id(64, 'a');
const std::string container = "docker-" + id + ".scope";

std::string surveyed_vram(std::uint64_t bytes, const char* card = "0000:03:00.0") {
  return std::string("drm/") + card + "/vram0 " + std::to_string(bytes) + "\n";
}

class SurveyedMachine {
 public:
  SurveyedMachine() {
    tree_.write("proc/self/cgroup", "0::/\n");
    tree_.directory("sys/fs/cgroup");
    tree_.write("sys/fs/cgroup/memory.max/dmem.current",
                surveyed_vram(1));  // no group has such a name
  }
  // A group in which no other has the controller.
  void leaf(const std::string& group, const std::string& used,
            const std::string& limits = "") const {
    hmn_fake::set_cgroup_v2(tree_, group,
                            {{"dmem.current", used},
                             {"dmem.max", limits.empty() ? used_as_unlimited : limits},
                             {"cgroup.subtree_control", "memory pids\n"},
                             {"cgroup.procs", ""}});
  }
  void node(const std::string& group, const std::string& used,
            const std::string& limits = "") const {
    leaf(group, used, limits);
    divide(group);
  }
  void divide(const std::string& group) const {
    hmn_fake::set_cgroup_v2(tree_, group, {{"cgroup.subtree_control", "memory dmem pids\n"}});
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::host_of(tree_); }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  static constexpr const char* used_as_unlimited = "drm/0000:03:00.0/vram0 max\n";
  hmn_fake::Tree tree_;
};

struct Row {
  std::string group;
  std::uint64_t used = 0;
  std::optional<std::uint64_t> limit;

  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> rows_of(const GroupMemory& all) {
  std::vector<Row> out;
  for (const GroupMemory::Part& p : all.parts) {
    CHECK(p.device == *parse_pci_address("0000:03:00.0"));
    REQUIRE(p.group < all.names.size());
    out.push_back({all.names[p.group], p.used, p.limit});
  }
  std::sort(out.begin(), out.end(), [](const Row& a, const Row& b) { return a.group < b.group; });
  return out;
}

std::vector<Row> rows_of(const SurveyedMachine& m) {
  GroupMemory all;
  CHECK(m.host()->groups(all));
  return rows_of(all);
}

}  // namespace

TEST_CASE("groups in which no other has the controller are told, and never one around them") {
  const SurveyedMachine m;
  m.divide("");
  m.node("user.slice", surveyed_vram(700));
  m.leaf("user.slice/a.service", surveyed_vram(300));
  m.leaf("user.slice/b.service", surveyed_vram(400), surveyed_vram(4096));
  m.leaf("user.slice/idle.service", surveyed_vram(0), surveyed_vram(4096));
  m.leaf("init.scope", surveyed_vram(5));
  CHECK(rows_of(m) == std::vector<Row>{{"/init.scope", 5, {}},
                                       {"/user.slice/a.service", 300, {}},
                                       {"/user.slice/b.service", 400, 4096}});
}

TEST_CASE("a container is told by its name, with all groups in it") {
  const SurveyedMachine m;
  m.divide("");
  m.node("system.slice", surveyed_vram(900));
  m.node("system.slice/" + container, surveyed_vram(900));
  m.leaf("system.slice/" + container + "/init.scope", surveyed_vram(100));
  m.leaf("system.slice/" + container + "/web.service", surveyed_vram(800));
  CHECK(rows_of(m) == std::vector<Row>{{"docker:" + id, 900, {}}});
}

TEST_CASE("the limit is the tightest of the group and those around it") {
  const SurveyedMachine m;
  m.divide("");
  m.node("pods", surveyed_vram(30), surveyed_vram(1000));
  m.leaf("pods/wide", surveyed_vram(10), surveyed_vram(2000));
  m.leaf("pods/narrow", surveyed_vram(20), surveyed_vram(500));
  CHECK(rows_of(m) == std::vector<Row>{{"/pods/narrow", 20, 500}, {"/pods/wide", 10, 1000}});
}

TEST_CASE("a process that sees its own group alone is told of that") {
  const SurveyedMachine m;
  m.leaf("", surveyed_vram(77), surveyed_vram(100));
  CHECK(rows_of(m) == std::vector<Row>{{"/", 77, 100}});
}

TEST_CASE("a group below one without the controller is not looked for") {
  const SurveyedMachine m;
  m.leaf("", surveyed_vram(77));
  m.leaf("sub", surveyed_vram(77));
  CHECK(rows_of(m) == std::vector<Row>{{"/", 77, {}}});
}

TEST_CASE("tiles add up, and each device has its own row") {
  const SurveyedMachine m;
  m.divide("");
  m.leaf("a", surveyed_vram(1) + "drm/0000:03:00.0/vram1 2\ndrm/0000:03:00.0/stolen 9\n" +
                  surveyed_vram(8, "0000:04:00.0"));
  GroupMemory all;
  REQUIRE(m.host()->groups(all));
  REQUIRE(all.parts.size() == 2);
  CHECK(all.names == std::vector<std::string>{"/a"});
  CHECK(all.parts[0].used == 3);
  CHECK(all.parts[1].device == *parse_pci_address("0000:04:00.0"));
  CHECK(all.parts[1].used == 8);
  CHECK(all.parts[1].group == 0);
}

TEST_CASE("without the controller nothing is told, and nothing looked for") {
  const SurveyedMachine m;
  hmn_fake::set_cgroup_v2(m.tree(), "", {{"cgroup.subtree_control", "cpu memory\n"}});
  m.leaf("a", surveyed_vram(5));
  CHECK(rows_of(m).empty());
  CHECK(m.host()->describe_source(Source::dmem)->state == State::absent);
  m.divide("");
  CHECK(m.host()->describe_source(Source::dmem)->state == State::ready);
}

TEST_CASE("a group that makes no sense, or cannot be read, is said to be missing") {
  const SurveyedMachine m;
  m.divide("");
  m.leaf("a", surveyed_vram(5) + "drm/0000:03:00.0/vram1 lots\n");
  m.leaf("b", surveyed_vram(6));
  m.tree().directory("sys/fs/cgroup/c/dmem.current");  // EISDIR
  GroupMemory all;
  const auto reported = m.host()->groups(all);
  REQUIRE_FALSE(reported);
  CHECK(reported.why().code == Status::limit);
  CHECK(reported.why().from == Source::dmem);
  CHECK(rows_of(all) == std::vector<Row>{{"/b", 6, {}}});
}

TEST_CASE("a group that goes away while it is looked for is no fault") {
  const SurveyedMachine m;
  m.divide("");
  m.leaf("a", surveyed_vram(5));
  m.tree().directory("sys/fs/cgroup/gone");
  CHECK(rows_of(m) == std::vector<Row>{{"/a", 5, {}}});
}

TEST_CASE("groups that stand too deep are said to be missing") {
  const SurveyedMachine m;
  std::string group;
  m.divide("");
  for (int i = 0; i < 40; ++i) {
    group += (i == 0 ? "" : "/") + std::string("deeper");
    m.node(group, surveyed_vram(5));
  }
  m.leaf("shallow", surveyed_vram(6));
  GroupMemory all;
  const auto reported = m.host()->groups(all);
  REQUIRE_FALSE(reported);
  CHECK(reported.why().code == Status::limit);
  CHECK(rows_of(all) == std::vector<Row>{{"/shallow", 6, {}}});
}

TEST_CASE("a walk through very many groups ends, and says so") {
  const SurveyedMachine m;
  m.divide("");
  for (int i = 0; i < 4100; ++i) m.tree().directory("sys/fs/cgroup/" + std::to_string(i));
  m.leaf("last", surveyed_vram(5));
  GroupMemory all;
  const auto reported = m.host()->groups(all);
  REQUIRE_FALSE(reported);
  CHECK(reported.why().code == Status::limit);
  CHECK(reported.why().from == Source::dmem);
}
