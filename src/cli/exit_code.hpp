// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// docs/exit-codes.md. What runs a command also gives that command's own code, or 128 + N.
enum class exit_code : int {
  done = 0,
  failed = 1,
  usage = 2,
  tight = 3,  // of what fits in part
  does_not_fit = 4,
  timed_out = 124,
  wrapper_failed = 125,  // hmn itself, beside the command
  not_runnable = 126,
  not_found = 127,
  killed = 128  // + N
};

}  // namespace hmn::cli
