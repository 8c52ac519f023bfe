// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::procfs {

// Path of a file in a proc tree, without an allocation. A path that does not fit is empty, so that
// opening it fails.
class ProcPath {
 public:
  // `process`: "self", "thread-self", "123" or "123/task/456"; it and `file` may be empty.
  ProcPath(std::string_view root, std::string_view process, std::string_view file) noexcept;

  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  // Changes the file and returns the path.
  const char* set_file(std::string_view file) noexcept;

 private:
  void add(std::string_view part) noexcept;

  bool fits_ = true;
  std::size_t length_ = 0;
  std::size_t folder_ = 0;        // length without the file
  std::array<char, 4352> bytes_;  // PATH_MAX and the path below the root
};

// Pid as the name of its folder.
class PidName {
 public:
  explicit PidName(std::uint32_t pid) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }

 private:
  std::array<char, 10> bytes_;
  std::size_t length_;
};

// Returns none for 0 and for anything but a pid, such as the other names in /proc.
std::optional<std::uint32_t> parse_pid(std::string_view name) noexcept;

// Parses blank- or line-separated pids, as in a `children` or a cgroup.procs file.
std::vector<std::uint32_t> parse_pids(std::string_view text);

// Target of the link <proc>/<pid>/ns/pid for a process in the initial PID namespace:
// PROC_PID_INIT_INO, include/linux/proc_ns.h.
inline constexpr const char* initial_pid_namespace = "pid:[4026531836]";

// Tests the caller's namespace; true on a system without PID namespaces.
bool is_in_initial_pid_namespace(const std::string& proc_root);

// As initial_pid_namespace, of <proc>/<pid>/ns/user: PROC_USER_INIT_INO.
inline constexpr const char* initial_user_namespace = "user:[4026531837]";

// Numbers of include/uapi/linux/capability.h.
enum class Capability : unsigned { sys_ptrace = 19, sys_admin = 21, perfmon = 38 };

// Rights of the caller. In a user namespace of its own, capabilities have no effect outside of it.
struct Rights {
  std::optional<std::uint64_t> effective;  // none: unreadable
  bool is_in_user_namespace = false;

  // Returns whether it holds the capability for the whole system.
  [[nodiscard]] bool has(Capability capability) const noexcept {
    return !is_in_user_namespace &&
           (effective.value_or(0) >> static_cast<unsigned>(capability) & 1) != 0;
  }
};
Rights read_own_rights(const std::string& proc_root);

// Appends the folder's entries that are pids; returns 0 or errno.
int list_pids(const char* folder, std::vector<std::uint32_t>& pids);

// Explains why the pids of a proc tree are not those of the caller: the tree is of another PID
// namespace. Returns none if they are, for copied files that have a plain folder "self", and on
// systems without PID namespaces.
std::optional<std::string> explain_foreign_tree(const std::string& proc_root);

}  // namespace hmn::procfs
