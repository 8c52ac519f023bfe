// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdlib>

#include "cli/commands/main.hpp"
#include "cli/system/waiting.hpp"
#include "platform/sanitizer.hpp"

// Skips the exit handlers of the loader and of libraries: a driver's may wait for a lock that a
// hung call holds. Nothing is buffered. Sanitizers report in these handlers.
int main(int argc, char** argv) {
  const int code = hmn::cli::run_program(argc, argv);
  if (hmn::platform::is_address_sanitized || hmn::platform::is_thread_sanitized) return code;
  hmn::cli::exit_now(code);
}
