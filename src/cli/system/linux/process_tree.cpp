// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

#include "platform/file.hpp"
#include "procfs/own_tree.hpp"
#include "procfs/pids.hpp"
#include "procfs/stat.hpp"

namespace hmn::cli {
namespace {

// Interval of full scans, which find a pid that is reused within this tree.
constexpr unsigned refreshes_before_rescan = 64;

struct process {
  std::uint32_t parent;
  std::uint64_t start;  // clock ticks since boot
  bool has_ended;
};

std::string_view read_small(const std::string& path, std::array<char, 16384>& buffer) {
  const auto got = platform::read_small(path.c_str(), buffer);
  return {buffer.data(), got ? got.value : 0};
}

std::optional<process> read_stat(const std::string& proc, std::uint32_t pid) {
  std::array<char, 16384> buffer;
  const auto found = procfs::parse_stat(read_small(fmt::format("{}/{}/stat", proc, pid), buffer));
  if (!found) return std::nullopt;
  return process{found->ppid, found->starttime, found->is_dead()};
}

std::vector<std::uint32_t> pids_in(const std::string& folder) {
  std::vector<std::uint32_t> all;
  (void)procfs::list_pids(folder.c_str(), all);
  return all;
}

}  // namespace

std::optional<std::uint64_t> process_start(const roots& in, std::uint32_t pid) {
  const auto found = read_stat(in.proc, pid);
  return found && !found->has_ended ? std::optional(found->start) : std::nullopt;
}

struct process_tree::state {
  state(std::string proc_root, std::uint32_t root_pid);
  void drop_ended();
  void add(std::uint32_t pid);
  void add_children_of(std::uint32_t pid);
  void add_from_all();
  bool contains(std::uint32_t pid) const;

  std::string proc;
  std::string why_not;
  bool has_children_files;
  std::vector<member> members;
  // Known unrelated processes, for systems without such files.
  std::unordered_set<std::uint32_t> unrelated;
  unsigned refreshes = 0;
};

process_tree::state::state(std::string proc_root, std::uint32_t root_pid)
    : proc(std::move(proc_root)),
      why_not(procfs::why_foreign(proc).value_or("")),
      // Linux 3.5 with CONFIG_PROC_CHILDREN.
      has_children_files(
          access(fmt::format("{0}/{1}/task/{1}/children", proc, root_pid).c_str(), R_OK) == 0) {
  if (why_not.empty()) add(root_pid);
}

bool process_tree::state::contains(std::uint32_t pid) const {
  return std::any_of(members.begin(), members.end(),
                     [pid](const member& each) { return each.pid == pid; });
}

void process_tree::state::add(std::uint32_t pid) {
  if (contains(pid)) return;
  if (const auto found = read_stat(proc, pid); found && !found->has_ended)
    members.push_back({pid, found->start});
}

void process_tree::state::drop_ended() {
  std::erase_if(members, [this](const member& each) {
    const auto now = read_stat(proc, each.pid);
    return !now || now->start != each.start || now->has_ended;
  });
}

void process_tree::state::add_children_of(std::uint32_t pid) {
  std::array<char, 16384> buffer;
  for (const auto thread : pids_in(fmt::format("{}/{}/task", proc, pid))) {
    const auto path = fmt::format("{}/{}/task/{}/children", proc, pid, thread);
    for (const auto child : procfs::parse_pids(read_small(path, buffer))) add(child);
  }
}

// Reads each process once: its parent changes only when the parent ends.
void process_tree::state::add_from_all() {
  const auto all = pids_in(proc);
  if (refreshes++ % refreshes_before_rescan == 0) unrelated.clear();
  const std::unordered_set<std::uint32_t> alive(all.begin(), all.end());
  std::erase_if(unrelated, [&](std::uint32_t pid) { return !alive.contains(pid); });
  std::vector<std::pair<std::uint32_t, process>> fresh;
  for (const auto pid : all)
    if (!unrelated.contains(pid) && !contains(pid))
      if (const auto found = read_stat(proc, pid)) fresh.emplace_back(pid, *found);
  for (bool grew = true; grew;) {
    grew = false;
    std::erase_if(fresh, [&](const auto& each) {
      if (!contains(each.second.parent)) return false;
      if (!each.second.has_ended) members.push_back({each.first, each.second.start});
      grew = true;
      return true;
    });
  }
  for (const auto& [pid, what] : fresh) unrelated.insert(pid);
}

process_tree::process_tree(const roots& in, std::uint32_t root_pid)
    : state_(std::make_unique<state>(in.proc, root_pid)) {}

process_tree::~process_tree() = default;

void process_tree::refresh(const std::vector<std::uint32_t>& also) {
  auto& in = *state_;
  if (!in.why_not.empty()) return;
  in.drop_ended();
  for (const auto pid : also) in.add(pid);
  if (!in.has_children_files) return in.add_from_all();
  for (std::size_t i = 0; i < in.members.size(); ++i) in.add_children_of(in.members[i].pid);
}

const std::vector<process_tree::member>& process_tree::members() const {
  return state_->members;
}

const std::string& process_tree::why_not() const {
  return state_->why_not;
}

}  // namespace hmn::cli
