// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of a survey fails once, with each error: no value is of another group, no limit is
// wider than the one that applies, and what is missing is reported.
#include "faults.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>

#include "make_host.hpp"

using namespace hmn;

namespace {

std::string format_vram_line(std::uint64_t bytes) {
  return "drm/0000:03:00.0/vram0 " + std::to_string(bytes) + "\n";
}
const std::string no_limit = "drm/0000:03:00.0/vram0 max\n";

class FaultyMachine {
 public:
  FaultyMachine() {
    tree_.write("proc/self/cgroup", "0::/\n");
    hmn_fake::set_cgroup_v2(tree_, "", {{"cgroup.subtree_control", "memory dmem\n"}});
    add("pods", 700, format_vram_line(1000), "dmem\n");
    add("pods/a", 300, no_limit, "");
    add("pods/b", 400, format_vram_line(500), "");
    add("init.scope", 5, no_limit, "");
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::make_host(tree_); }

 private:
  void add(const char* group, std::uint64_t used, const std::string& limit,
           const char* subtree_control) const {
    hmn_fake::set_cgroup_v2(tree_, group,
                            {{"dmem.current", format_vram_line(used)},
                             {"dmem.max", limit},
                             {"cgroup.subtree_control", subtree_control}});
  }

  hmn_fake::Tree tree_;
};

struct ExpectedGroup {
  std::uint64_t used;
  std::optional<std::uint64_t> limit;
};
const std::map<std::string, ExpectedGroup> expected_groups = {
    {"/pods/a", {300, 1000}}, {"/pods/b", {400, 500}}, {"/init.scope", {5, {}}}};

void check_memory(const GroupMemory& memory, bool is_complete) {
  for (const GroupMemory::Part& part : memory.parts) {
    const std::string& name = memory.names.at(part.group);
    CAPTURE(name);
    REQUIRE(expected_groups.contains(name));
    CHECK(part.used == expected_groups.at(name).used);
    if (is_complete || part.limit) CHECK(part.limit == expected_groups.at(name).limit);
  }
  if (is_complete) CHECK(memory.parts.size() == expected_groups.size());
}

// Makes one survey per system call, in which that call fails with `error`. Returns their number.
template <class Judge>
int fail_each_call(int error, Judge&& check) {
  const FaultyMachine machine;
  for (int index = 0;; ++index) {
    CAPTURE(error);
    CAPTURE(index);
    const auto host = machine.host();
    REQUIRE(host->describe_source(Source::dmem)->state == State::ready);
    GroupMemory memory;
    faults::arm(index, error);
    const Result<void> result = host->groups(memory);
    if (!faults::disarm()) return index;
    check(memory, static_cast<bool>(result));
  }
}

}  // namespace

TEST_CASE("a single failing call never yields a wrong value") {
  for (const int error : {EACCES, EMFILE, EIO}) CHECK(fail_each_call(error, check_memory) > 8);
}

// A group that disappears meanwhile is not reported, and reported values are correct. A parent
// cannot disappear before its children: if it is listed as a leaf, its value is its own.
TEST_CASE("a group that disappears during the survey leaves the other values correct") {
  const auto check_values = [](const GroupMemory& memory, bool) {
    for (const GroupMemory::Part& part : memory.parts) {
      const std::string& name = memory.names.at(part.group);
      CAPTURE(name);
      if (name == "/pods") {
        CHECK(part.used == 700);
        continue;
      }
      REQUIRE(expected_groups.contains(name));
      CHECK(part.used == expected_groups.at(name).used);
    }
  };
  for (const int error : {ENOENT, ENODEV}) CHECK(fail_each_call(error, check_values) > 8);
}
