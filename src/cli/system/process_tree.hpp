// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/system/roots.hpp"

namespace hmn::cli {

// When it was started, in the system's own unit: tells a reused pid. Nothing once it has ended, or
// where hmn may not ask.
std::optional<std::uint64_t> process_start(const roots& in, std::uint32_t pid);

// A process and those that descend from it. One that was seen stays until it ends, also when its
// parent has ended and another process took it over.
class process_tree {
 public:
  struct member {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // process_start
  };

  process_tree(const roots& in, std::uint32_t root_pid);
  process_tree(const process_tree&) = delete;
  process_tree& operator=(const process_tree&) = delete;
  ~process_tree();

  // Who is in it now. `also`: processes that are known to belong to it, of a group.
  void refresh(const std::vector<std::uint32_t>& also = {});
  const std::vector<member>& members() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli
