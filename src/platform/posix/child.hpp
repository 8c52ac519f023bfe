// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <spawn.h>

#include <cstdint>

namespace hmn::platform {

// Everything prepared before the child exists: it may call nothing that allocates.
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

// Reading end, writing end; both end at an exec. 0 or errno.
int open_pipe(int (&ends)[2]) noexcept;

// 0, or ETIMEDOUT, or errno. UINT64_MAX: no deadline.
int await_readable(int from, uint64_t deadline_ns) noexcept;

// How a child is kept from the descriptors that its file actions do not name.

// A flag of the attributes, or 0.
short spawn_closing_flag() noexcept;

// After the last other action. 0 or an error.
int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept;

}  // namespace hmn::platform
