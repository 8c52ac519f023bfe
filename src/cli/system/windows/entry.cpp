// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string>
#include <vector>

#include "cli/commands/main.hpp"
#include "cli/system/windows/waiting.hpp"
#include "platform/windows/system.hpp"

// Receives the arguments in UTF-16; main would receive them in a legacy code page.
int wmain(int argc, wchar_t** argv) {
  const hmn::cli::ConsoleModeGuard guard;
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) arguments.push_back(hmn::platform::to_utf8(argv[i]));
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  return hmn::cli::run_program(argc, pointers.data());
}
