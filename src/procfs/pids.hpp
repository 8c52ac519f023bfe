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

// A pid as the name of its folder.
class pid_name {
 public:
  explicit pid_name(std::uint32_t pid) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }

 private:
  std::array<char, 10> bytes_;
  std::size_t length_;
};

// Nothing for what is no pid, such as the other names in /proc, and for 0.
std::optional<std::uint32_t> parse_pid(std::string_view name) noexcept;

// Those between blanks and line ends, as in a `children` or a cgroup.procs file.
std::vector<std::uint32_t> parse_pids(std::string_view text);

// Where the link <proc>/<pid>/ns/pid of a process in the initial PID namespace leads to:
// PROC_PID_INIT_INO, include/linux/proc_ns.h.
inline constexpr std::string_view initial_pid_namespace = "pid:[4026531836]";

// Of the caller; true on a system without such namespaces.
bool is_in_initial_pid_namespace(const std::string& proc_root);

// Appends those of the folder's entries that are pids; 0 or errno.
int list_pids(const char* folder, std::vector<std::uint32_t>& out);

}  // namespace hmn::procfs
