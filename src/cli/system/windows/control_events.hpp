// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <functional>
#include <memory>

namespace hmn::cli {

// Turns control sequences on (Windows 10) where they are off, and remembers that; false: it has
// none.
bool takes_sequences(HANDLE console, DWORD mode) noexcept;

// What hmn changed of its console is as before when this ends.
class kept_console_mode {
 public:
  kept_console_mode() = default;
  kept_console_mode(const kept_console_mode&) = delete;
  kept_console_mode& operator=(const kept_console_mode&) = delete;
  ~kept_console_mode() { restore(); }

  static void restore() noexcept;
};

enum class control_event {
  interrupt,  // Ctrl+C, Ctrl+Break
  close       // of the console, the end of the session, the shutdown
};

// While it lives, such an event calls `on`, on a thread of the system's, instead of ending the
// program. One at a time.
class control_events {
 public:
  explicit control_events(std::function<void(control_event)> on);
  ~control_events();
  control_events(const control_events&) = delete;
  control_events& operator=(const control_events&) = delete;
};

// The end of a program that a second Ctrl+C ends: STATUS_CONTROL_C_EXIT.
[[noreturn]] void end_interrupted();

}  // namespace hmn::cli
