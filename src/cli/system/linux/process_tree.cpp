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

// Room for many pids; no command starts a larger tree.
constexpr std::size_t max_children_bytes = 1 << 20;

// Reads files of processes; a process that has ended is no error.
class ProcReader {
 public:
  // Returns none for a process that has ended or cannot be read.
  std::optional<Process> read_stat(const std::string& proc, std::uint32_t pid) {
    const auto path = fmt::format("{}/{}/stat", proc, pid);
    std::array<char, 4096> buffer;
    const auto length = platform::read_small(path.c_str(), buffer);
    if (!length) return note_error(path, length.error), std::nullopt;
    const auto process_stat = procfs::parse_stat({buffer.data(), length.value});
    if (!process_stat) return note_error(path, EBADMSG), std::nullopt;
    const auto signal = procfs::parse_exit_signal({buffer.data(), length.value});
    return Process{process_stat->ppid, process_stat->starttime, process_stat->is_dead(),
                   signal == SIGCHLD};
  }
  std::vector<std::uint32_t> list_pids(const std::string& folder) {
    std::vector<std::uint32_t> pids;
    note_error(folder, procfs::list_pids(folder.c_str(), pids));
    return pids;
  }
  std::vector<std::uint32_t> read_pids(const std::string& file) {
    std::string text;
    note_error(file, platform::read_whole(file.c_str(), text, max_children_bytes).error);
    return procfs::parse_pids(text);
  }
  // Returns why something could not be read; empty: nothing failed.
  const std::string& error() const { return error_; }

 private:
  void note_error(const std::string& path, int error) {
    if (error == 0 || error == ENOENT || error == ESRCH || !error_.empty()) return;
    error_ = fmt::format("cannot read {}: {}", path, std::strerror(error));
  }

  std::string error_;
};

std::optional<std::uint64_t> read_process_start(const Roots& roots, std::uint32_t pid) {
  const auto process = ProcReader().read_stat(roots.proc, pid);
  return process && !process->has_ended ? std::optional(process->start) : std::nullopt;
}

struct ProcessTree::State {
  State(std::string proc_root, std::uint32_t root_pid, bool adopts_orphans);
  void remove_ended();
  void add(std::uint32_t pid);
  void add_root();
  std::vector<std::uint32_t> list_children(std::uint32_t pid);
  void add_orphans();
  void scan_all_processes();
  bool contains(std::uint32_t pid) const;

  std::string proc;
  std::string foreign_reason;
  std::uint32_t root;
  std::optional<std::uint32_t> adopter;  // of the orphans
  bool is_root_known = false;            // it was read once, or had ended before that
  ProcReader reader;                     // of the last refresh
  bool has_children_files;
  std::vector<Member> members;
  // Known unrelated processes, for systems without such files.
  std::unordered_set<std::uint32_t> unrelated;
  unsigned refreshes = 0;
};

ProcessTree::State::State(std::string proc_root, std::uint32_t root_pid, bool adopts_orphans)
    : proc(std::move(proc_root)),
      foreign_reason(procfs::explain_foreign_tree(proc).value_or("")),
      root(root_pid),
      adopter(adopts_orphans ? std::optional(static_cast<std::uint32_t>(getpid())) : std::nullopt),
      // Linux 3.5 with CONFIG_PROC_CHILDREN.
      has_children_files(
          access(fmt::format("{0}/{1}/task/{1}/children", proc, root_pid).c_str(), R_OK) == 0) {
  if (foreign_reason.empty()) add_root();
}

bool ProcessTree::State::contains(std::uint32_t pid) const {
  return std::any_of(members.begin(), members.end(),
                     [pid](const Member& member) { return member.pid == pid; });
}

void ProcessTree::State::add(std::uint32_t pid) {
  if (contains(pid)) return;
  if (const auto process = reader.read_stat(proc, pid); process && !process->has_ended)
    members.push_back({pid, process->start});
}

void ProcessTree::State::add_root() {
  if (is_root_known) return;
  add(root);
  is_root_known = contains(root) || reader.error().empty();
}

void ProcessTree::State::remove_ended() {
  std::erase_if(members, [this](const Member& member) {
    ProcReader member_reader;
    const auto process = member_reader.read_stat(proc, member.pid);
    if (!member_reader.error().empty()) return reader = std::move(member_reader), false;
    return !process || process->start != member.start || process->has_ended;
  });
}

std::vector<std::uint32_t> ProcessTree::State::list_children(std::uint32_t pid) {
  std::vector<std::uint32_t> pids;
  const auto tasks = fmt::format("{}/{}/task", proc, pid);
  for (const auto thread : reader.list_pids(tasks))
    for (const auto child : reader.read_pids(fmt::format("{}/{}/children", tasks, thread)))
      pids.push_back(child);
  return pids;
}

void ProcessTree::State::add_orphans() {
  if (!adopter) return;
  for (const auto pid : list_children(*adopter))
    if (const auto process = reader.read_stat(proc, pid); process && process->is_program) add(pid);
}

// Reads each process once: its parent changes only when the parent ends.
void ProcessTree::State::scan_all_processes() {
  const auto all = reader.list_pids(proc);
  if (refreshes++ % refreshes_before_rescan == 0) unrelated.clear();
  const std::unordered_set<std::uint32_t> alive(all.begin(), all.end());
  std::erase_if(unrelated, [&](std::uint32_t pid) { return !alive.contains(pid); });
  std::vector<std::pair<std::uint32_t, Process>> candidates;
  for (const auto pid : all)
    if (!unrelated.contains(pid) && !contains(pid))
      if (const auto process = reader.read_stat(proc, pid)) candidates.emplace_back(pid, *process);
  for (bool grew = true; grew;) {
    grew = false;
    std::erase_if(candidates, [&](const auto& candidate) {
      const bool is_adopted = candidate.second.parent == adopter && candidate.second.is_program;
      if (!is_adopted && !contains(candidate.second.parent)) return false;
      if (!candidate.second.has_ended) members.push_back({candidate.first, candidate.second.start});
      grew = true;
      return true;
    });
  }
  for (const auto& [pid, process] : candidates) unrelated.insert(pid);
}

ProcessTree::ProcessTree(const Roots& roots, std::uint32_t root_pid, bool adopts_orphans)
    : state_(std::make_unique<State>(roots.proc, root_pid, adopts_orphans)) {}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& extra_pids) {
  auto& state = *state_;
  if (!state.foreign_reason.empty()) return;
  state.reader = {};
  state.remove_ended();
  state.add_root();
  for (const auto pid : extra_pids) state.add(pid);
  if (!state.has_children_files) return state.scan_all_processes();
  state.add_orphans();
  for (std::size_t i = 0; i < state.members.size(); ++i)
    for (const auto child : state.list_children(state.members[i].pid)) state.add(child);
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::error() const {
  return state_->foreign_reason.empty() ? state_->reader.error() : state_->foreign_reason;
}

}  // namespace hmn::cli
