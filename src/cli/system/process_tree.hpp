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
std::optional<std::uint64_t> read_process_start(const Roots& roots, std::uint32_t pid);

// Process and its descendants. A known one stays until it ends, even after its parent has ended and
// another process adopted it. Where hmn adopts the orphans among them, none is missed: all
// children of hmn count, except those that the library started for itself.
class ProcessTree {
 public:
  struct Member {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // read_process_start
  };

  ProcessTree(const Roots& roots, std::uint32_t root_pid, bool adopts_orphans = false);
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;
  ~ProcessTree();

  // Updates the members. `extra_pids`: processes of the command that its group lists.
  void refresh(const std::vector<std::uint32_t>& extra_pids = {});
  const std::vector<Member>& members() const;
  // Returns why the last refresh could not find the processes; empty: it did.
  const std::string& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hmn::cli
