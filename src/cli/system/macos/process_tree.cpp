// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <libproc.h>
#include <sys/proc_info.h>

#include <algorithm>
#include <optional>

namespace hmn::cli {
namespace {

constexpr std::uint32_t zombie = 5;  // SZOMB of sys/proc.h
constexpr std::size_t most_children = 1 << 16;

// Returns the start time in microseconds; none for a process that has ended or is not accessible.
std::optional<std::uint64_t> start_of(std::uint32_t pid) {
  proc_bsdinfo about{};
  const int got = proc_pidinfo(static_cast<int>(pid), PROC_PIDTBSDINFO, 0, &about, sizeof about);
  if (got != static_cast<int>(sizeof about) || about.pbi_status == zombie) return std::nullopt;
  return about.pbi_start_tvsec * 1'000'000 + about.pbi_start_tvusec;
}

std::vector<pid_t> children_of(std::uint32_t pid) {
  for (std::size_t capacity = 64; capacity <= most_children; capacity *= 4) {
    std::vector<pid_t> all(capacity);
    const int count = proc_listchildpids(static_cast<pid_t>(pid), all.data(),
                                         static_cast<int>(capacity * sizeof(pid_t)));
    if (count < 0) return {};
    const auto found = static_cast<std::size_t>(count);
    if (found >= capacity) continue;
    all.resize(found);
    return all;
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> process_start(const Roots&, std::uint32_t pid) {
  return start_of(pid);
}

struct ProcessTree::State {
  void add(std::uint32_t pid);

  std::vector<Member> members;
};

void ProcessTree::State::add(std::uint32_t pid) {
  const bool is_in = std::any_of(members.begin(), members.end(),
                                 [pid](const Member& each) { return each.pid == pid; });
  if (is_in) return;
  if (const auto start = start_of(pid)) members.push_back({pid, *start});
}

ProcessTree::ProcessTree(const Roots&, std::uint32_t root_pid, bool)
    : state_(std::make_unique<State>()) {
  state_->add(root_pid);
}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& also) {
  auto& members = state_->members;
  std::erase_if(members, [](const Member& each) { return start_of(each.pid) != each.start; });
  for (const auto pid : also) state_->add(pid);
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const auto child : children_of(members[i].pid))
      if (child > 0) state_->add(static_cast<std::uint32_t>(child));
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::why_not() const {
  static const std::string none;
  return none;
}

}  // namespace hmn::cli
