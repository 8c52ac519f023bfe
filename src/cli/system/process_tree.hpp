// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/system/environment.hpp"
#include "platform/process.hpp"

namespace hmn::cli {

using platform::has_started_by;

// Returns the start time in the system's own unit, which identifies a reused pid. Returns none for
// a process that has ended or is not accessible.
std::optional<std::uint64_t> process_start(const Roots& in, std::uint32_t pid);

// Process and its descendants. A known one stays until it ends, even after its parent has ended and
// another process adopted it. Where hmn adopts the orphans among them, none is out of sight: all
// children of hmn count, except those that the library started for itself.
class ProcessTree {
 public:
  struct Member {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // process_start
  };

  ProcessTree(const Roots& in, std::uint32_t root_pid, bool adopts_orphans = false);
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;
  ~ProcessTree();

  // Updates the members. `also`: processes that are known to belong, from a group.
  void refresh(const std::vector<std::uint32_t>& also = {});
  const std::vector<Member>& members() const;
  // Returns why the processes could not be found at the last refresh; empty: they were.
  const std::string& why_not() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hmn::cli
