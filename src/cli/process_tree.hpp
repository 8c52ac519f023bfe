// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace hmn::cli {

// Of a stat file of a process.
struct process_stat {
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t start = 0;  // clock ticks since the system was started: tells a reused pid
};
std::optional<process_stat> parse_process_stat(std::string_view text);
// Numbers that blanks separate, as a `children` or a cgroup.procs file has them.
std::vector<std::uint32_t> parse_pids(std::string_view text);

// A process and those that descend from it. One that was seen stays until it ends, also when its
// parent has ended and another process took it over.
class process_tree {
 public:
  struct member {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;
  };

  process_tree(std::string proc_root, std::uint32_t root_pid);

  // Who is in it now. `also`: processes that are known to belong to it, of a control group.
  void refresh(const std::vector<std::uint32_t>& also = {});
  const std::vector<member>& members() const { return members_; }

 private:
  std::optional<process_stat> read(std::uint32_t pid) const;
  void drop_ended();
  void add(std::uint32_t pid);
  void add_children_of(std::uint32_t pid);
  void add_from_all();
  bool contains(std::uint32_t pid) const;

  std::string proc_root_;
  bool has_children_files_;
  std::vector<member> members_;
  // Without such files: those that were looked at and do not belong.
  std::unordered_set<std::uint32_t> strangers_;
  unsigned looks_ = 0;
};

}  // namespace hmn::cli
