// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace hmn::cli {

// Pipe into which signal handlers write, and which a loop waits for. Its ends neither block nor are
// inherited by programs.
class SignalPipe {
 public:
  // Throws std::system_error.
  SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;
  ~SignalPipe();

  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }

 private:
  void close_ends();

  int ends_[2] = {-1, -1};
};

// Returns the time until then for poll(), rounded up and at most a minute, for a repeated wait.
inline int milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
}

}  // namespace hmn::cli
