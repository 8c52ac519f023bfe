// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/system/posix/signal_pipe.hpp"

namespace hmn::cli::top {

// Signal handlers for their lifetime: those that end the program restore the terminal first, the
// others are bytes in a pipe. Only one may exist at a time.
class Restoring {
 public:
  // `sequence` is what the terminal is sent to be as before; its modes are those at this call.
  explicit Restoring(const std::string& sequence);
  Restoring(const Restoring&) = delete;
  Restoring& operator=(const Restoring&) = delete;
  ~Restoring();

  // Returns the end of the pipe to read from: a byte for each signal, 0 for wake().
  int pipe_end() const { return pipe_.read_end(); }
  void wake() const;
  // Stops the program as the terminal's stop key does.
  void stop() const;

 private:
  SignalPipe pipe_;
};

// Keeps the terminal's descriptor, and its modes before anything changes them.
void keep_terminal(int output);

}  // namespace hmn::cli::top
