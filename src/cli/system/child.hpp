// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/environment.hpp"

namespace hmn::cli {

// Resource use of a command that has ended.
struct ResourceUse {
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  // Peak of the largest process counted; none if the system did not report it.
  std::optional<std::uint64_t> largest_bytes;
  // Sampled last before the end, not at the end.
  bool is_sampled = false;
  // The command begins as a copy of hmn, whose size largest_bytes may include.
  bool may_include_hmn = false;
  const char* scope = "";  // "of the command and what it waited for"
  // Peak of the largest adopted orphan that has ended; none: there was none.
  std::optional<std::uint64_t> largest_orphan_bytes;
};

// Makes hmn the parent of the command's orphans from now on, so that none goes unnoticed;
// child waits for them. Returns whether none can leave unseen: false where the system has no
// such feature, or refuses it.
bool adopt_orphans() noexcept;

// End of a command.
struct ProcessEnd {
  // Exit code, or 128 + N if signal N ended it; wrapper_failed if the system does not report it.
  ExitCode status = ExitCode::wrapper_failed;
  std::string signal;       // that ended it, "SIGKILL"; empty: none, or the system has none
  std::string lost_reason;  // why the status is unknown; empty: it is known
  ResourceUse use;
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

// Command run under hmn: searched for along PATH, with our standard streams, our process group, and
// the signal dispositions that hmn inherited. While it runs, signals that would end hmn (INT, TERM,
// USR1, XCPU; Ctrl+Break) do not: they are forwarded, except that those of the terminal reach
// the command directly; on Linux at once, whatever hmn does. KILL, and a fault of hmn itself, end
// it.
class Child {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns the failure of a start() that finds no runnable program, with exit code 127 or 126;
  // none where only starting it can show.
  static std::optional<Failure> check_program(const std::string& program);
  // Fails with exit code 127 (not found) or 126 for a command that cannot be started.
  static Expected<Child> start(const std::vector<std::string>& command);
  // Replaces hmn by the command: returns only on failure, or, on systems without exec, with the
  // command's exit code.
  static Expected<ExitCode> exec_command(const std::vector<std::string>& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Waits for the command to end: hmn may fail while it runs.
  ~Child();

  // Returns true as soon as it has ended, or false at the given time.
  bool wait_until(Clock::time_point time);
  bool wait();

  // Returns whether adopted orphans may be running, by the system's account of hmn's children.
  bool has_orphans();

  std::uint32_t pid() const;
  // Only after wait, or a wait_until that returned true.
  const ProcessEnd& end() const;

  struct State;  // system-specific
  explicit Child(std::unique_ptr<State> state);

 private:
  void wait_for_end() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace hmn::cli
