// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <windows.h>

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

}  // namespace hmn::cli
