// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// At most 15 bytes.
void name_own_thread(const char* name) noexcept;

// From now on this code stays loaded until the process ends: a thread may be running it.
void stay_loaded() noexcept;

}  // namespace hmn::platform
