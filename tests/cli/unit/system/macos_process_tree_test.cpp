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

struct Process {
  int parent;
  std::uint64_t start;
  std::uint32_t status = running;
  bool is_hidden = false;  // another user's
};

std::map<int, Process> machine;

std::vector<std::uint32_t> pids_of(const ProcessTree& tree) {
  std::vector<std::uint32_t> all;
  for (const auto& each : tree.members()) all.push_back(each.pid);
  std::sort(all.begin(), all.end());
  return all;
}

using Pids = std::vector<std::uint32_t>;

}  // namespace

extern "C" int proc_pidinfo(int pid, int flavor, std::uint64_t, void* out, int size) {
  const auto found = machine.find(pid);
  if (flavor != PROC_PIDTBSDINFO || size != sizeof(proc_bsdinfo) || found == machine.end() ||
      found->second.is_hidden)
    return 0;
  const proc_bsdinfo about{found->second.status, found->second.start, 7};
  std::memcpy(out, &about, sizeof about);
  return size;
}

// As many as fit.
extern "C" int proc_listchildpids(pid_t parent, void* out, int size) {
  int count = 0;
  for (const auto& [pid, about] : machine) {
    if (about.parent != parent || count == size / static_cast<int>(sizeof pid)) continue;
    static_cast<pid_t*>(out)[count++] = pid;
  }
  return count;
}

TEST_CASE("macOS: a process, its children and theirs") {
  machine = {{10, {1, 100}}, {11, {10, 101}}, {12, {11, 102}}, {20, {1, 103}}};
  ProcessTree tree({}, 10);
  CHECK(pids_of(tree) == Pids{10});
  tree.refresh({});
  CHECK(pids_of(tree) == Pids{10, 11, 12});
  CHECK(tree.members().front().start == 100'000'007);
}

TEST_CASE("macOS: a child stays after its parent has ended, and one that ended goes") {
  machine = {{10, {1, 100}}, {11, {10, 101}}, {12, {11, 102}}};
  ProcessTree tree({}, 10);
  tree.refresh({});
  machine.erase(11);
  machine[12].parent = 1;
  tree.refresh({});
  CHECK(pids_of(tree) == Pids{10, 12});
  machine[12].status = zombie;
  tree.refresh({});
  CHECK(pids_of(tree) == Pids{10});
}

TEST_CASE("macOS: another process with the same pid is not ours") {
  machine = {{10, {1, 100}}, {11, {10, 101}}};
  ProcessTree tree({}, 10);
  tree.refresh({});
  machine[11] = {1, 500};
  tree.refresh({});
  CHECK(pids_of(tree) == Pids{10});
}

TEST_CASE("macOS: what may not be asked about is left out") {
  machine = {{10, {1, 100}}, {11, {10, 101, running, true}}, {30, {1, 104}}};
  ProcessTree tree({}, 10);
  tree.refresh({30, 31});
  CHECK(pids_of(tree) == Pids{10, 30});
}

TEST_CASE("macOS: more children than there was room for at first") {
  machine = {{10, {1, 100}}};
  for (int pid = 1000; pid < 1300; ++pid) machine[pid] = {10, 101};
  ProcessTree tree({}, 10);
  tree.refresh({});
  CHECK(tree.members().size() == 301);
}
