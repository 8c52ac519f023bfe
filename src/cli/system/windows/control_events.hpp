// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <functional>
#include <memory>

namespace hmn::cli {

// Enables control sequences (Windows 10) and records the change; returns false if unsupported.
bool takes_sequences(HANDLE console, DWORD mode) noexcept;

// Restores the console mode at its end.
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
  close       // console closed, session ended, shutdown
};

// Handler for its lifetime: an event calls `on`, in a thread of the system, instead of ending the
// program. Only one may exist at a time.
class control_events {
 public:
  explicit control_events(std::function<void(control_event)> on);
  ~control_events();
  control_events(const control_events&) = delete;
  control_events& operator=(const control_events&) = delete;
};

// Ends the program after a second Ctrl+C: STATUS_CONTROL_C_EXIT.
[[noreturn]] void end_interrupted();

}  // namespace hmn::cli
