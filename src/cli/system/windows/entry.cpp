// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/main.hpp"
#include "cli/system/windows/control_events.hpp"
#include "platform/windows/wide.hpp"

// The arguments as Windows has them; main would get them in an old code page.
int wmain(int argc, wchar_t** argv) {
  const hmn::cli::kept_console_mode kept;
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) arguments.push_back(hmn::platform::to_utf8(argv[i]));
  return hmn::cli::run_program(arguments);
}
