// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting_notice.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace hmn::cli {
namespace {

// One notice in all, however many waits there are.
volatile std::sig_atomic_t was_told = 0;

// A timer signal and not a thread: a thread would cost a tenth of what all of `hmn --json` takes.
void tell(int) {
  if (was_told != 0) return;
  was_told = 1;
  const int kept = errno;
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, still_waiting.data(), still_waiting.size());
  errno = kept;
}

struct sigaction before;  // any of them

void set_timer(time_t seconds) noexcept {
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

}  // namespace

waiting_notice::waiting_notice() noexcept {
  struct sigaction action {};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  struct sigaction found {};
  sigaction(SIGALRM, &action, &found);
  if (found.sa_handler != tell) before = found;
  set_timer(1);
}

waiting_notice::~waiting_notice() {
  set_timer(0);
  // For what hmn starts. With the default one a timer that fires just now would end hmn.
  if (before.sa_handler == SIG_IGN) sigaction(SIGALRM, &before, nullptr);
}

}  // namespace hmn::cli
