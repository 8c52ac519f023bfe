// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sys/types.h>

#include "platform/posix/child.hpp"

namespace hmn::platform {

// Direct child, for systems without a supervisor and for kernels and emulators that refuse one: the
// host can reap it, which leaves its exit status unknown.
class spawned_child {
 public:
  spawned_child() noexcept = default;
  spawned_child(const spawned_child&) = delete;
  spawned_child& operator=(const spawned_child&) = delete;
  ~spawned_child();

  start_result start(const launch& what) noexcept;
  ended wait(uint64_t deadline_ns, exit_status& status) noexcept;
  void release() noexcept { child_ = 0; }

  static void collect() noexcept;

 private:
  pid_t child_ = 0;
};

}  // namespace hmn::platform
