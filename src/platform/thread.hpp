// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Returns 0 or errno. The thread has every signal blocked and at least 512 KiB of stack; name is
// cut at the system's limit (15 bytes on Linux) and need not outlive the call.
int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept;

// Disables cancellation of the calling thread for its lifetime and restores errno at its end.
class no_cancel {
 public:
  no_cancel() noexcept;
  no_cancel(const no_cancel&) = delete;
  no_cancel& operator=(const no_cancel&) = delete;
  ~no_cancel();

 private:
  int errno_;
  int state_;
};

}  // namespace hmn::platform
