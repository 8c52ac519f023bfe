// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

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

}  // namespace hmn::platform
