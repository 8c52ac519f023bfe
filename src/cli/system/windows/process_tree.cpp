// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <algorithm>
#include <optional>

#include "cli/system/windows/error_text.hpp"
#include "platform/windows/handle.hpp"

// Requires windows.h first.
#include <tlhelp32.h>

namespace hmn::cli {
namespace {

struct entry {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
};

std::vector<entry> all_processes(std::string& why_not) {
  std::vector<entry> all;
  why_not.clear();
  const platform::handle list(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!list) return why_not = "cannot list the processes: " + last_error_text(), all;
  PROCESSENTRY32W each{};
  each.dwSize = sizeof each;
  for (BOOL found = Process32FirstW(list.get(), &each); found != 0;
       found = Process32NextW(list.get(), &each))
    all.push_back({each.th32ProcessID, each.th32ParentProcessID});
  return all;
}

// Returns the creation time in 100 ns; none for a process that has ended or is not accessible.
std::optional<std::uint64_t> start_of(std::uint32_t pid) {
  const platform::handle process(
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, pid));
  FILETIME created{}, ended{}, kernel{}, user{};
  if (!process || WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0 ||
      GetProcessTimes(process.get(), &created, &ended, &kernel, &user) == 0)
    return std::nullopt;
  return (std::uint64_t{created.dwHighDateTime} << 32) | created.dwLowDateTime;
}

}  // namespace

std::optional<std::uint64_t> process_start(const roots&, std::uint32_t pid) {
  return start_of(pid);
}

struct process_tree::state {
  const member* find(std::uint32_t pid) const;
  void add(std::uint32_t pid);
  void add_descendants();

  std::vector<member> members;
  std::string why_not;
};

const process_tree::member* process_tree::state::find(std::uint32_t pid) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [pid](const member& each) { return each.pid == pid; });
  return found == members.end() ? nullptr : &*found;
}

void process_tree::state::add(std::uint32_t pid) {
  if (find(pid) != nullptr) return;
  if (const auto start = start_of(pid)) members.push_back({pid, *start});
}

// Adds children that are no older than their parent: a process keeps the number of a parent that
// has ended, which may have been reused.
void process_tree::state::add_descendants() {
  const auto all = all_processes(why_not);
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& each : all) {
      const auto* parent = find(each.parent);
      if (parent == nullptr || find(each.pid) != nullptr) continue;
      const auto start = start_of(each.pid);
      if (!start || *start < parent->start) continue;
      members.push_back({each.pid, *start});
      grew = true;
    }
  }
}

process_tree::process_tree(const roots&, std::uint32_t root_pid)
    : state_(std::make_unique<state>()) {
  state_->add(root_pid);
}

process_tree::~process_tree() = default;

void process_tree::refresh(const std::vector<std::uint32_t>& also) {
  std::erase_if(state_->members,
                [](const member& each) { return start_of(each.pid) != each.start; });
  for (const auto pid : also) state_->add(pid);
  state_->add_descendants();
}

const std::vector<process_tree::member>& process_tree::members() const {
  return state_->members;
}

const std::string& process_tree::why_not() const {
  return state_->why_not;
}

}  // namespace hmn::cli
