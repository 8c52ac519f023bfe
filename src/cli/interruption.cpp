// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/interruption.hpp"

#include <pthread.h>
#include <unistd.h>

namespace hmn::cli {
namespace {

sigset_t interrupting() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

interruption::interruption(sampler& target) {
  const auto set = interrupting();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  waiter_ = std::thread([this, &target] { wait(target); });
}

interruption::~interruption() {
  over_ = true;
  pthread_kill(waiter_.native_handle(), SIGTERM);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void interruption::wait(sampler& target) noexcept {
  const auto set = interrupting();
  for (bool is_first = true;; is_first = false) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (over_) return;
    // Perhaps nobody reads what is being written.
    if (!is_first) _exit(128 + signal);
    target.stop();
  }
}

}  // namespace hmn::cli
