// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/interruption.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include "cli/system/driver_exit.hpp"
#include "cli/system/thread.hpp"

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

struct interruption::state {
  void wait() noexcept;

  std::function<void()> stop;
  sigset_t before{};
  std::atomic<bool> over{false};
  std::thread waiter;
};

interruption::interruption(std::function<void()> stop) : state_(std::make_unique<state>()) {
  state_->stop = std::move(stop);
  const auto set = interrupting();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  state_->waiter = start_thread([to = state_.get()] { to->wait(); });
}

interruption::~interruption() {
  state_->over = true;
  pthread_kill(state_->waiter.native_handle(), SIGTERM);
  state_->waiter.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

void interruption::state::wait() noexcept {
  const auto set = interrupting();
  for (bool is_first = true;; is_first = false) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (over) return;
    // Exit at once: a write may be blocked.
    if (!is_first) end_now(128 + signal);
    stop();
  }
}

}  // namespace hmn::cli
