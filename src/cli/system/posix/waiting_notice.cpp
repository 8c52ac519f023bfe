// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting_notice.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace hmn::cli {
namespace {

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

waiting_notice::waiting_notice() noexcept {
  struct sigaction action {};
  action.sa_handler = print_notice;
  action.sa_flags = SA_RESTART;
  struct sigaction found {};
  sigaction(SIGALRM, &action, &found);
  if (found.sa_handler != print_notice) before = found;
  set_timer(1);
}

waiting_notice::~waiting_notice() {
  set_timer(0);
  // Restore for child processes first: with the default action a timer firing now would end hmn.
  if (before.sa_handler == SIG_IGN) sigaction(SIGALRM, &before, nullptr);
}

}  // namespace hmn::cli
