// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace hmn::cli {
namespace {

// Drivers are called on threads other than the first one. A child that a driver forks begins
// as the first.
bool is_driver_thread() noexcept {
  return syscall(SYS_gettid) != syscall(SYS_getpid);
}

void block_driver_thread() {
  static std::atomic<bool> was_reported{false};
  constexpr std::string_view notice =
      "hmn: a driver's library called exit(): that call is left unanswered\n";
  if (!is_driver_thread()) return;
  if (!was_reported.exchange(true)) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, notice.data(), notice.size());
  }
  block_driver_exits();  // a handler is called once, and another thread may be next
  for (;;) pause();
}

}  // namespace

void block_driver_exits() noexcept {
  std::atexit(block_driver_thread);
  std::at_quick_exit(block_driver_thread);
}

void exit_now(int code) noexcept {
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace hmn::cli

// These precede the C library's, which call no handler, for the libraries that drivers load.
extern "C" [[gnu::visibility("default")]] void _exit(int code) {
  hmn::cli::block_driver_thread();
  hmn::cli::exit_now(code);
}

extern "C" [[gnu::visibility("default")]] void _Exit(int code) noexcept {
  _exit(code);
}
