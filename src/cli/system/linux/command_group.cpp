// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "cli/system/file.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/mountinfo.hpp"
#include "procfs/pids.hpp"

namespace hmn::cli {
namespace {

bool has_word(std::string_view text, std::string_view wanted) {
  for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string_view::npos; ++at) {
    const auto end = at + wanted.size();
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '\n')) return true;
  }
  return false;
}

bool gives_memory(const std::string& folder) {
  return has_word(read_text_file(folder + "/cgroup.subtree_control").value_or(""), "memory");
}

// Returns whether the group has limits, which would not apply to the command in a sibling group.
bool has_limits(const std::string& folder) {
  for (const char* file : {"memory.max", "memory.high", "memory.swap.max", "pids.max"})
    if (!read_text_file(folder + "/" + file).value_or("max").starts_with("max")) return true;
  return !read_text_file(folder + "/cpu.max").value_or("max").starts_with("max");
}

// Returns whether it is a session's or a terminal's group in systemd's naming; the processes of a
// service must stay in its group, by which it is stopped.
bool is_scope(const std::string& folder) {
  return folder.ends_with(".scope");
}

std::string parent_of(const std::string& folder) {
  return folder.substr(0, folder.rfind('/'));
}

// Returns the location of the new group. A group with processes cannot delegate controllers to
// child groups, unless it is the root (cgroup v2, "no internal process"): then it is a sibling.
expected<std::string> place_near(const std::string& home, const std::string& mount) {
  if (gives_memory(home)) return home;
  const auto sibling = parent_of(home);
  if (home == mount || sibling.size() < mount.size() || !gives_memory(sibling))
    return failed(
        "the control group that hmn is in, and the one above it, give no memory controller to "
        "others");
  if (!is_scope(home))
    return failed(fmt::format("hmn is in \"{}\", which is no session of a user", home));
  if (has_limits(home))
    return failed(fmt::format("\"{}\" has limits that the command would escape", home));
  return sibling;
}

bool write_file(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return done;
}

bool move_to(const std::string& folder, std::uint32_t pid) {
  return write_file(folder + "/cgroup.procs", fmt::format("{}\n", pid));
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  return procfs::parse_cgroup_usage(read_text_file(path).value_or(""));
}

failure refusal(const std::string& path) {
  return failed(fmt::format("\"{}\": {}", path, std::strerror(errno)));
}

}  // namespace

struct command_group::state {
  state(std::string made, std::string of_hmn) : folder(std::move(made)), home(std::move(of_hmn)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();
  std::vector<std::uint32_t> processes() const;

  std::string folder;
  std::string home;  // group of hmn
};

std::vector<std::uint32_t> command_group::state::processes() const {
  return procfs::parse_pids(read_text_file(folder + "/cgroup.procs").value_or(""));
}

// Moves remaining processes back to the group of hmn. Without memory for their list they stay, and
// the group with them.
command_group::state::~state() {
  try {
    for (const auto pid : processes()) move_to(home, pid);
  } catch (const std::bad_alloc&) {
  }
  rmdir(folder.c_str());
}

const command_group::kind& command_group::what() {
  static constexpr kind is{"control group", "control_group",
                           "exact, with page cache and kernel memory"};
  return is;
}

// Makes a child or a sibling of hmn's group.
expected<command_group> command_group::make(const roots& in) {
  const auto groups = read_text_file(in.proc + "/self/cgroup").value_or("");
  const std::string path(procfs::parse_v2_membership(groups).path);
  const auto mount =
      in.cgroup.empty()
          ? procfs::find_cgroup_v2_mount(read_text_file(in.proc + "/self/mountinfo").value_or(""))
          : std::optional(in.cgroup);
  if (path.empty() || !mount) return failed("control groups of version 2 are not mounted");
  if (path.find("/..") != std::string::npos) return failed("hmn's control group is not visible");
  const auto home = path == "/" ? *mount : *mount + path;
  const auto above = place_near(home, *mount);
  if (!above) return above.why();
  for (const auto& each : {*above, home})
    if (access((each + "/cgroup.procs").c_str(), W_OK) != 0) return refusal(each + "/cgroup.procs");
  const auto folder = fmt::format("{}/hmn-run-{}", *above, getpid());
  if (mkdir(folder.c_str(), 0755) != 0) return refusal(folder);
  command_group made(std::make_unique<state>(folder, home));
  if (!made.peak_bytes()) return failed("the kernel keeps no memory.peak (Linux 5.19)");
  return made;
}

command_group::command_group(std::unique_ptr<state> made) : state_(std::move(made)) {}
command_group::command_group(command_group&& other) noexcept = default;
command_group::~command_group() = default;

// Moves hmn itself in and out, so that the command is created inside.
expected<child> command_group::start(const std::vector<std::string>& command,
                                     std::string& why_outside) const {
  const auto own = static_cast<std::uint32_t>(getpid());
  if (!move_to(state_->folder, own)) {
    why_outside = fmt::format("hmn may not enter it: {}", std::strerror(errno));
    return child::start(command);
  }
  auto started = child::start(command);
  move_to(state_->home, own);
  return started;
}

// Reads memory.peak, Linux 5.19: everything charged to the group, including page cache and kernel
// memory.
std::optional<std::uint64_t> command_group::peak_bytes() const {
  return number_in(state_->folder + "/memory.peak");
}

std::optional<std::uint64_t> command_group::current_bytes() const {
  return number_in(state_->folder + "/memory.current");
}

std::vector<std::uint32_t> command_group::processes() const {
  return state_->processes();
}

}  // namespace hmn::cli
