// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace hmn::cli {
namespace {

// Drivers are asked on other threads than the first one, as which a child that a driver forks
// begins.
bool is_of_driver() noexcept {
  return syscall(SYS_gettid) != syscall(SYS_getpid);
}

void hold_driver() {
  static std::atomic<bool> was_named{false};
  constexpr std::string_view notice =
      "hmn: a driver's library called exit(): that call is left unanswered\n";
  if (!is_of_driver()) return;
  if (!was_named.exchange(true)) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, notice.data(), notice.size());
  }
  outlive_driver_exits();  // a handler is called once, and another thread may be next
  for (;;) pause();
}

}  // namespace

void outlive_driver_exits() noexcept {
  std::atexit(hold_driver);
  std::at_quick_exit(hold_driver);
}

void end_now(int code) noexcept {
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace hmn::cli

// The C library's, which call no handler, are found after these by the libraries that drivers load.
extern "C" [[gnu::visibility("default")]] void _exit(int code) {
  hmn::cli::hold_driver();
  hmn::cli::end_now(code);
}

extern "C" [[gnu::visibility("default")]] void _Exit(int code) noexcept {
  _exit(code);
}
