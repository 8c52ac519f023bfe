// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

// A command that runs under hmn: searched for along PATH, with our standard input, output and
// error, in our process group and with the signals as hmn found them. While it runs, INT, QUIT,
// TERM and HUP do not end hmn. Those that a process sends us are passed on; those of the terminal
// reach the command without us.
class child {
 public:
  using clock = std::chrono::steady_clock;

  // What cannot be started is exit_code 127 (not found) or 126.
  static expected<child> start(const std::vector<std::string>& command);
  // The command in the place of hmn; returns only why that could not be.
  static failure replace_us(const std::vector<std::string>& command);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  // Returns as soon as it has ended (true), or at that time (false).
  bool wait_until(clock::time_point time);
  bool wait();

  pid_t pid() const { return pid_; }
  // Once it has ended: its own from 0 to 255, or 128 + N when signal N ended it.
  exit_code status() const { return status_; }
  // Of it and of the descendants that it has waited for.
  const rusage& use() const { return use_; }

 private:
  child() = default;
  bool take_signals();
  bool reap();

  sigset_t before_{};
  int signals_ = -1;
  pid_t pid_ = -1;
  bool has_ended_ = false;
  exit_code status_ = exit_code::done;
  rusage use_{};
};

}  // namespace hmn::cli
