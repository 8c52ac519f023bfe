// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/errno_or.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::platform {

// Output of a child, read with a deadline, which an anonymous pipe does not support.
class output_pipe {
 public:
  // Returns 0 or errno.
  int open();
  [[nodiscard]] HANDLE to_parent() const noexcept { return to_parent_.get(); }
  void close_to_parent() noexcept { to_parent_.close(); }

  // Returns 0 at the end of the output, ETIMEDOUT at the deadline.
  errno_or<size_t> read(std::span<char> buffer, uint64_t deadline_ns) noexcept;

 private:
  handle from_child_;
  handle to_parent_;
  handle arrived_;
};

// Returns the milliseconds to wait until the deadline; always less than INFINITE.
DWORD wait_before(uint64_t deadline_ns) noexcept;

}  // namespace hmn::platform
