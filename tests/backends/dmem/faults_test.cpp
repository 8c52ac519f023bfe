// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of a survey fails once, with each error: no value is another group's, no limit is
// wider than the one that applies, and what is missing is reported.
#include "faults.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>

#include "host_of.hpp"

using namespace hmn;

namespace {

std::string faulty_vram(std::uint64_t bytes) {
  return "drm/0000:03:00.0/vram0 " + std::to_string(bytes) + "\n";
}
const std::string no_limit = "drm/0000:03:00.0/vram0 max\n";

class FaultyMachine {
 public:
  FaultyMachine() {
    tree_.write("proc/self/cgroup", "0::/\n");
    hmn_fake::set_cgroup_v2(tree_, "", {{"cgroup.subtree_control", "memory dmem\n"}});
    add("pods", 700, faulty_vram(1000), "dmem\n");
    add("pods/a", 300, no_limit, "");
    add("pods/b", 400, faulty_vram(500), "");
    add("init.scope", 5, no_limit, "");
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::host_of(tree_); }

 private:
  void add(const char* group, std::uint64_t used, const std::string& most,
           const char* divided) const {
    hmn_fake::set_cgroup_v2(tree_, group,
                            {{"dmem.current", faulty_vram(used)},
                             {"dmem.max", most},
                             {"cgroup.subtree_control", divided}});
  }

  hmn_fake::Tree tree_;
};

struct Truth {
  std::uint64_t used;
  std::optional<std::uint64_t> limit;
};
const std::map<std::string, Truth> all_groups = {
    {"/pods/a", {300, 1000}}, {"/pods/b", {400, 500}}, {"/init.scope", {5, {}}}};

void judge(const GroupMemory& reported, bool is_whole) {
  for (const GroupMemory::Part& p : reported.parts) {
    const std::string& name = reported.names.at(p.group);
    CAPTURE(name);
    REQUIRE(all_groups.contains(name));
    CHECK(p.used == all_groups.at(name).used);
    if (is_whole || p.limit) CHECK(p.limit == all_groups.at(name).limit);
  }
  if (is_whole) CHECK(reported.parts.size() == all_groups.size());
}

// A survey for each call that there is, which fails with `error`. How many there were.
template <class Judge>
int fail_each_call(int error, Judge&& judge) {
  const FaultyMachine m;
  for (int n = 0;; ++n) {
    CAPTURE(error);
    CAPTURE(n);
    const auto host = m.host();
    REQUIRE(host->describe_source(Source::dmem)->state == State::ready);
    GroupMemory reported;
    faults::arm(n, error);
    const Result<void> done = host->groups(reported);
    if (!faults::disarm()) return n;
    judge(reported, static_cast<bool>(done));
  }
}

}  // namespace

TEST_CASE("a call that fails once") {
  for (const int error : {EACCES, EMFILE, EIO}) CHECK(fail_each_call(error, judge) > 8);
}

// What went while it was looked at is no news, and what is reported is true. One that had others in
// it cannot go before them: reported as one of its own it has what it had.
TEST_CASE("a group that is gone within the survey") {
  const auto is_true = [](const GroupMemory& reported, bool) {
    for (const GroupMemory::Part& p : reported.parts) {
      const std::string& name = reported.names.at(p.group);
      CAPTURE(name);
      if (name == "/pods") {
        CHECK(p.used == 700);
        continue;
      }
      REQUIRE(all_groups.contains(name));
      CHECK(p.used == all_groups.at(name).used);
    }
  };
  for (const int error : {ENOENT, ENODEV}) CHECK(fail_each_call(error, is_true) > 8);
}
