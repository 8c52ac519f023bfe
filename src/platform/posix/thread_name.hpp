// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// At most 15 bytes.
void name_own_thread(const char* name) noexcept;

}  // namespace hmn::platform
