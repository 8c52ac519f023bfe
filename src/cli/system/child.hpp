// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

// What a command used, once it has ended.
struct resource_use {
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  // Of the largest of the processes that it counts; nothing: the system did not tell.
  std::optional<std::uint64_t> largest_bytes;
  // Only as it was when it was last asked, before the end.
  bool is_sampled = false;
  // The command begins as a copy of hmn, which may be what largest_bytes counts.
  bool may_count_us = false;
  const char* counted = "";  // "of the command and what it waited for"
};

// A command that runs under hmn: searched for along PATH, with our standard input, output and
// error, in our process group and with the signals as hmn found them. While it runs, what asks a
// program to end or to do something else (INT, QUIT, TERM, HUP, USR1, USR2; Ctrl+C, Ctrl+Break)
// does not end hmn. Signals that a process sends us are passed on; those of the terminal reach the
// command without us.
class child {
 public:
  using clock = std::chrono::steady_clock;

  // What cannot be started is exit_code 127 (not found) or 126.
  static expected<child> start(const std::vector<std::string>& command);
  // The command in the place of hmn: returns only why that could not be, or, where a system has no
  // such thing, how the command ended.
  static expected<exit_code> run_in_our_place(const std::vector<std::string>& command);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  // Returns as soon as it has ended (true), or at that time (false).
  bool wait_until(clock::time_point time);
  bool wait();

  std::uint32_t pid() const;
  // Once it has ended: its own, or 128 + N when signal N ended it.
  exit_code status() const;
  // Of the signal that ended it, "SIGKILL"; empty: it ended by itself, or the system has none.
  const std::string& signal() const;
  const resource_use& use() const;

  struct running;  // each system's own
  explicit child(std::unique_ptr<running> started);

 private:
  std::unique_ptr<running> running_;
};

}  // namespace hmn::cli
