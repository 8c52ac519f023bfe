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

// Pid as the name of its folder.
class pid_name {
 public:
  explicit pid_name(std::uint32_t pid) noexcept;
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

// Appends the folder's entries that are pids; returns 0 or errno.
int list_pids(const char* folder, std::vector<std::uint32_t>& out);

}  // namespace hmn::procfs
