// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "cli/commands/main.hpp"
#include "platform/sanitizer.hpp"

// Ends without the ends of the loader and of the libraries, 2 % of the time of `hmn --json`:
// nothing is buffered, and a call that hangs is left alone. Sanitizers report at those.
int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // A heap for each thread would be 128 MiB of addresses; they have little to do at the same time.
  mallopt(M_ARENA_MAX, 1);
#endif
  const int code = hmn::cli::run_program(argc, argv);
  if (hmn::platform::is_address_sanitized || hmn::platform::is_thread_sanitized) return code;
  _exit(code);
}
