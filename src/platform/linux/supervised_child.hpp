// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "platform/posix/child.hpp"

namespace hmn::platform {

struct supervision;

// Program run as the child of a child. execve resets a process's termination signal to SIGCHLD, so
// a program run as our own child would appear in the host's SIGCHLD handler and wait loops. Its
// parent is therefore a supervisor: a process in our memory that executes nothing, keeps
// termination signal 0, and so is visible only to waits with __WCLONE or __WALL.
class supervised_child {
 public:
  supervised_child() noexcept = default;
  supervised_child(const supervised_child&) = delete;
  supervised_child& operator=(const supervised_child&) = delete;
  ~supervised_child();

  start_result start(const launch& what) noexcept;
  ended wait(uint64_t deadline_ns, exit_status& status) noexcept;
  void release() noexcept;  // the group survives; otherwise the destructor kills it

  static void collect() noexcept;  // reaps what earlier calls could not wait for

 private:
  void finish(uint32_t order) noexcept;

  supervision* shared_ = nullptr;
};

}  // namespace hmn::platform
