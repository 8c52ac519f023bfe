// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/process_list.hpp"

#include <doctest/doctest.h>

using hmn::cli::Grouping;
using hmn::cli::top::Column;
using hmn::cli::top::column_at;
using hmn::cli::top::column_count;
using hmn::cli::top::ListChoice;
using hmn::cli::top::make_list;
using hmn::cli::top::ProcessReading;
using hmn::cli::top::ProcessReadings;

namespace {

ProcessReading reading(std::uint32_t pid, std::optional<std::uint64_t> used, const char* user,
                       const char* command) {
  ProcessReading made;
  made.on = std::make_shared<const hmn::cli::Gpu>();
  made.usage.pid = pid;
  made.usage.used_bytes = used;
  made.usage.process_command = command;
  made.user = user;
  return made;
}

ProcessReadings some() {
  ProcessReadings all{reading(1, 100, "alice", "python3 train.py"),
                      reading(2, 301, "bob", "blender"), reading(3, {}, "alice", "Xorg"),
                      reading(4, 200, "alice", "vllm serve")};
  all[0].usage.process_container = "docker:web";
  all[0].usage.busy_percent = 5;
  all[1].usage.busy_percent = 50;
  all[3].usage.device_index = 1;
  return all;
}

std::vector<std::uint32_t> shown(const ProcessReadings& all, const ListChoice& how) {
  std::vector<std::uint32_t> found;
  for (const auto& line : make_list(all, how).lines)
    found.push_back(line.process != nullptr ? line.process->usage.pid : 0);
  return found;
}

using PidList = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("rows are sorted by the column, unknown values last in either direction") {
  const auto all = some();
  ListChoice how;
  CHECK(shown(all, how) == PidList{2, 4, 1, 3});
  how.is_reverse = true;
  CHECK(shown(all, how) == PidList{1, 4, 2, 3});
  how = {};
  how.sort = Column::load;
  CHECK(shown(all, how) == PidList{2, 1, 3, 4});
  how.is_reverse = true;
  CHECK(shown(all, how) == PidList{1, 2, 3, 4});
  how = {};
  how.sort = Column::command;
  CHECK(shown(all, how) == PidList{3, 2, 1, 4});
}

TEST_CASE("each column is an order of all rows") {
  const auto all = some();
  for (std::size_t i = 0; i < column_count; ++i)
    for (const bool reverse : {false, true}) {
      ListChoice how;
      how.sort = column_at(i);
      how.is_reverse = reverse;
      CHECK(shown(all, how).size() == all.size());
    }
}

TEST_CASE("the filter finds pid, user, command and container in either case") {
  const auto all = some();
  ListChoice how;
  for (const auto& [filter, expected] : {std::pair<const char*, PidList>{"TRAIN", {1}},
                                         {"bob", {2}},
                                         {"docker:WEB", {1}},
                                         {"4", {4}},
                                         {"e", {2, 4, 1, 3}},
                                         {"nothing", {}}}) {
    how.filter = filter;
    CAPTURE(filter);
    CHECK(shown(all, how) == expected);
    CHECK(make_list(all, how).hidden == all.size() - expected.size());
  }
}

TEST_CASE("groups have a header with sums, the largest first") {
  const auto all = some();
  ListChoice how;
  how.by = Grouping::user;
  CHECK(shown(all, how) == PidList{0, 2, 0, 4, 1, 3});
  const auto list = make_list(all, how);
  REQUIRE(list.groups.size() == 2);
  CHECK(list.groups[0].name == "bob");
  CHECK(list.groups[0].total.bytes() == 301);
  CHECK_FALSE(list.groups[0].total.is_at_least());
  CHECK(list.groups[1].processes.size() == 3);
  CHECK(list.groups[1].total.bytes() == 300);
  CHECK(list.groups[1].total.is_at_least());  // one is unknown
  CHECK(list.groups[1].total.busy_percent() == 5);
  CHECK(list.groups[1].total.is_busy_at_least());
  how.by = Grouping::container;
  CHECK(make_list(all, how).groups.size() == 2);
}

TEST_CASE("a process on two devices counts once in its group") {
  auto all = some();
  all[1].usage.pid = 1;
  all[1].user = "alice";
  ListChoice how;
  how.by = Grouping::user;
  const auto list = make_list(all, how);
  CHECK(list.groups[0].processes.size() == 3);
  CHECK(list.shown == 3);
  how.filter = "nothing";
  CHECK(make_list(all, how).hidden == 3);
}

TEST_CASE("a sum has what a partition and its GPU both list once") {
  auto all = some();
  hmn::cli::Gpu partition;
  partition.device.index = 3;
  partition.device.parent_index = 0;
  all.push_back(all[1]);
  all.back().usage.device_index = 3;
  all.back().on = std::make_shared<const hmn::cli::Gpu>(partition);
  ListChoice how;
  how.by = Grouping::user;
  const auto list = make_list(all, how);
  CHECK(list.groups[0].total.bytes() == 301);
  CHECK(list.groups[0].total.busy_percent() == 50);
  CHECK(list.groups[0].rows.size() == 2);  // both are listed
}

TEST_CASE("sums are lower bounds where processes are not known, or not whose") {
  auto all = some();
  ListChoice how;
  how.by = Grouping::user;
  CHECK(make_list(all, how, true).groups[0].total.is_at_least());
  all[2].user.reset();
  const auto list = make_list(all, how);
  CHECK(list.groups[0].total.is_at_least());
  CHECK_FALSE(list.groups.back().is_known);
}

TEST_CASE("a process of another PID namespace is not taken for one outside of containers") {
  auto all = some();
  all[1].usage.notes |= hypomnesis::note::foreign_pid;
  ListChoice how;
  how.by = Grouping::container;
  const auto list = make_list(all, how);
  REQUIRE(list.groups.size() == 3);
  CHECK_FALSE(list.groups[2].is_known);
  REQUIRE(list.groups[2].rows.size() == 1);
  CHECK(list.lines[list.lines.size() - 1].process->usage.pid == 2);
}

TEST_CASE("only the rows of a device are listed where one is chosen") {
  const auto all = some();
  ListChoice how;
  how.device = 1;
  CHECK(shown(all, how) == PidList{4});
  CHECK(make_list(all, how).hidden == 0);
}
