// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Keeps a driver's library that calls exit() from ending hmn without an answer: from now on such a
// call waits for ever, as one that hangs, and is named on standard error. Comes after what has a
// destructor at exit.
void outlive_driver_exits() noexcept;
// Ends hmn at once, from any thread.
[[noreturn]] void end_now(int code) noexcept;

}  // namespace hmn::cli
