// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <libproc.h>
#include <sys/proc_info.h>

#include <algorithm>
#include <optional>

namespace hmn::cli {
namespace {

constexpr std::uint32_t zombie = 5;  // SZOMB of sys/proc.h
constexpr std::size_t max_children = 1 << 16;

// Returns the start time in microseconds; none for a process that has ended or is not accessible.
std::optional<std::uint64_t> read_start(std::uint32_t pid) {
  proc_bsdinfo info{};
  const int size = proc_pidinfo(static_cast<int>(pid), PROC_PIDTBSDINFO, 0, &info, sizeof info);
  if (size != static_cast<int>(sizeof info) || info.pbi_status == zombie) return std::nullopt;
  return info.pbi_start_tvsec * 1'000'000 + info.pbi_start_tvusec;
}

std::vector<pid_t> list_children(std::uint32_t pid) {
  for (std::size_t capacity = 64; capacity <= max_children; capacity *= 4) {
    std::vector<pid_t> pids(capacity);
    const int count = proc_listchildpids(static_cast<pid_t>(pid), pids.data(),
                                         static_cast<int>(capacity * sizeof(pid_t)));
    if (count < 0) return {};
    const auto pid_count = static_cast<std::size_t>(count);
    if (pid_count >= capacity) continue;
    pids.resize(pid_count);
    return pids;
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> read_process_start(const Roots&, std::uint32_t pid) {
  return read_start(pid);
}

struct ProcessTree::State {
  void add(std::uint32_t pid);

  std::vector<Member> members;
};

void ProcessTree::State::add(std::uint32_t pid) {
  const bool is_known = std::any_of(members.begin(), members.end(),
                                    [pid](const Member& member) { return member.pid == pid; });
  if (is_known) return;
  if (const auto start = read_start(pid)) members.push_back({pid, *start});
}

ProcessTree::ProcessTree(const Roots&, std::uint32_t root_pid, bool)
    : state_(std::make_unique<State>()) {
  state_->add(root_pid);
}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& extra_pids) {
  auto& members = state_->members;
  std::erase_if(members,
                [](const Member& member) { return read_start(member.pid) != member.start; });
  for (const auto pid : extra_pids) state_->add(pid);
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const auto child : list_children(members[i].pid))
      if (child > 0) state_->add(static_cast<std::uint32_t>(child));
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::error() const {
  static const std::string none;
  return none;
}

}  // namespace hmn::cli
