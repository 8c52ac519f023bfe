// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn::platform {

// Reading end, writing end; both end at an exec. 0 or errno.
int open_pipe(int (&ends)[2]) noexcept;

// 0, or ETIMEDOUT, or errno. UINT64_MAX: no deadline.
int await_readable(int from, uint64_t deadline_ns) noexcept;

}  // namespace hmn::platform
