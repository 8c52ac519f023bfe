// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/control_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "cli/group_files.hpp"
#include "cli/process_tree.hpp"

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

// Beside such a group nothing of it would hold for the command.
bool has_limits(const std::string& folder) {
  for (const char* file : {"memory.max", "memory.high", "memory.swap.max", "pids.max"})
    if (!read_text_file(folder + "/" + file).value_or("max").starts_with("max")) return true;
  return !read_text_file(folder + "/cpu.max").value_or("max").starts_with("max");
}

// A session's or a terminal's, as systemd names them; the processes of a service must stay in its
// group, by which it is stopped.
bool is_scope(const std::string& folder) {
  return folder.ends_with(".scope");
}

std::string parent_of(const std::string& folder) {
  return folder.substr(0, folder.rfind('/'));
}

// A group that has processes cannot give controllers to groups below it, unless it is the root
// (cgroup v2, "no internal process"): then the place is beside it.
expected<std::string> place_near(const std::string& home, const std::string& mount) {
  if (gives_memory(home)) return home;
  const auto beside = parent_of(home);
  if (home == mount || beside.size() < mount.size() || !gives_memory(beside))
    return failed(
        "the control group that hmn is in, and the one above it, give no memory controller to "
        "others");
  if (!is_scope(home))
    return failed(fmt::format("hmn is in \"{}\", which is no session of a user", home));
  if (has_limits(home))
    return failed(fmt::format("\"{}\" has limits that the command would escape", home));
  return beside;
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
  const auto text = read_text_file(path);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

failure refusal(const std::string& path) {
  return failed(fmt::format("\"{}\": {}", path, std::strerror(errno)));
}

}  // namespace

expected<control_group> control_group::make(const roots& in) {
  const auto path = parse_group_path(read_text_file(in.proc + "/self/cgroup").value_or(""));
  const auto mount =
      in.cgroup.empty()
          ? parse_group_mount(read_text_file(in.proc + "/self/mountinfo").value_or(""))
          : std::optional(in.cgroup);
  if (!path || !mount) return failed("control groups of version 2 are not mounted");
  if (path->find("/..") != std::string::npos) return failed("hmn's control group is out of sight");
  const auto home = *path == "/" ? *mount : *mount + *path;
  const auto above = place_near(home, *mount);
  if (!above) return above.why();
  for (const auto& each : {*above, home})
    if (access((each + "/cgroup.procs").c_str(), W_OK) != 0) return refusal(each + "/cgroup.procs");
  const auto folder = fmt::format("{}/hmn-run-{}", *above, getpid());
  if (mkdir(folder.c_str(), 0755) != 0) return refusal(folder);
  control_group made(folder, home);
  if (!made.peak_bytes()) return failed("the kernel keeps no memory.peak (Linux 5.19)");
  return made;
}

control_group::control_group(control_group&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), home_(std::exchange(other.home_, {})) {}

control_group::~control_group() {
  if (folder_.empty()) return;
  for (const auto pid : processes()) move_to(home_, pid);
  rmdir(folder_.c_str());
}

bool control_group::enter() const {
  return move_to(folder_, static_cast<std::uint32_t>(getpid()));
}

void control_group::leave() const {
  move_to(home_, static_cast<std::uint32_t>(getpid()));
}

std::optional<std::uint64_t> control_group::peak_bytes() const {
  return number_in(folder_ + "/memory.peak");
}

std::optional<std::uint64_t> control_group::current_bytes() const {
  return number_in(folder_ + "/memory.current");
}

std::vector<std::uint32_t> control_group::processes() const {
  return parse_pids(read_text_file(folder_ + "/cgroup.procs").value_or(""));
}

}  // namespace hmn::cli
