// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/surroundings.hpp"

#include "cli/system/environment.hpp"
#include "cli/system/windows/control_events.hpp"

namespace hmn::cli {

surroundings standard_output_surroundings() {
  surroundings around;
  const auto output = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  around.is_terminal = GetConsoleMode(output, &mode) != 0;
  around.no_color = environment_value("NO_COLOR").value_or("");
  if (!around.is_terminal) return around;
  CONSOLE_SCREEN_BUFFER_INFO about{};
  if (GetConsoleScreenBufferInfo(output, &about) != 0 &&
      about.srWindow.Right >= about.srWindow.Left) {
    around.columns = static_cast<unsigned>(about.srWindow.Right - about.srWindow.Left + 1);
    around.lines = static_cast<unsigned>(about.srWindow.Bottom - about.srWindow.Top + 1);
  }
  // A console without sequences would show them as text; it is written to in UTF-16.
  around.term = takes_sequences(output, mode) ? "console" : "dumb";
  around.locale = "C.UTF-8";
  return around;
}

}  // namespace hmn::cli
