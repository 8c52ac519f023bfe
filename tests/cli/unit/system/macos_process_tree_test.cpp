// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <libproc.h>
#include <sys/proc_info.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "cli/system/process_tree.hpp"

using hmn::cli::ProcessTree;

namespace {

constexpr std::uint32_t running = 2;
constexpr std::uint32_t zombie = 5;

struct FakeProcess {
  int parent;
  std::uint64_t start;
  std::uint32_t status = running;
  bool is_hidden = false;  // another user's
};

std::map<int, FakeProcess> processes;

std::vector<std::uint32_t> list_pids(const ProcessTree& tree) {
  std::vector<std::uint32_t> pids;
  for (const auto& member : tree.members()) pids.push_back(member.pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

using Pids = std::vector<std::uint32_t>;

}  // namespace

extern "C" int proc_pidinfo(int pid, int flavor, std::uint64_t, void* out, int size) {
  const auto it = processes.find(pid);
  if (flavor != PROC_PIDTBSDINFO || size != sizeof(proc_bsdinfo) || it == processes.end() ||
      it->second.is_hidden)
    return 0;
  const proc_bsdinfo info{it->second.status, it->second.start, 7};
  std::memcpy(out, &info, sizeof info);
  return size;
}

// Lists as many children as fit.
extern "C" int proc_listchildpids(pid_t parent, void* out, int size) {
  int count = 0;
  for (const auto& [pid, process] : processes) {
    if (process.parent != parent || count == size / static_cast<int>(sizeof pid)) continue;
    static_cast<pid_t*>(out)[count++] = pid;
  }
  return count;
}

TEST_CASE("macOS: a tree lists a process, its children and their children") {
  processes = {{10, {1, 100}}, {11, {10, 101}}, {12, {11, 102}}, {20, {1, 103}}};
  ProcessTree tree({}, 10);
  CHECK(list_pids(tree) == Pids{10});
  tree.refresh({});
  CHECK(list_pids(tree) == Pids{10, 11, 12});
  CHECK(tree.members().front().start == 100'000'007);
}

TEST_CASE("macOS: a child stays after its parent ends, and leaves when it ends itself") {
  processes = {{10, {1, 100}}, {11, {10, 101}}, {12, {11, 102}}};
  ProcessTree tree({}, 10);
  tree.refresh({});
  processes.erase(11);
  processes[12].parent = 1;
  tree.refresh({});
  CHECK(list_pids(tree) == Pids{10, 12});
  processes[12].status = zombie;
  tree.refresh({});
  CHECK(list_pids(tree) == Pids{10});
}

TEST_CASE("macOS: another process with the same pid is not a member") {
  processes = {{10, {1, 100}}, {11, {10, 101}}};
  ProcessTree tree({}, 10);
  tree.refresh({});
  processes[11] = {1, 500};
  tree.refresh({});
  CHECK(list_pids(tree) == Pids{10});
}

TEST_CASE("macOS: a process that may not be queried is left out") {
  processes = {{10, {1, 100}}, {11, {10, 101, running, true}}, {30, {1, 104}}};
  ProcessTree tree({}, 10);
  tree.refresh({30, 31});
  CHECK(list_pids(tree) == Pids{10, 30});
}

TEST_CASE("macOS: more children than the first buffer holds are all found") {
  processes = {{10, {1, 100}}};
  for (int pid = 1000; pid < 1300; ++pid) processes[pid] = {10, 101};
  ProcessTree tree({}, 10);
  tree.refresh({});
  CHECK(tree.members().size() == 301);
}
