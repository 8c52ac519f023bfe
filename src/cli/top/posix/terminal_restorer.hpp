// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/system/posix/signal_pipe.hpp"

namespace hmn::cli::top {

// Handles signals while it exists: those that end the program restore the terminal first, the
// others become bytes in a pipe. Only one may exist at a time.
class TerminalRestorer {
 public:
  // `sequence` resets the terminal; its modes are those saved by save_terminal().
  explicit TerminalRestorer(const std::string& sequence);
  TerminalRestorer(const TerminalRestorer&) = delete;
  TerminalRestorer& operator=(const TerminalRestorer&) = delete;
  ~TerminalRestorer();

  // Returns the end of the pipe to read from: a byte for each signal, 0 for wake().
  int signal_descriptor() const { return pipe_.read_end(); }
  void wake() const;
  // Stops the program as the terminal's stop key does.
  void stop_program() const;

 private:
  SignalPipe pipe_;
};

// Saves the terminal's descriptor, and its modes before anything changes them.
void save_terminal(int output);

}  // namespace hmn::cli::top
