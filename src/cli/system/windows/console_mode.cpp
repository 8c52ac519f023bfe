// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/console_mode.hpp"

#include <atomic>

namespace hmn::cli {
namespace {

constexpr DWORD sequences = 0x0004;  // ENABLE_VIRTUAL_TERMINAL_PROCESSING
std::atomic<HANDLE> changed{nullptr};

}  // namespace

bool takes_sequences(HANDLE console, DWORD mode) noexcept {
  if ((mode & sequences) != 0) return true;
  if (SetConsoleMode(console, mode | sequences) == 0) return false;
  changed = console;
  return true;
}

void kept_console_mode::restore() noexcept {
  const auto console = changed.exchange(nullptr);
  DWORD mode = 0;
  if (console != nullptr && GetConsoleMode(console, &mode) != 0)
    SetConsoleMode(console, mode & ~sequences);
}

}  // namespace hmn::cli
