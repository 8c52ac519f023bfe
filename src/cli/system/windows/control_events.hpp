// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <functional>
#include <memory>

namespace hmn::cli {

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
