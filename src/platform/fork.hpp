// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn::platform {

// Returns a number that is never 0, constant within a process, and in a forked child different from
// those of all ancestors. Makes no system call after the first use.
uint64_t process_generation() noexcept;

}  // namespace hmn::platform
