// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <atomic>
#include <csignal>
#include <thread>

#include "cli/sampler.hpp"

namespace hmn::cli {

// While it lives, Ctrl-C or SIGTERM stops a sampler instead of ending the program; a second one
// ends it.
class interruption {
 public:
  explicit interruption(sampler& target);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  void wait(sampler& target) noexcept;

  sigset_t before_{};
  std::atomic<bool> over_{false};
  std::thread waiter_;
};

}  // namespace hmn::cli
