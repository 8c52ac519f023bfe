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

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t make_interrupt_set() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : stop_signals) sigaddset(&set, signal);
  struct sigaction action {};
  sigaction(SIGHUP, nullptr, &action);
  if (action.sa_handler == SIG_IGN) sigdelset(&set, SIGHUP);  // nohup
  return set;
}

int request_fd = -1;

void write_request(int) {
  const int error = errno;
  const char byte = 1;
  [[maybe_unused]] const auto written = write(request_fd, &byte, sizeof byte);
  errno = error;
}

// Set after the only notice, regardless of the number of waits.
volatile std::sig_atomic_t was_printed = 0;

// Handles a timer signal. A thread would take a tenth of the time of `hmn --json`.
void print_notice(int) {
  if (was_printed != 0) return;
  was_printed = 1;
  const int saved_errno = errno;
  for (const std::string_view part : {notice_start, notice_advice, notice_end}) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, part.data(), part.size());
  }
  errno = saved_errno;
}

struct sigaction before;  // the same for all instances

void set_timer(time_t seconds) noexcept {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

struct InterruptHandler::State {
  void wait() noexcept;

  std::function<void()> stop;
  sigset_t before{};
  std::atomic<bool> is_over{false};
  std::thread waiter;
};

InterruptHandler::InterruptHandler(std::function<void()> stop) : state_(std::make_unique<State>()) {
  state_->stop = std::move(stop);
  const auto set = make_interrupt_set();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  state_->waiter = start_thread([state = state_.get()] { state->wait(); });
}

InterruptHandler::~InterruptHandler() {
  state_->is_over = true;
  pthread_kill(state_->waiter.native_handle(), SIGTERM);
  state_->waiter.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

void InterruptHandler::State::wait() noexcept {
  const auto set = make_interrupt_set();
  for (bool is_first = true;; is_first = false) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (is_over) return;
    // Exit at once: a write may be blocked.
    if (!is_first) exit_now(128 + signal);
    stop();
  }
}

struct StopRequest::State {
  SignalPipe requests;
  struct sigaction before[3];
};

StopRequest::StopRequest() : state_(std::make_unique<State>()) {
  request_fd = state_->requests.write_end();
  struct sigaction action {};
  action.sa_handler = write_request;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int i = 0; i < 3; ++i) {
    sigaction(stop_signals[i], nullptr, &state_->before[i]);
    if (state_->before[i].sa_handler != SIG_IGN)
      sigaction(stop_signals[i], &action, nullptr);  // nohup
  }
}

StopRequest::~StopRequest() {
  for (int i = 0; i < 3; ++i) sigaction(stop_signals[i], &state_->before[i], nullptr);
  request_fd = -1;
}

bool StopRequest::wait_until(Clock::time_point time) {
  for (;;) {
    pollfd poll_entry{state_->requests.read_end(), POLLIN, 0};
    const int ready = poll(&poll_entry, 1, milliseconds_until(time));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && Clock::now() >= time) return false;
  }
}

WaitingNotice::WaitingNotice() noexcept {
  struct sigaction action {};
  action.sa_handler = print_notice;
  action.sa_flags = SA_RESTART;
  struct sigaction previous {};
  sigaction(SIGALRM, &action, &previous);
  if (previous.sa_handler != print_notice) before = previous;
  set_timer(1);
}

WaitingNotice::~WaitingNotice() {
  set_timer(0);
  // Restore for child processes first: with the default action a timer firing now would end hmn.
  if (before.sa_handler == SIG_IGN) sigaction(SIGALRM, &before, nullptr);
}

}  // namespace hmn::cli
