// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

namespace hmn::cli {

// Enables control sequences (Windows 10) and records the change; returns false if unsupported.
bool enable_sequences(HANDLE console, DWORD mode) noexcept;

// Restores the console mode at its end.
class ConsoleModeGuard {
 public:
  ConsoleModeGuard() = default;
  ConsoleModeGuard(const ConsoleModeGuard&) = delete;
  ConsoleModeGuard& operator=(const ConsoleModeGuard&) = delete;
  ~ConsoleModeGuard() { restore(); }

  static void restore() noexcept;
};

enum class ControlEvent {
  interrupt,  // Ctrl+C, Ctrl+Break
  close       // console closed, session ended, shutdown
};

// Handler for its lifetime: an event calls `callback`, in a thread of the system, instead of ending
// the program. Only one may exist at a time.
class ControlEvents {
 public:
  explicit ControlEvents(std::function<void(ControlEvent)> callback);
  ~ControlEvents();
  ControlEvents(const ControlEvents&) = delete;
  ControlEvents& operator=(const ControlEvents&) = delete;
};

// Ends the program after a second Ctrl+C: STATUS_CONTROL_C_EXIT.
[[noreturn]] void end_interrupted();

// Returns the time until then, rounded up and at most a minute, for a repeated wait.
inline DWORD milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now()).count();
  return static_cast<DWORD>(std::clamp<decltype(left)>(left, 0, 60'000));
}

// Returns true once the object is signalled, false at the given time.
inline bool wait_for(HANDLE object, std::chrono::steady_clock::time_point time) {
  for (;;) {
    const auto result = WaitForSingleObject(object, milliseconds_until(time));
    if (result != WAIT_TIMEOUT) return true;
    if (std::chrono::steady_clock::now() >= time) return false;
  }
}

}  // namespace hmn::cli
