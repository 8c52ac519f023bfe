// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hmn::platform {

struct Command {
  std::string path;                    // absolute
  std::vector<std::string> arguments;  // without the program name
  uint64_t deadline_ns = 0;            // absolute, monotonic; UINT64_MAX: none
  size_t output_cap = 0;               // bytes
  bool include_stderr = false;         // stderr is part of the output
  // Ends the program as its deadline does, within `cancel_check_ns`. Null: never.
  const std::atomic<bool>* is_cancelled = nullptr;
};
constexpr uint64_t cancel_check_ns = 20'000'000;

struct Outcome {
  enum class Kind { finished, not_found, not_runnable, timed_out, output_too_long };

  Kind kind = Kind::not_runnable;
  bool was_cancelled = false;    // with timed_out: before the deadline
  int error = 0;                 // native, with not_found and not_runnable
  bool has_exit_status = false;  // also false when the host program took the child's status
  int exit_code = 0;             // meaningful with has_exit_status, if signal is 0
  int signal = 0;                // that ended it, with has_exit_status; 0: none
  std::string output;            // complete when finished, else partial (at most output_cap)
};

// Runs a program with stdin and (if not requested) stderr on the null device, in its own process
// group, with a fixed environment and no other descriptor of ours. Finishes when the program has
// exited and its output has ended in all processes that hold it. Kills the whole group at the
// deadline, the cap or a cancel. Where the kernel allows it, the host program's children, SIGCHLD
// disposition and wait loops are neither used nor disturbed.
Outcome run(const Command& command);

}  // namespace hmn::platform
