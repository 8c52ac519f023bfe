// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/errno_or.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::platform {

// What a child writes, read with a deadline: an anonymous pipe knows none.
class output_pipe {
 public:
  // 0 or errno.
  int open();
  [[nodiscard]] HANDLE to_parent() const noexcept { return to_parent_.get(); }
  void close_to_parent() noexcept { to_parent_.close(); }

  // 0: the output has ended. ETIMEDOUT at the deadline.
  errno_or<size_t> read(std::span<char> room, uint64_t deadline_ns) noexcept;

 private:
  handle from_child_;
  handle to_parent_;
  handle arrived_;
};

// Milliseconds to wait, none past the deadline; ever shorter than INFINITE.
DWORD wait_before(uint64_t deadline_ns) noexcept;

}  // namespace hmn::platform
