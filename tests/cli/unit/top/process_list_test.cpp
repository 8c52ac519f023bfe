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

ProcessReading make_process(std::uint32_t pid, std::optional<std::uint64_t> used, const char* user,
                            const char* command) {
  ProcessReading process;
  process.gpu = std::make_shared<const hmn::cli::Gpu>();
  process.usage.pid = pid;
  process.usage.used_bytes = used;
  process.usage.process_command = command;
  process.user = user;
  return process;
}

ProcessReadings make_processes() {
  ProcessReadings processes{
      make_process(1, 100, "alice", "python3 train.py"), make_process(2, 301, "bob", "blender"),
      make_process(3, {}, "alice", "Xorg"), make_process(4, 200, "alice", "vllm serve")};
  processes[0].usage.process_container = "docker:web";
  processes[0].usage.busy_percent = 5;
  processes[1].usage.busy_percent = 50;
  processes[3].usage.device_index = 1;
  return processes;
}

std::vector<std::uint32_t> list_visible_pids(const ProcessReadings& processes,
                                             const ListChoice& choice) {
  std::vector<std::uint32_t> pids;
  for (const auto& line : make_list(processes, choice).lines)
    pids.push_back(line.process != nullptr ? line.process->usage.pid : 0);
  return pids;
}

using PidList = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("rows sort by the chosen column, with unknown values last in both directions") {
  const auto processes = make_processes();
  ListChoice choice;
  CHECK(list_visible_pids(processes, choice) == PidList{2, 4, 1, 3});
  choice.is_reverse = true;
  CHECK(list_visible_pids(processes, choice) == PidList{1, 4, 2, 3});
  choice = {};
  choice.sort = Column::load;
  CHECK(list_visible_pids(processes, choice) == PidList{2, 1, 3, 4});
  choice.is_reverse = true;
  CHECK(list_visible_pids(processes, choice) == PidList{1, 2, 3, 4});
  choice = {};
  choice.sort = Column::command;
  CHECK(list_visible_pids(processes, choice) == PidList{3, 2, 1, 4});
}

TEST_CASE("sorting by any column keeps all rows") {
  const auto processes = make_processes();
  for (std::size_t i = 0; i < column_count; ++i)
    for (const bool reverse : {false, true}) {
      ListChoice choice;
      choice.sort = column_at(i);
      choice.is_reverse = reverse;
      CHECK(list_visible_pids(processes, choice).size() == processes.size());
    }
}

TEST_CASE("the filter matches pid, user, command and container, ignoring case") {
  const auto processes = make_processes();
  ListChoice choice;
  for (const auto& [filter, expected] : {std::pair<const char*, PidList>{"TRAIN", {1}},
                                         {"bob", {2}},
                                         {"docker:WEB", {1}},
                                         {"4", {4}},
                                         {"e", {2, 4, 1, 3}},
                                         {"nothing", {}}}) {
    choice.filter = filter;
    CAPTURE(filter);
    CHECK(list_visible_pids(processes, choice) == expected);
    CHECK(make_list(processes, choice).hidden_count == processes.size() - expected.size());
  }
}

TEST_CASE("groups have a header with sums and are sorted by size") {
  const auto processes = make_processes();
  ListChoice choice;
  choice.grouping = Grouping::user;
  CHECK(list_visible_pids(processes, choice) == PidList{0, 2, 0, 4, 1, 3});
  const auto list = make_list(processes, choice);
  REQUIRE(list.groups.size() == 2);
  CHECK(list.groups[0].name == "bob");
  CHECK(list.groups[0].total.bytes() == 301);
  CHECK_FALSE(list.groups[0].total.is_at_least());
  CHECK(list.groups[1].processes.size() == 3);
  CHECK(list.groups[1].total.bytes() == 300);
  CHECK(list.groups[1].total.is_at_least());  // one is unknown
  CHECK(list.groups[1].total.busy_percent() == 5);
  CHECK(list.groups[1].total.is_busy_at_least());
  choice.grouping = Grouping::container;
  CHECK(make_list(processes, choice).groups.size() == 2);
}

TEST_CASE("a process on two devices counts once in its group") {
  auto processes = make_processes();
  processes[1].usage.pid = 1;
  processes[1].user = "alice";
  ListChoice choice;
  choice.grouping = Grouping::user;
  const auto list = make_list(processes, choice);
  CHECK(list.groups[0].processes.size() == 3);
  CHECK(list.shown_count == 3);
  choice.filter = "nothing";
  CHECK(make_list(processes, choice).hidden_count == 3);
}

TEST_CASE("a process listed by a partition and its GPU is summed once") {
  auto processes = make_processes();
  hmn::cli::Gpu partition;
  partition.device.index = 3;
  partition.device.parent_index = 0;
  processes.push_back(processes[1]);
  processes.back().usage.device_index = 3;
  processes.back().gpu = std::make_shared<const hmn::cli::Gpu>(partition);
  ListChoice choice;
  choice.grouping = Grouping::user;
  const auto list = make_list(processes, choice);
  CHECK(list.groups[0].total.bytes() == 301);
  CHECK(list.groups[0].total.busy_percent() == 50);
  CHECK(list.groups[0].rows.size() == 2);  // both are listed
}

TEST_CASE("sums are lower bounds if processes or their owners are unknown") {
  auto processes = make_processes();
  ListChoice choice;
  choice.grouping = Grouping::user;
  CHECK(make_list(processes, choice, true).groups[0].total.is_at_least());
  processes[2].user.reset();
  const auto list = make_list(processes, choice);
  CHECK(list.groups[0].total.is_at_least());
  CHECK_FALSE(list.groups.back().is_known);
}

TEST_CASE("the container of a process of another PID namespace is unknown") {
  auto processes = make_processes();
  processes[1].usage.notes |= hypomnesis::note::foreign_pid;
  ListChoice choice;
  choice.grouping = Grouping::container;
  const auto list = make_list(processes, choice);
  REQUIRE(list.groups.size() == 3);
  CHECK_FALSE(list.groups[2].is_known);
  REQUIRE(list.groups[2].rows.size() == 1);
  CHECK(list.lines[list.lines.size() - 1].process->usage.pid == 2);
}

TEST_CASE("with a selected device only its rows are listed") {
  const auto processes = make_processes();
  ListChoice choice;
  choice.device = 1;
  CHECK(list_visible_pids(processes, choice) == PidList{4});
  CHECK(make_list(processes, choice).hidden_count == 0);
}
