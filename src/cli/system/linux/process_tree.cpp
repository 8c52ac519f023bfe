// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::cli {
namespace {

// Interval of full scans, which find a pid that is reused within this tree.
constexpr unsigned refreshes_before_rescan = 64;

struct Process {
  std::uint32_t parent;
  std::uint64_t start;  // clock ticks since boot
  bool has_ended;
  // Its end is signalled as a program's; that of a supervisor in the library, which the process
  // is a part of, is not (platform/linux/supervisor.hpp).
  bool is_program;
};

}  // namespace

// Many pids fit; more is no tree that a command starts.
constexpr std::size_t longest_children = 1 << 20;

// Reads files of processes; one that has ended is no failure.
class ProcReader {
 public:
  // Returns none for a process that has ended or cannot be read.
  std::optional<Process> stat(const std::string& proc, std::uint32_t pid) {
    const auto path = fmt::format("{}/{}/stat", proc, pid);
    std::array<char, 4096> buffer;
    const auto got = platform::read_small(path.c_str(), buffer);
    if (!got) return note(path, got.error), std::nullopt;
    const auto found = procfs::parse_stat({buffer.data(), got.value});
    if (!found) return note(path, EBADMSG), std::nullopt;
    const auto signal = procfs::parse_exit_signal({buffer.data(), got.value});
    return Process{found->ppid, found->starttime, found->is_dead(), signal == SIGCHLD};
  }
  std::vector<std::uint32_t> pids_in(const std::string& folder) {
    std::vector<std::uint32_t> all;
    note(folder, procfs::list_pids(folder.c_str(), all));
    return all;
  }
  std::vector<std::uint32_t> pids_of(const std::string& file) {
    std::string text;
    note(file, platform::read_whole(file.c_str(), text, longest_children).error);
    return procfs::parse_pids(text);
  }
  // Returns why something could not be read; empty: nothing failed.
  const std::string& why() const { return why_; }

 private:
  void note(const std::string& path, int error) {
    if (error == 0 || error == ENOENT || error == ESRCH || !why_.empty()) return;
    why_ = fmt::format("cannot read {}: {}", path, std::strerror(error));
  }

  std::string why_;
};

std::optional<std::uint64_t> process_start(const Roots& in, std::uint32_t pid) {
  const auto found = ProcReader().stat(in.proc, pid);
  return found && !found->has_ended ? std::optional(found->start) : std::nullopt;
}

struct ProcessTree::State {
  State(std::string proc_root, std::uint32_t root_pid, bool adopts_orphans);
  void drop_ended();
  void add(std::uint32_t pid);
  void add_root();
  std::vector<std::uint32_t> children(std::uint32_t pid);
  void add_adopted();
  void add_from_all();
  bool contains(std::uint32_t pid) const;

  std::string proc;
  std::string why_foreign;
  std::uint32_t root;
  std::optional<std::uint32_t> adopter;  // of the orphans
  bool is_root_known = false;            // it was read once, or had ended before
  ProcReader read;                       // of the last refresh
  bool has_children_files;
  std::vector<Member> members;
  // Known unrelated processes, for systems without such files.
  std::unordered_set<std::uint32_t> unrelated;
  unsigned refreshes = 0;
};

ProcessTree::State::State(std::string proc_root, std::uint32_t root_pid, bool adopts_orphans)
    : proc(std::move(proc_root)),
      why_foreign(procfs::why_foreign(proc).value_or("")),
      root(root_pid),
      adopter(adopts_orphans ? std::optional(static_cast<std::uint32_t>(getpid())) : std::nullopt),
      // Linux 3.5 with CONFIG_PROC_CHILDREN.
      has_children_files(
          access(fmt::format("{0}/{1}/task/{1}/children", proc, root_pid).c_str(), R_OK) == 0) {
  if (why_foreign.empty()) add_root();
}

bool ProcessTree::State::contains(std::uint32_t pid) const {
  return std::any_of(members.begin(), members.end(),
                     [pid](const Member& each) { return each.pid == pid; });
}

void ProcessTree::State::add(std::uint32_t pid) {
  if (contains(pid)) return;
  if (const auto found = read.stat(proc, pid); found && !found->has_ended)
    members.push_back({pid, found->start});
}

void ProcessTree::State::add_root() {
  if (is_root_known) return;
  add(root);
  is_root_known = contains(root) || read.why().empty();
}

void ProcessTree::State::drop_ended() {
  std::erase_if(members, [this](const Member& each) {
    ProcReader one;
    const auto now = one.stat(proc, each.pid);
    if (!one.why().empty()) return read = std::move(one), false;
    return !now || now->start != each.start || now->has_ended;
  });
}

std::vector<std::uint32_t> ProcessTree::State::children(std::uint32_t pid) {
  std::vector<std::uint32_t> all;
  const auto tasks = fmt::format("{}/{}/task", proc, pid);
  for (const auto thread : read.pids_in(tasks))
    for (const auto child : read.pids_of(fmt::format("{}/{}/children", tasks, thread)))
      all.push_back(child);
  return all;
}

void ProcessTree::State::add_adopted() {
  if (!adopter) return;
  for (const auto pid : children(*adopter))
    if (const auto found = read.stat(proc, pid); found && found->is_program) add(pid);
}

// Reads each process once: its parent changes only when the parent ends.
void ProcessTree::State::add_from_all() {
  const auto all = read.pids_in(proc);
  if (refreshes++ % refreshes_before_rescan == 0) unrelated.clear();
  const std::unordered_set<std::uint32_t> alive(all.begin(), all.end());
  std::erase_if(unrelated, [&](std::uint32_t pid) { return !alive.contains(pid); });
  std::vector<std::pair<std::uint32_t, Process>> fresh;
  for (const auto pid : all)
    if (!unrelated.contains(pid) && !contains(pid))
      if (const auto found = read.stat(proc, pid)) fresh.emplace_back(pid, *found);
  for (bool grew = true; grew;) {
    grew = false;
    std::erase_if(fresh, [&](const auto& each) {
      const bool is_adopted = each.second.parent == adopter && each.second.is_program;
      if (!is_adopted && !contains(each.second.parent)) return false;
      if (!each.second.has_ended) members.push_back({each.first, each.second.start});
      grew = true;
      return true;
    });
  }
  for (const auto& [pid, what] : fresh) unrelated.insert(pid);
}

ProcessTree::ProcessTree(const Roots& in, std::uint32_t root_pid, bool adopts_orphans)
    : state_(std::make_unique<State>(in.proc, root_pid, adopts_orphans)) {}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& also) {
  auto& in = *state_;
  if (!in.why_foreign.empty()) return;
  in.read = {};
  in.drop_ended();
  in.add_root();
  for (const auto pid : also) in.add(pid);
  if (!in.has_children_files) return in.add_from_all();
  in.add_adopted();
  for (std::size_t i = 0; i < in.members.size(); ++i)
    for (const auto child : in.children(in.members[i].pid)) in.add(child);
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::why_not() const {
  return state_->why_foreign.empty() ? state_->read.why() : state_->why_foreign;
}

}  // namespace hmn::cli
