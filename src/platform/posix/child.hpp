// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <spawn.h>

#include <cstdint>

namespace hmn::platform {

// Launch data, prepared before the child exists, as the child may not allocate.
struct launch {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;  // this and the next two are 3 or more
  int output = -1;
  int errors = -1;
  uint64_t deadline_ns = 0;
};

enum class started { running, failed, late, unavailable };

struct start_result {
  started what = started::unavailable;
  int error = 0;  // with failed
};

struct exit_status {
  bool known = false;
  int code = 0;
  int signal = 0;
};

enum class ended { exited, timed_out };

// Opens a reading and a writing end, both close-on-exec. Returns 0 or errno.
int open_pipe(int (&ends)[2]) noexcept;

// Returns 0, ETIMEDOUT or errno. UINT64_MAX: no deadline.
int await_readable(int from, uint64_t deadline_ns) noexcept;

// Closing of descriptors in the child that its file actions do not name.

// Returns a flag of the attributes, or 0.
short spawn_closing_flag() noexcept;

// Adds the last action. Returns 0 or an error.
int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept;

}  // namespace hmn::platform
