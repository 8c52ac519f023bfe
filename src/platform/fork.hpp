// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn::platform {

// Never 0; constant within a process, and in a forked child different from every ancestor's. No
// system call after the first use.
uint64_t process_generation() noexcept;

}  // namespace hmn::platform
