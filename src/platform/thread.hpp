// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// 0 or errno. The thread has every signal blocked and at least 512 KiB of stack; name is cut where
// the system's limit is (15 bytes on Linux) and need not outlive the call.
int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept;

// For its lifetime the calling thread cannot be cancelled; at its end errno is what it was.
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
