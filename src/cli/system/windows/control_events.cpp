// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/control_events.hpp"

#include <windows.h>

#include <atomic>
#include <mutex>

namespace hmn::cli {
namespace {

constexpr DWORD sequences = 0x0004;  // ENABLE_VIRTUAL_TERMINAL_PROCESSING
std::atomic<HANDLE> changed{nullptr};

constexpr UINT control_c_exit = 0xC000013A;

std::mutex gate;
std::function<void(control_event)> called;

// Handles an event. Windows ends the program when the handler of a close event returns; if it does
// not return, other threads have the system's grace period (5 s for a console).
BOOL WINAPI take(DWORD event) {
  const bool interrupts = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  {
    const std::lock_guard<std::mutex> held(gate);
    if (!called) return FALSE;
    called(interrupts ? control_event::interrupt : control_event::close);
  }
  if (!interrupts) Sleep(INFINITE);
  return TRUE;
}

// Registers permanently: removal would wait for a close handler, which never returns.
void listen() {
  static const BOOL is_heard = SetConsoleCtrlHandler(take, TRUE);
  static_cast<void>(is_heard);
}

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

control_events::control_events(std::function<void(control_event)> on) {
  {
    const std::lock_guard<std::mutex> held(gate);
    called = std::move(on);
  }
  listen();
}

control_events::~control_events() {
  const std::lock_guard<std::mutex> held(gate);
  called = nullptr;
}

void end_interrupted() {
  kept_console_mode::restore();
  TerminateProcess(GetCurrentProcess(), control_c_exit);
  for (;;) Sleep(INFINITE);
}

}  // namespace hmn::cli
