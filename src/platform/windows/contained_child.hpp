// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "platform/subprocess.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::platform {

// Program in a job of its own, with its descendants: the destructor kills them all unless released.
class contained_child {
 public:
  contained_child() noexcept = default;
  contained_child(const contained_child&) = delete;
  contained_child& operator=(const contained_child&) = delete;
  ~contained_child();

  // Returns 0 or a number of GetLastError. Only the three handles are inherited.
  unsigned long start(const command& what, HANDLE input, HANDLE output, HANDLE errors);
  // Returns false at the deadline.
  bool wait(uint64_t deadline_ns) noexcept;
  [[nodiscard]] bool exit_code(int& out) const noexcept;
  void release() noexcept;

 private:
  handle job_;
  handle process_;
};

}  // namespace hmn::platform
