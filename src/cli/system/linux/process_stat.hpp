// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hmn::cli {

// Of a stat file of a process.
struct process_stat {
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t start = 0;  // clock ticks since the system was started
};
std::optional<process_stat> parse_process_stat(std::string_view text);
// Numbers that blanks separate, as a `children` or a cgroup.procs file has them.
std::vector<std::uint32_t> parse_pids(std::string_view text);

}  // namespace hmn::cli
