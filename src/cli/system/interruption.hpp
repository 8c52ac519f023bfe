// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <functional>
#include <memory>

namespace hmn::cli {

// While it lives, Ctrl-C or SIGTERM (Ctrl+Break on Windows) stops what is running instead of ending
// the program; a second one ends it.
class interruption {
 public:
  // Called on a thread of its own, once for each.
  explicit interruption(std::function<void()> stop);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli
