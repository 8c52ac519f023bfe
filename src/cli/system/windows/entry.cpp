// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/main.hpp"
#include "cli/system/windows/control_events.hpp"
#include "platform/windows/wide.hpp"

// Receives the arguments in UTF-16; main would receive them in a legacy code page.
int wmain(int argc, wchar_t** argv) {
  const hmn::cli::kept_console_mode kept;
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) arguments.push_back(hmn::platform::to_utf8(argv[i]));
  return hmn::cli::run_program(arguments);
}
