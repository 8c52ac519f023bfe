// SPDX-License-Identifier: MIT OR Apache-2.0
#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <thread>
#include <utility>

#include "cli/system/posix/signal_pipe.hpp"
#include "cli/system/waiting.hpp"

namespace hmn::cli {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t interrupting() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : ending) sigaddset(&set, each);
  struct sigaction now {};
  sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler == SIG_IGN) sigdelset(&set, SIGHUP);  // nohup
  return set;
}

int requested = -1;

void request(int) {
  const int error = errno;
  const char one = 1;
  [[maybe_unused]] const auto written = write(requested, &one, sizeof one);
  errno = error;
}

// Set after the only notice, regardless of the number of waits.
volatile std::sig_atomic_t was_printed = 0;

// Handles a timer signal. A thread would take a tenth of the time of `hmn --json`.
void print_notice(int) {
  if (was_printed != 0) return;
  was_printed = 1;
  const int kept = errno;
  for (const std::string_view each : {still_waiting, advice_in_notice, end_of_notice}) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, each.data(), each.size());
  }
  errno = kept;
}

struct sigaction before;  // the same for all instances

void set_timer(time_t seconds) noexcept {
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

}  // namespace

struct Interruption::State {
  void wait() noexcept;

  std::function<void()> stop;
  sigset_t before{};
  std::atomic<bool> over{false};
  std::thread waiter;
};

Interruption::Interruption(std::function<void()> stop) : state_(std::make_unique<State>()) {
  state_->stop = std::move(stop);
  const auto set = interrupting();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  state_->waiter = start_thread([to = state_.get()] { to->wait(); });
}

Interruption::~Interruption() {
  state_->over = true;
  pthread_kill(state_->waiter.native_handle(), SIGTERM);
  state_->waiter.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

void Interruption::State::wait() noexcept {
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

struct StopRequest::State {
  SignalPipe requests;
  struct sigaction before[3];
};

StopRequest::StopRequest() : state_(std::make_unique<State>()) {
  requested = state_->requests.write_end();
  struct sigaction how {};
  how.sa_handler = request;
  how.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int i = 0; i < 3; ++i) {
    sigaction(ending[i], nullptr, &state_->before[i]);
    if (state_->before[i].sa_handler != SIG_IGN) sigaction(ending[i], &how, nullptr);  // nohup
  }
}

StopRequest::~StopRequest() {
  for (int i = 0; i < 3; ++i) sigaction(ending[i], &state_->before[i], nullptr);
  requested = -1;
}

bool StopRequest::wait_until(Clock::time_point time) {
  for (;;) {
    pollfd waiting{state_->requests.read_end(), POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds_until(time));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && Clock::now() >= time) return false;
  }
}

WaitingNotice::WaitingNotice() noexcept {
  struct sigaction action {};
  action.sa_handler = print_notice;
  action.sa_flags = SA_RESTART;
  struct sigaction found {};
  sigaction(SIGALRM, &action, &found);
  if (found.sa_handler != print_notice) before = found;
  set_timer(1);
}

WaitingNotice::~WaitingNotice() {
  set_timer(0);
  // Restore for child processes first: with the default action a timer firing now would end hmn.
  if (before.sa_handler == SIG_IGN) sigaction(SIGALRM, &before, nullptr);
}

}  // namespace hmn::cli
