// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Takes at most 15 bytes.
void name_own_thread(const char* name) noexcept;

// Keeps this code loaded until the process ends, as a thread may be running it.
void stay_loaded() noexcept;

}  // namespace hmn::platform
