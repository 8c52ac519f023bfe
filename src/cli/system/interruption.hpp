// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <functional>
#include <memory>

namespace hmn::cli {

// Handler of Ctrl-C and SIGTERM (Ctrl+Break on Windows) for its lifetime: the first one stops the
// current work instead of ending the program, a second one ends the program.
class interruption {
 public:
  // Calls `stop` in a separate thread, once for each.
  explicit interruption(std::function<void()> stop);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli
