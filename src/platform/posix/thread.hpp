// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Takes at most 15 bytes.
void name_own_thread(const char* name) noexcept;

// Keeps this code loaded until the process ends, since a thread may be running it.
void stay_loaded() noexcept;

// Opens a descriptor to poll and one to write to, which may be the same: close-on-exec, neither
// blocks nor raises a signal. Returns 0 or errno.
int open_event(int (&ends)[2]) noexcept;

}  // namespace hmn::platform
